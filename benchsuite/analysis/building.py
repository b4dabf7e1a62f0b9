"""Tables with measured numbers, built from published tables, requests and records."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchsuite.analysis import request_check
from benchsuite.analysis.pairing import comparable_fields
from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import BenchsuiteError, RecordError
from benchsuite.folders import built_in_tables, table_files
from benchsuite.papers import Row, Table, read_table
from benchsuite.records.contents import Contents
from benchsuite.records.names import TABLES
from benchsuite.records.record_file import FileError
from benchsuite.records.requests import RequestedRow, TableRequest
from benchsuite.records.schema import Record


def build_views(contents: Contents) -> tuple[list[TableView], list[BenchsuiteError]]:
    """The requested tables, as far as they are measured; and what had to be skipped, with the reason."""
    views: list[TableView] = []
    skipped: list[BenchsuiteError] = [*contents.errors, *built_in_again(contents)]
    stored = request_check.StoredRuns.of(contents.records.values())
    read, gaps = cache(lambda name: read_table(name, contents.tables)), contents.gaps
    for request in contents.requests:
        try:
            of_paper = [read(name) for name in same_paper(request.table, contents.tables)]
            table = read(request.table)
            if wrong := next(request_check.problems(table, request, stored), None):
                raise RecordError(f"{TABLES}/{request.name}.json: {wrong}; {request_check.REPAIR}.")
            view = build_table(table, request, contents.records, gaps, of_paper)
            for cell in (cell for row in view.rows for cell in row.cells):
                _ = cell.values  # read now, so that a record without the number skips this table and no other
            _ = view.premises
            views.append(view)
        except BenchsuiteError as error:
            skipped.append(error)
    for view in views:
        view.beside.extend(other for other in views if _is_beside(other, view))
    return views, skipped


def _is_beside(other: TableView, view: TableView) -> bool:
    same = (other.asked.scale, other.asked.regime) == (view.asked.scale, view.asked.regime)
    return same and other.table.name in {table.name for table in view.siblings}


def same_paper(name: str, stored: Mapping[str, Path]) -> list[str]:
    """The tables of a table's paper that come from where it comes from: built in, or stored with the results.

    So a table of one's own changes no verdict on a built-in one, even if it says the same paper.
    """
    built_in = built_in_tables()
    files = built_in if name in built_in else stored if name in stored else table_files()
    own = files if name in built_in else files.keys() - built_in.keys()
    return sorted(other for other in own if other.partition("/")[0] == name.partition("/")[0])


def built_in_again(contents: Contents) -> list[FileError]:
    """Stored tables with the name of a built-in one: the built-in one is shown, or published numbers could be faked."""
    taken = {file: name for name, file in contents.tables.items() if name in built_in_tables()}
    return [FileError(file, f'table "{name}" is built in', "Delete it, or rename it.") for file, name in taken.items()]


def build_table(
    table: Table,
    request: TableRequest,
    records: Mapping[str, Record],
    failures: Mapping[str, str],
    of_paper: Sequence[Table] = (),
) -> TableView:
    """The view of a requested table; `of_paper`: all tables of its paper.

    Rows are in the paper's order, others after them.
    """
    order = {row.key: number for number, row in enumerate(table.rows)}
    printed = {row.key: row for row in table.rows}
    backbones = list(dict.fromkeys([*(row.backbone for row in table.rows), *(row.backbone for row in request.rows)]))
    rows = sorted(request.rows, key=lambda row: (backbones.index(row.backbone), order.get(row.key, len(order))))
    shown = [_row(table, row, printed.get(row.key), request, records, failures) for row in rows]
    siblings = [other for other in of_paper if other.name != table.name and request.scale in other.recipes]
    return TableView(table, request, shown, siblings)


def _row(
    table: Table,
    row: RequestedRow,
    printed: Row | None,
    request: TableRequest,
    records: Mapping[str, Record],
    failures: Mapping[str, str],
) -> TableRow:
    refused = {part: why for part in row.parts if (why := _other_setup(row, part, request, records))}
    mine = {
        part: {seed: records[run] for seed, run in sorted(runs.runs.items()) if run in records}
        for part, runs in row.parts.items()
        if part not in refused
    }
    published = printed.published if printed else {}
    cells = [
        Cell(column, published.get(column.key), mine.get(column.part, {}), request.measures.get(column.key))
        for column in table.columns
    ]
    gaps = [row.not_run, *refused.values(), *dict.fromkeys(row.missing.values())]
    gaps += [gap for part in mine if (gap := _gap(part, row.parts[part].runs, records, failures))]
    return TableRow(
        label=row.label,
        backbone=row.backbone,
        variant=row.variant,
        method=row.method or "",
        cells=cells,
        requested=len({run for runs in row.parts.values() for run in runs.runs.values()}),
        gap="; ".join(filter(None, gaps)),
        note=printed.note if printed else "Not in the paper's table.",
        quoted=printed.quoted if printed else "",
        records=list({record.run_id: record for part in mine.values() for record in part.values()}.values()),
    )


def _other_setup(row: RequestedRow, part: str, request: TableRequest, records: Mapping[str, Record]) -> str:
    """Why a row is not comparable with those of the last request: the fields in which their setups differ."""
    mine = row.parts[part].setup_id
    current = request.setups.get(row.setup_key(part), mine)
    if mine == current:
        return ""
    own = next((records[run] for run in row.parts[part].runs.values() if run in records), None)
    other = next((record for record in records.values() if record.setup_id == current), None)
    fields = list(comparable_fields(own, other).values()) if own and other else []
    if own and other and not fields:
        return ""
    why = f" ({'; '.join(fields)})" if fields else ""
    return f"not comparable: measured under another setup, {mine}{why}; run this row again"


def _gap(part: str, runs: Mapping[int, str], records: Mapping[str, Record], failures: Mapping[str, str]) -> str:
    missing = {seed: run for seed, run in runs.items() if run not in records}
    reasons = [f"seed {seed} failed: {failures[run]}" for seed, run in missing.items() if run in failures]
    waiting = [str(seed) for seed, run in missing.items() if run not in failures]
    text = "; ".join([*reasons, *([f"not run yet: seed {', '.join(waiting)}"] if waiting else [])])
    return f"{part}: {text}" if part and text else text
