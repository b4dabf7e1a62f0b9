"""What differs between two results folders, line by line: for a terminal and for programs, and parts for a comment."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from benchsuite.analysis.diff import CellChange, Changes, ClaimChange, RankChange, Side, TableChange
from benchsuite.analysis.tables import Cell, TableView
from benchsuite.papers.schema import row_name
from benchsuite.records.schema import Record
from benchsuite.report.foreign import plain
from benchsuite.report.numbers import measured, seeds

NOTHING = "–"
LONG = 400
"""Characters of a reason that are shown."""
CELLS, VERDICTS, PLACES, ROWS, WORDS = "cells", "verdicts", "places", "missing runs", "words of the page"
TELLING = {"reproduced", "opposite", "not comparable"}
LEGEND = "Cells as on the pages, in percent or as plain numbers: mean ±, and over how many seeds."


@dataclass(frozen=True)
class Line:
    """One difference."""

    where: tuple[str, ...]
    before: str
    after: str
    why: str = ""


@dataclass(frozen=True)
class Part:
    """The differences of one kind in a table."""

    what: str
    heads: tuple[str, ...]
    """Of what `where` names."""
    lines: list[Line]
    own: bool = True
    """Whether both sides are our own words and numbers, and not text from a file."""


def parts(change: TableChange) -> list[Part]:
    """The kinds of differences that there are, in the order in which they are read."""
    at = ("row", "column")
    cells = [Line(_at(one), cell(one.before), cell(one.after)) for one in change.cells]
    places = [Line(_at(one), _place(one.before), _place(one.after)) for one in change.ranks]
    rows = [Line((row_name(one.row.key),), _gap(one.before), _gap(one.after)) for one in change.rows]
    words = [Line((name,), _told(old), _told(new)) for name, (old, new) in change.words.items()]
    found = [
        Part(CELLS, at, cells),
        Part(VERDICTS, ("claim",), _verdicts(change.claims)),
        Part(PLACES, at, places),
        Part(ROWS, ("row",), rows, own=False),
        Part(WORDS, ("what",), words, own=False),
    ]
    return [part for part in found if part.lines]


def counts(tables: Sequence[TableChange]) -> str:
    """`1 new table; cells: 3 changed, 2 new; verdicts: 2`, over one table or several."""
    whole = Counter(table.kind for table in tables)
    told = [number(whole[kind], f"{kind} table") for kind in ("new", "gone") if whole[kind]]
    if cells := Counter(one.kind for table in tables for one in table.cells):
        told.append(f"cells: {', '.join(f'{n} {kind}' for kind, n in sorted(cells.items()))}")
    others: Counter[str] = Counter()
    for one in tables:
        others.update({VERDICTS: len(one.claims), PLACES: len(one.ranks), ROWS: len(one.rows), WORDS: len(one.words)})
    return "; ".join([*told, *(f"{what}: {n}" for what, n in others.items() if n)])


def as_text(found: Changes, names: Sequence[str]) -> str:
    """For a terminal; `names` are those of the two folders."""
    sides = list(zip("AB", (found.before, found.after), strict=True))
    lines = [f"{letter}  {plain(name)}: {size(side)}" for (letter, side), name in zip(sides, names, strict=True)]
    lines.append(f"records: {moved(found)}")
    lines += [f"  {how}: {plain(one)}" for how, one in lost(found)]
    for letter, side in sides:
        lines += [f"left out of {letter}: {plain(one, LONG)}" for one in side.left_out]
        lines += [f"not a record, left alone in {letter}: {plain(one)}" for one in side.foreign]
    for change in found.tables:
        lines += ["", f"{' at scale '.join(map(plain, named(change.view)))}: {counts([change])}"]
        for part in parts(change):
            lines += [f"  {part.what}:", *(f"    {_on_one_line(one)}" for one in part.lines)]
    lines += ["", LEGEND] if found.tables else [same(found)]
    return "\n".join(lines) + "\n"


def as_json(found: Changes) -> str:
    """Plain data; numbers in the column's unit, unrounded."""
    sides = {"before": found.before, "after": found.after}
    now = {"added": found.added, "removed": found.removed, "changed": [new for _, new in found.changed]}
    told = {
        "same": found.nothing,
        "records": {
            **{name: len(side.records) for name, side in sides.items()},
            **{how: [_record(one) for one in some] for how, some in now.items()},
        },
        "left_out": {name: list(side.left_out) for name, side in sides.items()},
        "foreign": {name: list(side.foreign) for name, side in sides.items()},
        "tables": [_table(change) for change in found.tables],
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def cell(found: Cell | None) -> str:
    """As on the page, with the number of seeds."""
    return NOTHING if found is None else f"{measured(found)} ({seeds(found.n)})"


def named(view: TableView) -> tuple[str, str]:
    """The table and its scale."""
    return view.request.table, view.request.scale


def size(side: Side) -> str:
    """How much a folder holds."""
    return f"{number(len(side.records), 'record')}, {number(len(side.views), 'table')}"


def number(n: int, what: str) -> str:
    """`1 table`, `2 tables`."""
    return f"{n} {what}{'s' * (n != 1)}"


def moved(found: Changes) -> str:
    """How many records came, went, and are others."""
    return f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed"


def lost(found: Changes) -> list[tuple[str, str]]:
    """Records that are gone or others now, which nobody should do by accident."""
    gone = [("removed", one) for one in found.removed]
    return [(how, _run(one)) for how, one in [*gone, *(("changed", new) for _, new in found.changed)]]


def is_telling(one: ClaimChange) -> bool:
    """Whether either verdict says more than that there are, or are not, runs enough."""
    return bool({one.before.kind, one.after.kind} & TELLING)


def same(found: Changes) -> str:
    """What is said where no table differs."""
    return "Nothing differs." if found.nothing else "No table differs."


def _verdicts(claims: Sequence[ClaimChange]) -> list[Line]:
    """Those that say something one by one; how many others went from which kind to which."""
    telling = list(map(is_telling, claims))
    told = list(compress(claims, telling))
    others = Counter((c.before.kind, c.after.kind) for c, tells in zip(claims, telling, strict=True) if not tells)
    lines = [Line((one.claim.name,), one.before.kind, one.after.kind, one.after.reason) for one in told]
    what = "other claim" if told else "claim"
    return [*lines, *(Line((number(n, what),), *kinds) for kinds, n in others.items())]


def _at(one: CellChange | RankChange) -> tuple[str, str]:
    return row_name(one.row.key), f"{one.column.group} {one.column.label}".strip()


def _place(place: int | None) -> str:
    return NOTHING if place is None else f"{place}{' ★' * (place == 1)}"


def _gap(gap: str | None) -> str:
    return "no such row" if gap is None else gap or "nothing is missing"


def _told(value: Any) -> str:
    return NOTHING if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _run(record: Record) -> str:
    return f"{record.method.title}, seed {record.seed}, run {record.run_id}"


def _on_one_line(one: Line) -> str:
    why = f"; {plain(one.why, LONG)}" if one.why else ""
    return f"{', '.join(map(plain, one.where))}: {plain(one.before, LONG)} -> {plain(one.after, LONG)}{why}"


def _record(one: Record) -> dict[str, Any]:
    return {"run_id": one.run_id, "method": one.method.name, "seed": one.seed, "digest": one.digest}


def _table(change: TableChange) -> dict[str, Any]:
    table, scale = named(change.view)
    return {
        "table": table,
        "scale": scale,
        "kind": change.kind,
        "cells": [
            {**_address(one), "unit": one.column.unit, "kind": one.kind, **_both(one.before, one.after, _numbers)}
            for one in change.cells
        ],
        "verdicts": [
            {
                "row": row_name(one.claim.row),
                "reference": row_name(one.claim.reference),
                "column": one.claim.column.key,
                **_both(one.before.kind, one.after.kind),
                "why": one.after.reason,
            }
            for one in change.claims
        ],
        "places": [{**_address(one), **_both(one.before, one.after)} for one in change.ranks],
        "rows": [
            {"row": row_name(one.row.key), "kind": one.kind, **_both(one.before, one.after)} for one in change.rows
        ],
        "words": {name: _both(*sides) for name, sides in change.words.items()},
    }  # fmt: skip


def _address(one: CellChange | RankChange) -> dict[str, str]:
    return {"row": row_name(one.row.key), "column": one.column.key}


def _both(before: Any, after: Any, told: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    return {"before": told(before), "after": told(after)}


def _numbers(found: Cell | None) -> dict[str, Any] | None:
    if found is None or found.mean is None:
        return None
    factor = 100 if found.column.unit == "percent" else 1
    values = {str(seed): value * factor for seed, value in found.values.items()}
    return {
        "mean": found.mean * factor,
        "sd": None if found.sd is None else found.sd * factor,
        "seeds": found.n,
        "values": values,
    }
