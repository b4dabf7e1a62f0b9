"""What differs between two results folders: for a terminal and for programs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from benchsuite.analysis.folder_diff import KINDS, Difference, FolderDiff, FolderSide, Kind
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.verdict import Verdict
from benchsuite.harmless import json_text
from benchsuite.records.schema import Record
from benchsuite.report.markdown import plain
from benchsuite.report.numbers import DASH, counted, measured

LONG = 400
"""Characters of a name, value or reason that are shown."""
DECISIVE = {"reproduced", "opposite", "equivalent", "premise not met", "not exercised", "not comparable"}
LEGEND = (
    "Cells: mean ± half-width of the 95% CI, in percent or as plain numbers (number of seeds). ★: best, see the page."
)


class DiffLine(NamedTuple):
    """One difference, or several claims with the same two verdicts."""

    where: str
    before: str
    after: str
    why: str = ""


def as_text(diff: FolderDiff) -> str:
    """For a terminal."""
    lines = [f"{name:<7} {plain(side.folder)}: {_size(side)}" for name, side in diff.sides.items()]
    lines.append(_record_counts(diff))
    for title, texts in _notes(diff):
        lines += [f"{title}:", *(f"  {plain(text, LONG)}" for text in texts)]
    for name, differences in diff.tables.items():
        lines += ["", f"{_title(*name)}: {_counts(differences)}"]
        for title, section in _sections(differences).items():
            lines.append(f"  {title}:")
            for where, before, after, why in ((plain(text, LONG) for text in line) for line in section):
                lines.append(f"    {where}: {before} -> {after}{why and f'; {why}'}")
    lines += ["", LEGEND] if diff.tables else [_no_table(diff)]
    return "\n".join(lines) + "\n"


def as_json(diff: FolderDiff) -> str:
    """Plain data; numbers in the column's unit, unrounded."""
    data = {
        "same": diff.same,
        "folders": {
            name: {"records": len(side.records), "skipped": side.skipped, "ignored": side.ignored}
            for name, side in diff.sides.items()
        },
        "records": list(map(_difference_data, diff.records)),
        "tables": [
            {"table": table, "scale": scale, "differences": list(map(_difference_data, differences))}
            for (table, scale), differences in diff.tables.items()
        ],
    }
    return json_text(data, indent=1) + "\n"


def _size(side: FolderSide) -> str:
    return f"{counted(len(side.records), 'record')}, {counted(len(side.views), 'table')}"


def _record_counts(diff: FolderDiff) -> str:
    return _counts(diff.records) or "records: equal"


def _notes(diff: FolderDiff) -> Iterator[tuple[str, Sequence[str]]]:
    """Files that are not shown, and records that were removed or changed, which should not happen by accident."""
    for name, side in diff.sides.items():
        if side.skipped:
            yield f"skipped files, {name}", side.skipped
        if side.ignored:
            yield f"ignored files (no records), {name}", side.ignored
    for change in ("removed", "changed"):
        if names := [difference.item.name for difference in diff.records if difference.change == change]:
            yield f"{change} records", names


def _no_table(diff: FolderDiff) -> str:
    return "Nothing differs." if diff.same else "No table differs."


def _title(table: str, scale: str) -> str:
    return f"{plain(table)} at scale {plain(scale)}"


def _counts(differences: Iterable[Difference]) -> str:
    """`cells: 2 added, 3 changed; verdicts: 2 changed`, in one table or several."""
    counts: dict[Kind, Counter[str]] = {}
    for difference in differences:
        counts.setdefault(difference.item.kind, Counter())[difference.change] += 1
    return "; ".join(
        f"{kind}: {', '.join(f'{n} {change}' for change, n in sorted(counts[kind].items()))}"
        for kind in KINDS
        if kind in counts
    )


def _sections(differences: Iterable[Difference]) -> dict[Kind, list[DiffLine]]:
    """The lines of each kind. Verdicts that only say whether there are enough runs are counted."""
    groups = groupby(differences, key=lambda difference: difference.item.kind)
    return {kind: _lines(list(group)) for kind, group in groups if kind != "tables"}


def _lines(differences: Sequence[Difference]) -> list[DiffLine]:
    lines, minor = [], Counter[tuple[str, str]]()
    for difference in differences:
        before, after = (_shown(value, difference.item.kind) for value in (difference.before, difference.after))
        if difference.item.kind == "verdicts" and not _is_decisive(difference):
            minor[before, after] += 1
        else:
            why = difference.after.reason if difference.item.kind == "verdicts" and difference.after else ""
            lines.append(DiffLine(difference.item.name, before, after, why))
    noun = "other claim" if lines else "claim"
    return [*lines, *(DiffLine(counted(n, noun), *verdicts) for verdicts, n in minor.items())]


def _is_decisive(difference: Difference) -> bool:
    """Whether it is a verdict, and before or after says more than whether there are enough runs."""
    if difference.item.kind != "verdicts":
        return False
    return bool({verdict.kind for verdict in (difference.before, difference.after) if verdict} & DECISIVE)


def _shown(value: Any, kind: Kind) -> str:
    """One side of a difference, as on the pages."""
    if kind == "missing runs":
        return "no such row" if value is None else value or "none"
    if value is None:
        return DASH
    if isinstance(value, Cell):
        return f"{measured(value)} ({counted(value.n, 'seed')})"
    if isinstance(value, Verdict):
        return value.kind
    if kind == "ranks":
        return f"{value}{' ★' * (value == 1)}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _difference_data(difference: Difference) -> dict[str, Any]:
    sides = {"before": _data(difference.before), "after": _data(difference.after)}
    return {"kind": difference.item.kind, **dict(difference.item.keys), "change": difference.change, **sides}


def _data(value: Any) -> Any:
    if isinstance(value, Record):
        return {"method": value.method.name, "seed": value.seed, "digest": value.digest}
    if isinstance(value, Verdict):
        return {"verdict": value.kind, "reason": value.reason}
    if not isinstance(value, Cell):
        return value
    factor = 100 if value.column.unit == "percent" else 1
    values = {str(seed): number * factor for seed, number in value.values.items()}
    mean, sd = (None if number is None else number * factor for number in (value.mean, value.sd))
    return {"unit": value.column.unit, "mean": mean, "sd": sd, "seeds": value.n, "values": values}
