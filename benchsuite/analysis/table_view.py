"""A table with published and measured numbers: pages, data frames and all file formats are made from it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Self

from benchsuite.analysis.pairing import unpairable
from benchsuite.analysis.premises import PremiseFinding, findings
from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.stats import Rank, Ranking, ranking
from benchsuite.grouping import by_key
from benchsuite.papers import Column, Table
from benchsuite.papers.claim import Claim, claims_of
from benchsuite.papers.schema import RowKey, row_name
from benchsuite.planning.columns import NO_CLASSES, measured_columns, metrics_of
from benchsuite.planning.recipe import Backbone, Primary, Recipe
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.registry import tasks
from benchsuite.setup import Setup
from benchsuite.tower_settings import TIMM


@dataclass(frozen=True)
class Setting:
    """A table's recipe at a scale, and by column key what is measured, what stands for its data, and why nothing is."""

    name: str
    """The recipe's."""
    recipe: Recipe
    measures: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    means: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Of columns that are means of others, the keys of those."""
    models: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The pretrained models of the image towers that each backbone's runs trained."""

    @classmethod
    def of(cls, table: Table, name: str, recipe: Recipe, runs: Mapping[str, Sequence[Record]]) -> Self:
        """That of a table with these records of each backbone: what data do not allow to measure, it does not have."""
        columns = measured_columns(table, recipe, dict(_lacking(recipe, [*chain(*runs.values())])))
        models = {
            name: dict.fromkeys(one.setup.image.model for one in own if one.setup.image) for name, own in runs.items()
        }
        return cls(name, recipe, columns.measures, columns.stand_ins, columns.missing, columns.means, models)

    @property
    def primary(self) -> Mapping[str, Primary]:
        """By protocol: its primary metric and the smallest difference of interest."""
        return self.recipe.primary

    @property
    def backbones(self) -> Mapping[str, str]:
        """What replaces each of the paper's backbones, in words; a model of `--model` in place of the recipe's."""
        return {name: _with_model(one, self.models.get(name, ())) for name, one in self.recipe.backbones.items()}


def _name_in(description: str) -> str:
    """What a backbone's description calls it: up to the first colon or comma before a blank."""
    return re.split("[:,] ", description, maxsplit=1)[0]


def _with_model(backbone: Backbone, models: Iterable[str]) -> str:
    tower, what = backbone.tower, backbone.description
    if not tower or not tower.model:
        return what
    known = {tower.model, f"{tower.library}:{Path(tower.model.partition(':')[2]).name}"}
    given = [model for model in models if model and (tower.library == TIMM) == model.startswith(f"{TIMM}:")]
    return what if not given or known & {*given} else given[0] + what.removeprefix(_name_in(what))


def _lacking(recipe: Recipe, records: list[Record]) -> Iterator[tuple[str, str]]:
    """Protocols and numbers for data with classes that no record has, with the reason."""
    for name, protocol in recipe.with_classes.items() if records else ():
        results = [record.results[name] for record in records if name in record.results]
        if not results:
            yield name, NO_CLASSES
        elif protocol.task in tasks:
            there = {metric for result in results for metric in (*result.metrics, *result.measures)}
            few = "the data has too few classes for it"
            yield from ((f"{name}.{metric}", few) for metric in metrics_of(protocol.task) if metric not in there)


