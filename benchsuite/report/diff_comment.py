"""What differs between two results folders as a comment on a pull request: harmless Markdown of limited length."""

from collections import Counter
from collections.abc import Sequence

from benchsuite.analysis.diff import Changes, TableChange
from benchsuite.report.diff import (
    LEGEND,
    LONG,
    Line,
    Part,
    counts,
    is_telling,
    lost,
    moved,
    named,
    parts,
    same,
    size,
)
from benchsuite.report.foreign import code

LIMIT = 60_000
"""Characters. GitHub takes 65,536, and whoever posts the comment may have a word to add."""
NOTE = 400
"""Characters kept for saying what was cut."""
FOLD = 10
"""Lines of a list that are shown without being unfolded."""


class Comment:
    """Text that grows block by block up to a limit. The first line that does not fit ends it: the rest is counted."""

    def __init__(self, limit: int) -> None:
        self._room = limit - NOTE
        self._blocks: list[str] = []
        self._cut: Counter[str] = Counter()

    def add(self, what: str, opening: str, lines: Sequence[str], closing: str = "") -> None:
        """A list with what stands before and after it, so far as there is room; `what` names what its lines are."""
        kept = 0
        length = len(opening) + len(closing) + 3
        while not self._cut and kept < len(lines) and length + len(lines[kept]) + 1 <= self._room:
            length += len(lines[kept]) + 1
            kept += 1
        if kept < len(lines):
            self._cut[what] += len(lines) - kept
        if kept:
            self._room -= length
            self._blocks.append("\n".join([opening, *lines[:kept], *([closing] if closing else []), ""]))

    def text(self) -> str:
        """All of it, with a note of what was cut."""
        cut = ", ".join(f"{what} {n}" for what, n in self._cut.items())
        note = f"**Cut here for its length**, lines left out: {cut}. `benchsuite diff` shows all of them.\n"
        return "\n".join([*self._blocks, *([note] if cut else [])])


def as_markdown(found: Changes, limit: int = LIMIT) -> str:
    """A table for each table that differs, with long lists folded; first those whose claims are judged otherwise."""
    comment = Comment(limit)
    comment.add("the summary", "### What changes on the pages\n", _summary(found))
    for name, side in (("before", found.before), ("after", found.after)):
        some = [*side.left_out, *(f"{one}: not a record, left alone" for one in side.foreign)]
        _list(comment, f"files that are not shown, {name}", some)
    _list(comment, "records that are gone or changed", [f"{how}: {one}" for how, one in lost(found)])
    if len(found.tables) > 1:
        overview = [_row([_title(one), counts([one])]) for one in found.tables]
        _folding(comment, "tables that differ", "", ("table", "differences"), overview)
    for table in sorted(found.tables, key=lambda one: not any(map(is_telling, one.claims))):
        for number, part in enumerate(parts(table)):
            above = "" if number else f"#### {_title(table)}\n\n"
            why = any(line.why for line in part.lines)
            heads = (*part.heads, "before", "after", *(["why"] if why else []))
            _folding(comment, part.what, above, heads, [_row(_cells(part, line, why)) for line in part.lines])
    return comment.text()


def _summary(found: Changes) -> list[str]:
    told = counts(found.tables) if found.tables else same(found)
    lines = [f"Records: {moved(found)}.", f"Before: {size(found.before)}; after: {size(found.after)}.", ""]
    return [*lines, f"{told}{'. ' + LEGEND if found.tables else ''}"]


def _list(comment: Comment, what: str, lines: Sequence[str]) -> None:
    if lines:
        _folded(comment, what, "", "", [f"- {code(one, LONG)}" for one in lines])


def _folding(comment: Comment, what: str, above: str, heads: Sequence[str], rows: Sequence[str]) -> None:
    _folded(comment, what, above, f"{_row(heads)}\n{_row(['---'] * len(heads))}", rows)


def _folded(comment: Comment, what: str, above: str, head: str, lines: Sequence[str]) -> None:
    """A list under its name; a long one opens at a click."""
    top = f"\n\n{head}" if head else "\n"
    if len(lines) <= FOLD:
        comment.add(what, f"{above}{what.capitalize()}:{top}", lines)
    else:
        opening = f"{above}<details><summary>{what.capitalize()}: {len(lines)}</summary>{top}"
        comment.add(what, opening, lines, "\n</details>")


def _title(change: TableChange) -> str:
    table, scale = named(change.view)
    return f"{code(table)} at scale {code(scale)}"


def _cells(part: Part, line: Line, why: bool) -> list[str]:
    sides = [line.before, line.after]
    shown = sides if part.own else [code(one, LONG) for one in sides]
    reason = [code(line.why, LONG) if line.why else ""] if why else []
    return [*map(code, line.where), *shown, *reason]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
