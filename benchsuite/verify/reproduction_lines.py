"""A published table measured again, beside its first measurement: for a terminal and for programs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchsuite.harmless import json_text
from benchsuite.report.markdown import plain
from benchsuite.report.numbers import counted, in_unit, signed
from benchsuite.verify.reproduction import HOWS, CellAgain, TableAgain


def as_text(tables: Sequence[TableAgain]) -> str:
    """A few lines a table: what was compared, what moved, whether it agrees."""
    return "\n".join(line for table in tables for line in _lines(table)) + "\n"


def as_json(tables: Sequence[TableAgain]) -> str:
    """Plain data; differences and bounds as fractions where the column is in percent."""
    return (
        json_text({"agrees": all(table.agrees for table in tables), "tables": list(map(_data, tables))}, indent=1)
        + "\n"
    )


def _lines(table: TableAgain) -> Iterator[str]:
    request, hows = table.again.request, Counter(cell.how for cell in table.cells)
    equal = sum(not run.moved for run in table.runs)
    same = sum(each.same for each in table.verdicts)
    yield f"{plain(request.table)} at scale {plain(request.at)}: {'agrees' if table.agrees else 'does not agree'}"
    yield f"  runs that both have: {len(table.runs)}, of which {equal} are equal in every digit"
    yield f"  cells that both have: {len(table.cells)} ({', '.join(f'{hows[how]} {how}' for how in HOWS)})"
    yield f"  verdicts: {same} of {len(table.verdicts)} the same"
    for problem in table.problems:
        yield f"    {plain(str(problem))}"
    for cell in sorted(table.cells, key=lambda cell: HOWS.index(cell.how), reverse=True):
        if cell.how != "equal":
            yield f"    {_cell(cell)}"
    for each in table.verdicts:
        if not each.same:
            yield f"    {plain(each.name)}: {each.published.kind} -> {each.again.kind}"


def _cell(cell: CellAgain) -> str:
    unit = cell.published.column.unit
    moved = (
        f"{plain(cell.name)}: {cell.how}, moved by {signed(cell.moved, unit)} over {counted(len(cell.seeds), 'seed')}"
    )
    return moved if cell.how == "not judged" else f"{moved} (at most {in_unit(cell.bound, unit)})"


def _data(table: TableAgain) -> dict[str, Any]:
    return {
        "table": table.again.request.table,
        "scale": table.again.request.at,
        "agrees": table.agrees,
        "runs": len(table.runs),
        "problems": [str(problem) for problem in table.problems],
        "cells": [
            {"cell": cell.name, "how": cell.how, "seeds": cell.seeds, "moved": cell.moved}
            | ({} if cell.how == "not judged" else {"bound": cell.bound})
            for cell in table.cells
        ],
        "verdicts": [
            {"claim": each.name, "published": each.published.kind, "again": each.again.kind} for each in table.verdicts
        ],
    }
