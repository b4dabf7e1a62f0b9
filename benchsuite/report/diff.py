"""What differs between two results folders: for a terminal, for programs, and as a comment on a pull request."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchsuite.analysis.diff import CellChange, Changes, ClaimChange, RankChange, Side, TableChange
from benchsuite.analysis.tables import Cell
from benchsuite.papers.schema import row_name
from benchsuite.records.schema import Record
from benchsuite.report.markdown import code, head, plain, row
from benchsuite.report.numbers import DASH, counted, measured

LONG = 400
"""Characters of a reason that are shown."""
LIMIT = 60_000
"""Characters of a comment. GitHub takes 65,536, and the workflow that posts it adds a line."""
NOTE = 400
"""Characters of it that are kept for saying what was cut."""
FOLD = 10
"""Lines of a list that a comment shows without folding them."""
DECISIVE = {"reproduced", "opposite", "not comparable"}
LEGEND = (
    "Cells: mean ± half-width of the 95% CI, in percent or as plain numbers (number of seeds). ★: best, see the page."
)


@dataclass(frozen=True)
class Line:
    """One difference."""

    where: tuple[str, ...]
    before: str
    after: str
    why: str = ""


@dataclass(frozen=True)
class Section:
    """The differences of one kind in a table."""

    title: str
    heads: tuple[str, ...]
    """Of what `where` names."""
    lines: list[Line]


def as_text(changes: Changes, names: Sequence[str]) -> str:
    """For a terminal; `names` are those of the two folders."""
    before, after = (f"{plain(name)}: {size(side)}" for name, side in zip(names, sides(changes).values(), strict=True))
    lines = [f"before  {before}", f"after   {after}", f"records: {record_counts(changes)}"]
    for title, texts in notes(changes):
        lines += [f"{title}:", *(f"  {plain(text, LONG)}" for text in texts)]
    for change in changes.tables:
        lines += ["", f"{title_of(change, plain)}: {counts([change])}"]
        for section in sections(change):
            lines += [f"  {section.title}:", *(f"    {_on_one_line(line)}" for line in section.lines)]
    lines += ["", LEGEND] if changes.tables else [same(changes)]
    return "\n".join(lines) + "\n"


def as_json(changes: Changes) -> str:
    """Plain data; numbers in the column's unit, unrounded."""
    changed = [record for _, record in changes.changed]
    records = {"added": changes.added, "removed": changes.removed, "changed": changed}
    data = {
        "same": changes.nothing,
        "records": {
            **{name: len(side.records) for name, side in sides(changes).items()},
            **{how: [_record_data(record) for record in group] for how, group in records.items()},
        },
        "skipped": {name: list(side.left_out) for name, side in sides(changes).items()},
        "ignored": {name: list(side.foreign) for name, side in sides(changes).items()},
        "tables": [_table_data(change) for change in changes.tables],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def as_markdown(changes: Changes, limit: int = LIMIT) -> str:
    """A table for each table that differs, with long lists folded; first those with decisive verdicts."""
    return fitted(_blocks(changes), limit)


def sides(changes: Changes) -> dict[str, Side]:
    """Both folders."""
    return {"before": changes.before, "after": changes.after}


def size(side: Side) -> str:
    """How much a folder holds."""
    return f"{counted(len(side.records), 'record')}, {counted(len(side.views), 'table')}"


def record_counts(changes: Changes) -> str:
    """How many records were added, removed and changed."""
    return f"{len(changes.added)} added, {len(changes.removed)} removed, {len(changes.changed)} changed"


def notes(changes: Changes) -> list[tuple[str, list[str]]]:
    """Files that are not shown, and records that are gone or changed, which should not happen by accident."""
    lists: list[tuple[str, Iterable[str]]] = []
    for name, side in sides(changes).items():
        lists += [(f"skipped files, {name}", side.left_out), (f"ignored files (no records), {name}", side.foreign)]
    lists.append(("removed records", map(_run_name, changes.removed)))
    lists.append(("changed records", (_run_name(record) for _, record in changes.changed)))
    return [(title, texts) for title, lines in lists if (texts := list(lines))]


def same(changes: Changes) -> str:
    """What is said where no table differs."""
    return "Nothing differs." if changes.nothing else "No table differs."


def title_of(change: TableChange, shown: Callable[[str], str]) -> str:
    """The table and its scale."""
    return f"{shown(change.view.request.table)} at scale {shown(change.view.request.scale)}"


def counts(tables: Sequence[TableChange]) -> str:
    """`1 new table; cells: 3 changed, 2 new; verdicts: 2`, over one table or several."""
    kinds = Counter(table.kind for table in tables)
    cells = Counter(cell.kind for table in tables for cell in table.cells)
    texts = [counted(kinds[kind], f"{kind} table") for kind in ("new", "gone") if kinds[kind]]
    if cells:
        texts.append(f"cells: {', '.join(f'{n} {kind}' for kind, n in sorted(cells.items()))}")
    others = {
        "verdicts": sum(len(table.claims) for table in tables),
        "ranks": sum(len(table.ranks) for table in tables),
        "missing runs": sum(len(table.rows) for table in tables),
        "page text": sum(len(table.words) for table in tables),
    }
    return "; ".join([*texts, *(f"{title}: {n}" for title, n in others.items() if n)])


def sections(change: TableChange) -> list[Section]:
    """The kinds of differences that there are, in reading order."""
    at = ("row", "column")
    cells = [Line(_where(cell), _cell(cell.before), _cell(cell.after)) for cell in change.cells]
    ranks = [Line(_where(rank), _rank(rank.before), _rank(rank.after)) for rank in change.ranks]
    rows = [Line((row_name(gap.row.key),), _gap(gap.before), _gap(gap.after)) for gap in change.rows]
    texts = [Line((name,), _value(before), _value(after)) for name, (before, after) in change.words.items()]
    every = [
        Section("cells", at, cells),
        Section("verdicts", ("claim",), _verdicts(change.claims)),
        Section("ranks", at, ranks),
        Section("missing runs", ("row",), rows),
        Section("page text", ("field",), texts),
    ]
    return [section for section in every if section.lines]


def is_decisive(change: ClaimChange) -> bool:
    """Whether either verdict says more than whether there are enough runs."""
    return bool({change.before.kind, change.after.kind} & DECISIVE)


def _verdicts(claims: Sequence[ClaimChange]) -> list[Line]:
    """Decisive ones one by one; how many others changed from which kind to which."""
    lines = [
        Line((change.claim.name,), change.before.kind, change.after.kind, change.after.reason)
        for change in filter(is_decisive, claims)
    ]
    noun = "other claim" if lines else "claim"
    others = Counter((change.before.kind, change.after.kind) for change in claims if not is_decisive(change))
    return [*lines, *(Line((counted(n, noun),), *kinds) for kinds, n in others.items())]


def _where(change: CellChange | RankChange) -> tuple[str, str]:
    return row_name(change.row.key), f"{change.column.group} {change.column.label}".strip()


def _cell(cell: Cell | None) -> str:
    return DASH if cell is None else f"{measured(cell)} ({counted(cell.n, 'seed')})"


def _rank(rank: int | None) -> str:
    return DASH if rank is None else f"{rank}{' ★' * (rank == 1)}"


def _gap(gap: str | None) -> str:
    return "no such row" if gap is None else gap or "none"


def _value(value: Any) -> str:
    return DASH if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _run_name(record: Record) -> str:
    return f"{record.method.title}, seed {record.seed}, run {record.run_id}"


def _on_one_line(line: Line) -> str:
    why = f"; {plain(line.why, LONG)}" if line.why else ""
    return f"{', '.join(map(plain, line.where))}: {plain(line.before, LONG)} -> {plain(line.after, LONG)}{why}"


def _record_data(record: Record) -> dict[str, Any]:
    return {"run_id": record.run_id, "method": record.method.name, "seed": record.seed, "digest": record.digest}


def _table_data(change: TableChange) -> dict[str, Any]:
    def at(place: CellChange | RankChange) -> dict[str, str]:
        return {"row": row_name(place.row.key), "column": place.column.key}

    def both(before: Any, after: Any) -> dict[str, Any]:
        return {"before": before, "after": after}

    return {
        "table": change.view.request.table,
        "scale": change.view.request.scale,
        "kind": change.kind,
        "cells": [
            {**at(cell), "unit": cell.column.unit, "kind": cell.kind, **both(_data(cell.before), _data(cell.after))}
            for cell in change.cells
        ],
        "verdicts": [
            {
                "row": row_name(verdict.claim.row),
                "reference": row_name(verdict.claim.reference),
                "column": verdict.claim.column.key,
                **both(verdict.before.kind, verdict.after.kind),
                "reason": verdict.after.reason,
            }
            for verdict in change.claims
        ],
        "ranks": [{**at(rank), **both(rank.before, rank.after)} for rank in change.ranks],
        "rows": [
            {"row": row_name(gap.row.key), "kind": gap.kind, **both(gap.before, gap.after)} for gap in change.rows
        ],
        "page_text": {name: both(*pair) for name, pair in change.words.items()},
    }


def _data(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None or cell.mean is None:
        return None
    factor = 100 if cell.column.unit == "percent" else 1
    values = {str(seed): value * factor for seed, value in cell.values.items()}
    sd = None if cell.sd is None else cell.sd * factor
    return {"mean": cell.mean * factor, "sd": sd, "seeds": cell.n, "values": values}


@dataclass(frozen=True)
class Block:
    """A list of a comment with what stands before and after it."""

    title: str
    """What its lines are."""
    opening: str
    lines: Sequence[str]
    closing: str = ""


def fitted(blocks: Iterable[Block], limit: int) -> str:
    """The blocks so far as there is room. The first line that does not fit ends the text, and the rest is counted."""
    room, texts, cut = limit - NOTE, [], Counter[str]()
    for block in blocks:
        length, shown = len(block.opening) + len(block.closing) + 3, 0
        while not cut and shown < len(block.lines) and length + len(block.lines[shown]) + 1 <= room:
            length += len(block.lines[shown]) + 1
            shown += 1
        if shown:
            room -= length
            texts.append("\n".join([block.opening, *block.lines[:shown], *filter(None, [block.closing]), ""]))
        cut += Counter({block.title: len(block.lines) - shown})
    if cut:
        missing = ", ".join(f"{title} {n}" for title, n in cut.items())
        texts.append(f"**Truncated.** Lines not shown: {missing}. `benchsuite diff` prints all of them.\n")
    return "\n".join(texts)


def _blocks(changes: Changes) -> Iterator[Block]:
    before, after = map(size, sides(changes).values())
    summary = f"{counts(changes.tables)}. {LEGEND}" if changes.tables else same(changes)
    lines = [f"Records: {record_counts(changes)}.", f"Before: {before}; after: {after}.", "", summary]
    yield Block("summary", "### Changes on the pages\n", lines)
    for title, texts in notes(changes):
        yield _folded(title, "", [""], [f"- {code(text, LONG)}" for text in texts])
    if len(changes.tables) > 1:
        rows = [row([title_of(change, code), counts([change])]) for change in changes.tables]
        yield _folded("tables that differ", "", ["", *head(["table", "differences"])], rows)
    for change in sorted(changes.tables, key=lambda change: not any(map(is_decisive, change.claims))):
        above = f"#### {title_of(change, code)}\n\n"
        for section in sections(change):
            why = any(line.why for line in section.lines)
            heads = head([*section.heads, "before", "after", *(["why"] if why else [])])
            rows = [row(_cells(line, why)) for line in section.lines]
            yield _folded(section.title, above, ["", *heads], rows)
            above = ""


def _cells(line: Line, why: bool) -> list[str]:
    reason = code(line.why, LONG) if line.why else ""
    return [*map(code, line.where), code(line.before, LONG), code(line.after, LONG), *([reason] if why else [])]


def _folded(title: str, above: str, head: Sequence[str], lines: Sequence[str]) -> Block:
    """A list under its title; a long one opens at a click."""
    if len(lines) <= FOLD:
        return Block(title, "\n".join([f"{above}{title.capitalize()}:", *head]), lines)
    summary = f"{above}<details><summary>{title.capitalize()}: {len(lines)}</summary>"
    return Block(title, "\n".join([summary, *head]), lines, "\n</details>")
