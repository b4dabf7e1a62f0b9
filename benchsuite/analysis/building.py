"""Tables with measured numbers, built from the files of tables and recipes, and from records.

A request says which rows and replicates were asked for. Which runs are theirs follows from the runs' content.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchsuite.analysis.row_runs import RowRuns, kind_of
from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.table_view import Setting, TableView
from benchsuite.errors import BenchsuiteError, UnknownError, UsageError, require_known
from benchsuite.folders import built_in_tables, table_files
from benchsuite.grouping import by_key
from benchsuite.papers import Row, Table, read_table
from benchsuite.parts import NOTHING
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.rows import added_rows
from benchsuite.records.contents import Contents, built_in_again
from benchsuite.records.names import REMARKS, TABLES
from benchsuite.records.remarks import Remark, remarks_on
from benchsuite.records.requests import TableRequest, file_digest
from benchsuite.records.schema import Record, of_each_search
from benchsuite.setup import Setup

NOT_PRINTED = "Not in the paper's table."


@dataclass(frozen=True)
class FoundRow:
    """A row that was asked for, with its records by part of the table and replicate."""

    row: Row
    parts: Mapping[str, Mapping[int, Record]]
    gap: str = ""
    """Why runs are missing, if any are."""
    requested: int = 0
    """Runs that there are to be."""


def build_views(contents: Contents) -> tuple[list[TableView], list[BenchsuiteError]]:
    """The requested tables, as far as they are measured; and what had to be skipped, with the reason."""
    views, skipped = build_tables(contents)
    remarks = (UsageError(f"{REMARKS}: {why}") for why in misplaced(contents.remarks, views))
    return views, [*contents.errors, *built_in_again(contents), *skipped, *remarks]


def build_tables(contents: Contents) -> tuple[list[TableView], list[BenchsuiteError]]:
    """The same; of what had to be skipped the tables alone."""
    views: list[TableView] = []
    skipped: list[BenchsuiteError] = []
    read, stored = cache(lambda name: read_table(name, contents.tables)), _Stored(contents)
    recipe_of = cache(lambda name: read_recipe(name, contents.recipes))
    for asked in contents.requests:
        try:
            of_paper = [read(name) for name in same_paper(asked.table, contents.tables)]
            table = read(asked.table)
            require_known("scale", asked.scale, table.recipes, f"{TABLES}/{asked.name}.json: {table.name}: ")
            name = table.recipes[asked.scale]
            recipe = recipe_of(name)
            found = list(find_rows(table, asked, recipe, stored))
            parts = ((one.row.backbone, runs) for one in found for runs in one.parts.values())
            records = by_key((backbone, record) for backbone, runs in parts for record in runs.values())
            outdated = list(_outdated(table, asked, recipe))
            setting, remarks = Setting.of(table, name, recipe, records), remarks_on(asked.place, contents.remarks)
            view = build_table(table, asked, setting, found, of_paper, outdated, remarks)
            _ = view.premises  # read now: what they cannot be read from skips this table and no other
            views.append(view)
        except BenchsuiteError as error:
            skipped.append(error)
    for view in views:
        there = {(table.name, view.asked.scale, view.asked.regime) for table in view.siblings}
        view.beside.extend(one for one in views if (one.table.name, one.asked.scale, one.asked.regime) in there)
    return views, skipped


def misplaced(remarks: Sequence[Remark], views: Sequence[TableView]) -> Iterator[str]:
    """Why remarks are on no claim that a table here makes."""
    known = {view.asked.place: [claim.name for claim in view.claims] for view in views}
    for one in remarks:
        claims = known.get((one.table, one.scale))
        if claims is None:
            yield f"{one.table} was not run here at scale {one.scale}."
        elif one.claim not in claims:
            yield str(UnknownError("claim", one.claim, claims, f"{one.table} {one.scale}: "))


class _Stored:
    """What a folder has of runs, by kind: records, and runs without a valid one, with the reason."""

    def __init__(self, contents: Contents) -> None:
        records = contents.records.values()
        self.titles = {record.method.name: record.method.title for record in records}
        self.done = by_key((kind_of(run), run) for record in records for run in of_each_search(record))
        tried = list(contents.unfinished)
        self.unfinished = by_key((kind_of(run), run) for one, _ in tried for run in of_each_search(one))
        self.reasons = {run.run_id: reason for run, reason in tried}


def find_rows(table: Table, asked: TableRequest, recipe: Recipe, stored: _Stored) -> Iterator[FoundRow]:
    """The rows that were asked for, those of the table and added ones, each with all of its runs."""
    setups = defaultdict[tuple[str, str, str], dict[str, Setup | None]](dict)
    wanted_rows = {*asked.rows}
    own = [(row, 1.0) for row in table.rows if row.name in wanted_rows]
    for row, longer in [*own, *added_rows(asked.added, stored.titles)]:
        if reason := row.not_run or recipe.lacks(row.backbone, row.variant):
            yield FoundRow(row, {}, reason)
            continue
        parts, gaps, runs = {}, [], set()
        for name, part in table.all_parts.items():
            if reason := recipe.lacks(part.variant):
                gaps.append(reason)
                continue
            towers = row.backbone, row.variant, part.variant
            wanted = RowRuns(table, asked, recipe, row, part, longer, setups[towers])
            found, failed = (wanted.among(runs.get(wanted.kind, ())) for runs in (stored.done, stored.unfinished))
            reasons = {seed: stored.reasons[tried[0].run_id] for seed, tried in failed.items() if seed not in found}
            parts[name] = {seed: records[0] for seed, records in found.items()}
            runs |= {(wanted.identity, seed) for seed in (*asked.replicates, *found)}
            gap = "; ".join(_gaps(asked, found, reasons))
            gaps += [f"{name}: {gap}" if name else gap] if gap else []
        yield FoundRow(row, parts, "; ".join(dict.fromkeys(gaps)), len(runs))


def _gaps(asked: TableRequest, found: Mapping[int, Sequence[Record]], reasons: Mapping[int, str]) -> Iterator[str]:
    yield from (f"seed {seed} failed: {reason}" for seed, reason in reasons.items())
    if waiting := [str(seed) for seed in sorted(asked.replicates) if not {seed} & {*found, *reasons}]:
        yield f"not run yet: seed {', '.join(waiting)}"
    if several := [str(seed) for seed, records in found.items() if len(records) > 1]:
        yield f"of several runs of seed {', '.join(several)}, on other data or of other versions, the last is shown"


def _outdated(table: Table, asked: TableRequest, recipe: Recipe) -> Iterator[str]:
    """Where what was asked for is no longer what the files say."""
    for what, content, digest in (
        ("table", table.at(asked.scale), asked.table_digest),
        ("recipe", recipe, asked.recipe_digest),
    ):
        if file_digest(content) != digest:
            yield f"the {what} has changed since its runs were asked for"
    if unknown := [name for name in asked.rows if name not in {row.name for row in table.rows}]:
        yield f"the table has no row {', '.join(unknown)}"
    if asked.regime == "tuned" and recipe.tuning is None:
        yield "the recipe has no searches, so no row is tuned"


def build_table(
    table: Table,
    asked: TableRequest,
    setting: Setting,
    found: Sequence[FoundRow],
    of_paper: Sequence[Table] = (),
    outdated: Sequence[str] = (),
    remarks: Mapping[str, str] = NOTHING,
) -> TableView:
    """A table with the rows that were asked for, in the paper's order, added rows after them."""
    order = {row.key: number for number, row in enumerate(table.rows)}
    backbones = list(dict.fromkeys([*(row.backbone for row in table.rows), *(one.row.backbone for one in found)]))
    rows = sorted(found, key=lambda one: (backbones.index(one.row.backbone), order.get(one.row.key, len(order))))
    shown = [_row(table, setting, one) for one in rows]
    siblings = [other for other in of_paper if other.name != table.name and asked.scale in other.recipes]
    return TableView(table, asked, setting, shown, siblings, outdated, remarks)


