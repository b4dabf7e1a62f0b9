"""The table for a terminal, plain text."""

from collections.abc import Sequence

from benchsuite.analysis.table import TableRow, TableView
from benchsuite.report.numbers import OURS, measured, published, seeds, units


def table_text(view: TableView) -> str:
    """Published above ours in each row; gaps with their reasons."""
    parts = [
        f"{view.asked.table} at scale {view.asked.scale}: {view.table.title}",
        f"{units(view)}; ours is {OURS}. {view.asked.says}",
        "",
    ]
    for backbone, rows in view.backbones.items():
        parts.append(f"{backbone}, here {view.asked.backbones.get(backbone, 'not mapped')}")
        parts += [*_aligned([*_heads(view), *(line for row in rows for line in _lines(row))]), ""]
    return "\n".join(parts)


def _heads(view: TableView) -> list[list[str]]:
    groups = [c.group if i == 0 or c.group != view.columns[i - 1].group else "" for i, c in enumerate(view.columns)]
    return [["", "", *groups, ""], ["", "", *(column.label for column in view.columns), ""]]


def _lines(row: TableRow) -> list[list[str]]:
    theirs = [row.shown, "published", *(published(cell) for cell in row.cells), ""]
    notes = "; ".join(part for part in (seeds(row.seeds) if row.measured else "", row.gap) if part)
    return [theirs, ["", "ours", *(measured(cell) for cell in row.cells), notes]]


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    padded = [[*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]] for line in lines]
    return ["  ".join(line).rstrip() for line in padded]
