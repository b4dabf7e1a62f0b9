"""What differs between two results folders: for a terminal and for programs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchsuite.analysis.rows import Cell
from benchsuite.report.numbers import DASH, counted, in_unit, measured, signed
from benchsuite.verify.agreement import HOWS, CellDiff, FolderDiff, TableDiff


def lines(diff: FolderDiff) -> Iterator[str]:
    """A few lines a table: what was compared, what moved, whether it agrees."""
    for name, side in (("before", diff.before), ("after", diff.after)):
        size = f"{counted(len(side.records), 'record')}, {counted(len(side.views), 'table')}"
        yield f"{name:<7} {side.folder}: {size}"
        yield from (f"  skipped: {text}" for text in side.skipped)
    changes = Counter(change for change, _ in diff.records)
    yield f"records: {', '.join(f'{n} {change}' for change, n in sorted(changes.items())) or 'equal'}"
    for change, record in diff.records:
        if change != "added":  # which should not happen by accident
            yield f"  {change}: {record.method.title}, seed {record.seed}, run {record.run_id}"
    for table in diff.tables:
        yield from _table(table)


def _table(table: TableDiff) -> Iterator[str]:
    hows = Counter(cell.how for cell in table.cells)
    judged = [each for each in table.verdicts if each.judged]
    yield f"{table.table} at scale {table.scale}: {_result(table)}"
    if table.before and table.after:
        equal = sum(not run.moved for run in table.runs)
        yield f"  runs that both have: {len(table.runs)}, of which {equal} are equal in every digit"
        yield f"  verdicts that both have: {len(judged)}, of which {sum(each.same for each in judged)} are the same"
    yield f"  cells: {', '.join(f'{hows[how]} {how}' for how in HOWS if hows[how]) or 'none'}"
    yield from (f"    {problem}" for problem in table.problems)
    for cell in sorted(table.cells, key=lambda cell: HOWS.index(cell.how), reverse=True):
        if not cell.same:
            yield f"    {cell.name}: {_shown(cell.before)} -> {_shown(cell.after)}{_moved(cell)}"
    for each in table.verdicts:
        if not each.same:
            yield f"    {each.name}: {each.before or DASH} -> {each.after or DASH}"


def _result(table: TableDiff) -> str:
    if not (table.before and table.after):
        return "removed" if table.before else "added"
    return "agrees" if table.agrees else "does not agree"


def _shown(cell: Cell | None) -> str:
    return f"{measured(cell)} ({counted(cell.n, 'seed')})" if cell else DASH


def _moved(cell: CellDiff) -> str:
    """By how much it moved over the shared seeds, and how far it may."""
    if not cell.seeds or cell.before is None:
        return ""
    unit = cell.before.column.unit
    most = "" if cell.how in ("equal", "not judged") else f" (at most {in_unit(cell.bound, unit)})"
    return f"; {cell.how}, moved by {signed(cell.moved, unit)} over {counted(len(cell.seeds), 'seed')}{most}"


def as_data(diff: FolderDiff) -> dict[str, Any]:
    """For --json; numbers as fractions where the column is in percent."""
    return {
        "agrees": diff.agrees,
        "folders": {
            name: {"records": len(side.records), "skipped": side.skipped}
            for name, side in (("before", diff.before), ("after", diff.after))
        },
        "records": [
            {"change": change, "run_id": record.run_id, "method": record.method.name, "seed": record.seed}
            for change, record in diff.records
        ],
        "tables": list(map(_table_data, diff.tables)),
    }


def _table_data(table: TableDiff) -> dict[str, Any]:
    return {
        "table": table.table,
        "scale": table.scale,
        "agrees": table.agrees if table.before and table.after else None,
        "runs": len(table.runs),
        "problems": [str(problem) for problem in table.problems],
        "cells": [
            {"cell": cell.name, "how": cell.how, "before": _values(cell.before), "after": _values(cell.after)}
            | ({"moved": cell.moved} if cell.seeds else {})
            | ({"bound": cell.bound} if cell.bound < float("inf") else {})
            for cell in table.cells
        ],
        "verdicts": [{"claim": each.name, "before": each.before, "after": each.after} for each in table.verdicts],
    }


def _values(cell: Cell | None) -> dict[str, float]:
    return {str(seed): value for seed, value in cell.values.items()} if cell else {}