def _row(table: Table, setting: Setting, found: FoundRow) -> TableRow:
    row, printed = found.row, any(found.row.key == own.key for own in table.rows)
    cells = {
        one.key: Cell(one, row.published.get(one.key), found.parts.get(one.part, {}), setting.measures.get(one.key))
        for one in table.columns
    }
    cells |= {key: replace(cells[key], mean_of=[cells[of] for of in parts]) for key, parts in setting.means.items()}
    records = {record.run_id: record for part in found.parts.values() for record in part.values()}
    return TableRow(
        label=row.label,
        backbone=row.backbone,
        variant=row.variant,
        method=row.method or "",
        cells=[*cells.values()],
        requested=found.requested,
        gap=found.gap,
        note=row.note if printed else NOT_PRINTED,
        quoted=row.quoted,
        records=list(records.values()),
    )


def same_paper(name: str, stored: Mapping[str, Path]) -> list[str]:
    """The tables of a table's paper that come from where it comes from: built in, or stored with the results.

    So a table of one's own changes no verdict on a built-in one, even if it says the same paper.
    """
    built_in = built_in_tables()
    files = built_in if name in built_in else stored if name in stored else table_files()
    own = files if name in built_in else files.keys() - built_in.keys()
    return sorted(other for other in own if other.partition("/")[0] == name.partition("/")[0])
