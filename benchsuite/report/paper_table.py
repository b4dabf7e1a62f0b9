"""A table as a paper prints it: the chosen numbers, rounded alike in a column, and what its caption must say."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UsageError
from benchsuite.grouping import by_key
from benchsuite.papers import Column
from benchsuite.papers.claim import reference_of
from benchsuite.papers.schema import RowKey, row_name
from benchsuite.report.export_options import ExportOptions, Spread
from benchsuite.report.numbers import DASH, counted, counts, in_unit, published, units

SPREADS = {
    "ci": "mean ± half-width of the 95% CI",
    "sd": "mean ± standard deviation",
    "se": "mean ± standard error",
    "none": "mean",
}
KINDS = {"ours": "measured", "published": "published", "both": "measured or published"}


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed."""

    text: str
    spread: str = ""
    bold: bool = False
    """Whether no comparable row has a better one, as far as the printed digits say."""
    star: bool = False
    """Whether the row has a star on this column; see `Ranking.best`."""
    against: str = ""
    """"+" where the row is significantly better than its reference, "−" where it is worse."""


@dataclass(frozen=True)
class PrintedLine:
    """A row of the table: a number for each printed column. The numbers that are not shown are an empty list."""

    row: TableRow
    theirs: Sequence[PrintedNumber]
    ours: Sequence[PrintedNumber]