@dataclass(frozen=True, eq=False)
class TableView:
    """A table at a scale."""

    table: Table
    asked: TableRequest
    setting: Setting
    rows: Sequence[TableRow]
    siblings: Sequence[Table] = ()
    """The paper's other tables that have this scale: the headline claims of all are one family."""
    outdated: Sequence[str] = ()
    """Where what was asked for is no longer what the files of table and recipe say."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What the people of the folder say of verdicts, by the claim's name."""
    beside: list["TableView"] = field(default_factory=list)
    """Those of its siblings that were run at this scale and in this regime."""

    @cached_property
    def claims(self) -> list[Claim]:
        return claims_of(self.table)

    @cached_property
    def premises(self) -> list[PremiseFinding]:
        return findings(self.table, self.claims, self.asked.scale, self.rows)

    @property
    def on_stand_ins(self) -> str:
        """Whether columns were measured on other data than the paper's, as headings say it."""
        if not self.setting.stand_ins:
            return ""
        whole = self.setting.stand_ins.keys() >= self.setting.measures.keys()
        return "on stand-ins" if whole else "partly on stand-ins"

    @property
    def columns(self) -> Sequence[Column]:
        return self.table.columns

    def row(self, key: RowKey) -> TableRow | None:
        """None where it was not asked for."""
        return next((row for row in self.rows if row.key == key), None)

    def cell(self, key: RowKey, column: str) -> Cell | None:
        """By the key of a row and that of a column; None where the row is not there."""
        row = self.row(key)
        return next(cell for cell in row.cells if cell.column.key == column) if row else None

    @property
    def has_published(self) -> bool:
        """Whether a paper printed any of its numbers."""
        return any(cell.source for row in self.rows for cell in row.cells)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Column groups with their widths, in order."""
        return grouped(self.columns)

    @property
    def backbones(self) -> dict[str, list[TableRow]]:
        return {name: list(rows) for name, rows in groupby(self.rows, lambda row: row.backbone)}

    def tower(self, backbone: str) -> str:
        """A backbone as readers know it: by the paper's name, or in a table of one's own by what it is here."""
        return backbone if self._is_printed else self.stand_in(backbone)

    def stand_in(self, backbone: str) -> str:
        """What it is here, in a few words."""
        return _name_in(self.setting.backbones.get(backbone, backbone))

    def tower_here(self, backbone: str) -> str:
        """What it is here, in whole; of a paper's also its name there."""
        known = self.setting.backbones.get(backbone, "not mapped")
        return f"{backbone}, here {known}" if self._is_printed else known

    @property
    def _is_printed(self) -> bool:
        return any(row.published for row in self.table.rows)

    @property
    def variants(self) -> dict[str, str]:
        """What each variant of its rows and parts changes, in words."""
        used = {row.variant for row in self.rows} | {part.variant for part in self.table.all_parts.values()}
        return {name: one.description for name, one in self.setting.recipe.variants.items() if name in used}

    @property
    def stand_ins(self) -> dict[str, str]:
        """What stands for each group of columns at this scale, or for a column where its group has several."""
        return _by_group(self.columns, self.setting.stand_ins)

    @property
    def missing(self) -> dict[str, str]:
        """Why nothing measures a group of columns at this scale."""
        return _by_group(self.columns, self.setting.missing)

    @property
    def setups(self) -> dict[str, Setup]:
        """The setups behind the rows, by the names of those that share one."""
        names: dict[str, dict[str, Setup]] = {}
        for row in self.rows:
            for cell in row.cells:
                for record in cell.records.values():
                    name = row_name((self.tower(row.backbone), row.variant, cell.column.part))
                    names.setdefault(record.setup_id, {})[name] = record.setup
        return {", ".join(setups): next(iter(setups.values())) for setups in names.values()}

    @property
    def added(self) -> list[str]:
        """Labels of rows that the paper's table does not have, each once."""
        printed = {row.key for row in self.table.rows}
        return list(dict.fromkeys(row.label for row in self.rows if row.key not in printed))

    @property
    def row_notes(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((row.label, row.note) for row in self.rows if row.note))

    @property
    def cell_notes(self) -> list[tuple[str, str]]:
        """Notes on published numbers: where the paper contradicts itself."""
        return [
            (f"{row.shown}, {cell.column.name}", cell.source.note)
            for row in self.rows
            for cell in row.cells
            if cell.source and cell.source.note
        ]

    @property
    def origins(self) -> list[str]:
        """What the runs ran on, and how many on each."""
        counts = Counter(map(_origin, self.runs))
        return [f"{count} run{'s' * (count != 1)}: {origin}" for origin, count in counts.most_common()]

    @property
    def runs(self) -> list[Record]:
        return list({record.run_id: record for row in self.rows for record in row.records}.values())

    @property
    def complete(self) -> bool:
        """Whether every requested seed has a record."""
        return all(row.measured == row.requested for row in self.rows)

    @property
    def boards(self) -> dict[tuple[str, str], list[TableRow]]:
        """Rows that may be compared: of one backbone and variant, unless variants are what the table is about."""
        return by_key((self._board(row), row) for row in self.rows)

    def _board(self, row: TableRow) -> tuple[str, str]:
        return row.backbone, "" if self.table.factors else row.variant

    @cached_property
    def _rankings(self) -> dict[tuple[tuple[str, str], str], Ranking]:
        rankings = {}
        for board, rows in self.boards.items():
            skipped = {}  # by part of the table: columns of one part have the same runs
            for number, column in enumerate(self.columns):
                cells = {row_name(row.key): row.cells[number] for row in rows}
                if column.part not in skipped:
                    records = {name: cell.records for name, cell in cells.items()}
                    skipped[column.part] = unpairable(records, self.table.factors)
                values = {name: cell.values for name, cell in cells.items()}
                rankings[board, column.key] = ranking(values, column.better, skipped[column.part])
        return rankings

    def rank(self, row: TableRow, cell: Cell) -> Rank | None:
        """The rank of a row on a column among the rows of its board; none if nothing is ranked."""
        return self._rankings[self._board(row), cell.column.key].ranks.get(row_name(row.key))

    def is_best(self, row: TableRow, cell: Cell) -> bool:
        """Whether the row has a star; see `Ranking.best`."""
        return row_name(row.key) in self._rankings[self._board(row), cell.column.key].best


def _by_group(columns: Sequence[Column], texts: Mapping[str, str]) -> dict[str, str]:
    by_group: dict[str, str] = {}
    for column in columns:
        group = {texts.get(other.key, "") for other in columns if other.group == column.group}
        if text := texts.get(column.key):
            by_group[column.group if column.group and len(group) == 1 else column.name] = text
    return by_group


def _origin(record: Record) -> str:
    known = defaultdict(lambda: "unknown", record.environment)
    changes = " with changes" if known["dirty"] else ""
    source = f"commit {known['commit'][:12]}{changes}" if known["commit"] else "installed package"
    where = f"{known['processor']}, {known['device']}, {known['threads']} threads, {known['processes']} processes"
    return f"benchsuite {known['benchsuite']} ({source}), {where}, {record.created[:10]}"


def grouped(columns: Iterable[Column]) -> list[tuple[str, int]]:
    """The groups of columns that stand beside each other, with their widths."""
    return [(name, len(list(group))) for name, group in groupby(column.group for column in columns)]