@dataclass(frozen=True)
class PaperTable:
    """A table as its options say. Without both kinds of numbers, rows and columns that have none are left out."""

    view: TableView
    options: ExportOptions

    @property
    def has_theirs(self) -> bool:
        return self.options.show == "published" or (self.options.show == "both" and self.view.has_published)

    @property
    def has_ours(self) -> bool:
        return self.options.show != "published"

    @cached_property
    def _places(self) -> list[int]:
        """Numbers of the printed columns."""
        places = [n for n, _ in enumerate(self.view.columns) if any(self._has(row.cells[n]) for row in self.view.rows)]
        return [*range(len(self.view.columns))] if self.options.show == "both" else places

    @property
    def columns(self) -> list[Column]:
        return [self.view.columns[n] for n in self._places]

    @cached_property
    def lines(self) -> list[PrintedLine]:
        rows = [row for row in self.view.rows if self.options.show == "both" or any(map(self._has, row.cells))]
        if not rows or not self._places:
            asked = self.view.asked
            raise UsageError(f"{asked.table} at scale {asked.scale} has no {KINDS[self.options.show]} numbers to show.")
        theirs = {n: self._of_column(n, self._theirs(n)) for n in self._places if self.has_theirs}
        ours = {n: self._of_column(n, self._ours(n), stars=True) for n in self._places if self.has_ours}
        return [
            PrintedLine(row, *([column[row.key] for column in columns.values()] for columns in (theirs, ours)))
            for row in rows
        ]

    @property
    def backbones(self) -> dict[str, list[PrintedLine]]:
        return by_key((line.row.backbone, line) for line in self.lines)

    @cached_property
    def seeds(self) -> str:
        """How many stand behind each measured row, where it is the same number; else "", and rows say it."""
        numbers = {counts(line.row) for line in self.lines if line.row.measured}
        return next(iter(numbers)) if len(numbers) == 1 and DASH not in next(iter(numbers)) else ""

    @property
    def has_counts(self) -> bool:
        return self.has_ours and not self.seeds

    def caption(self, order: str) -> list[str]:
        """The title, and what a reader of the numbers must know; `order` says which of two numbers is whose."""
        ours = (
            "one seed"
            if self.seeds == "1"
            else f"{SPREADS[self.options.spread or 'ci']} over {self.seeds or 'n'} seeds"
        )
        shown = {
            "ours": f"{ours[0].upper()}{ours[1:]}.",
            "published": "Published numbers.",
            "both": f"{order}; ours: {ours}.",
        }
        title = self.view.table.title
        return [
            title if title.endswith(".") else f"{title}.",
            f"{units(self.columns)}.",
            shown[self.options.show if self.has_theirs else "ours"],
            *([f"Our rows: {self._searched}."] if self.has_ours and self._searched else []),
        ]

    @property
    def _searched(self) -> str:
        """What tells the table as printed from the tuned one; "" where nothing was searched."""
        asked = self.view.asked
        trials = counted(asked.trials, "trial") if asked.trials else ""
        if asked.regime == "tuned":
            return f"all tuned ({trials})" if trials else "all tuned"
        return f"as printed (learning rate searched, {trials})" if trials else ""

    @property
    def legend(self) -> list[str]:
        """What bold and star mean, as far as there are any; star is the character ★."""
        numbers = [number for line in self.lines for number in (*line.theirs, *line.ours)]
        bold = ["Bold: the best value among comparable rows."] if any(number.bold for number in numbers) else []
        test = "paired t-tests, Holm, alpha 0.05"
        if not self.has_ours:
            return bold
        if any(number.star for number in numbers):
            rows = [line.row for line in self.lines if any(number.star for number in line.ours)]
            untuned = [row.shown for row in rows if any(cell.untuned for cell in row.cells)]
            also = [f"Not tuned, though with a star: {', '.join(untuned)}."] if untuned else []
            return [*bold, f"★: no row is significantly better ({test}).", *also]
        ranks = [self.view.rank(line.row, line.row.cells[n]) for line in self.lines for n in self._places]
        tied = all(rank.rank == 1 for rank in ranks if rank)
        return [*bold, f"No difference is significant ({test})."] if tied else bold

    @property
    def against_legend(self) -> list[str]:
        """What + and − mean, as far as there are any: which row is the reference, and by which test."""
        signs = {number.against for line in self.lines for number in line.ours} - {""}
        if not signs:
            return []
        words = [f"{sign}: significantly {word}" for sign, word in (("+", "better"), ("−", "worse")) if sign in signs]
        names = list(dict.fromkeys(row.shown for row in self._references.values()))
        board = " on the same backbone" if len({row.key for row in self._references.values()}) > 1 else ""
        test = "paired t-tests over seeds, Holm over all pairs of rows of a column, alpha 0.05"
        return [f"{', '.join(words)} than {' or '.join(names)}{board} ({test})."]

    @cached_property
    def _references(self) -> Mapping[RowKey, TableRow]:
        """By row, the measured reference that it is compared with, as `papers.claim.reference_of` says."""
        references = {}
        for (backbone, _), rows in self.view.boards.items():
            first = reference_of(self.view.table, backbone, rows[0].variant)
            found = [row for row in rows if first and row.key == first.key and row.measured]
            references.update({row.key: found[0] for row in rows if found})
        return references

    def _against(self, row: TableRow, place: int) -> str:
        """A mark only where the ranking decides the pair, so it never contradicts a star."""
        reference = self._references.get(row.key)
        ranks = [self.view.rank(either, either.cells[place]) for either in (row, reference) if either]
        if reference is None or None in ranks:
            return ""
        mine, theirs = (rank.beaten_by for rank in ranks if rank)
        return "−" if row_name(reference.key) in mine else "+" if row_name(row.key) in theirs else ""

    @property
    def notes(self) -> list[str]:
        """Footnotes: on what ours were measured."""
        if not self.has_ours:
            return []
        setting, printed = self.view.setting, {line.row.backbone for line in self.lines}
        towers = {name: setting.backbones[name] for name in self.view.backbones if name in setting.backbones}
        kept = {name: what for name, what in towers.items() if name in printed}
        groups = {name for column in self.columns for name in (column.group, column.name)}
        data = {name: what for name, what in self.view.stand_ins.items() if name in groups}
        is_what = [f"{self.view.tower(name)} is {what}" for name, what in kept.items()]
        replaced = "; ".join([*is_what, *(f"{name} was measured on {what}" for name, what in data.items())])
        return [
            f"Ours were measured at scale {self.view.asked.scale}.",
            *([f"In ours, {replaced}."] if replaced else []),
        ]

    def _has(self, cell: Cell) -> bool:
        return bool((self.has_ours and cell.n) or (self.has_theirs and cell.source))

    def _theirs(self, place: int) -> dict[RowKey, tuple[str, str]]:
        texts = {row.key: published(row.cells[place]) for row in self.view.rows}
        most = max(len(text.partition(".")[2]) for text in texts.values())
        wholes = {key: text.partition(".") for key, text in texts.items() if text != DASH and most}
        padded = {key: f"{whole}.{rest:0<{most}}" for key, (whole, _, rest) in wholes.items()}
        return {key: (padded.get(key, text), "") for key, text in texts.items()}

    def _ours(self, place: int) -> dict[RowKey, tuple[str, str]]:
        texts = {}
        for row in self.view.rows:
            cell, unit = row.cells[place], self.view.columns[place].unit
            spread = _spread(cell, self.options.spread or "ci")
            mean, half = (None if x is None else in_unit(x, unit, self.options.digits) for x in (cell.mean, spread))
            texts[row.key] = (mean or DASH, half or "")
        return texts

    def _of_column(
        self, place: int, texts: Mapping[RowKey, tuple[str, str]], stars: bool = False
    ) -> dict[RowKey, PrintedNumber]:
        bold = {
            key
            for rows in self.view.boards.values()
            for key in _best({row.key: texts[row.key][0] for row in rows}, self.view.columns[place].better)
        }
        return {
            row.key: PrintedNumber(
                *texts[row.key],
                bold=row.key in bold,
                star=stars and self.view.is_best(row, row.cells[place]),
                against=self._against(row, place) if stars else "",
            )
            for row in self.view.rows
        }


def _best(texts: Mapping[RowKey, str], better: str) -> set[RowKey]:
    """The rows whose printed number is the best; none where all print the same, or nothing is better."""
    numbers = {key: float(text) for key, text in texts.items() if text != DASH}
    if better == "neither" or len(set(numbers.values())) < 2:
        return set()
    best = max(numbers.values()) if better == "higher" else min(numbers.values())
    return {key for key, number in numbers.items() if number == best}


def _spread(cell: Cell, spread: Spread) -> float | None:
    if spread == "none" or cell.sd is None:
        return None
    return {"ci": cell.half, "sd": cell.sd, "se": cell.sd / math.sqrt(cell.n)}[spread]
