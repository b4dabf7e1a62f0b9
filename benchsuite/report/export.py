"""A table for other programs: CSV, JSON, LaTeX and Markdown, cell by cell from the one table object."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchsuite.analysis.results import table_cells
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.harmless import csv_text, json_lines
from benchsuite.papers.schema import row_name
from benchsuite.report import markdown
from benchsuite.report.export_options import DEFAULT, ExportOptions
from benchsuite.report.latex import as_latex
from benchsuite.report.numbers import OURS, counted, counts, measured, published, units
from benchsuite.report.paper_table import PaperTable, PrintedNumber

CELL = ("scale", "backbone", "variant", "row", "column", "measured_on", "unit")
OURS_OF_CELL = ("n", "rank", "best", "method", "setup_id")
SPREAD_OF_CELL = {"ci": ("low", "high"), "sd": ("sd",), "se": ("se",), "none": ()}
IN_UNIT = ("published", "mean", "sd", "low", "high")
"""Keys of a cell whose numbers are in the column's unit."""
OF_TABLE = ("table", "scale", "regime")
OF_ROW = ("backbone", "variant", "row", "method")
OF_COLUMN = ("column", "measure", "measured_on", "unit")
"""Keys that JSON has once for the table, for each row, and for each column."""


def as_csv(view: TableView, options: ExportOptions = DEFAULT) -> str:
    """A line a cell; numbers in the column's unit, to eight digits. Options say whose numbers, and which spread."""
    spread = SPREAD_OF_CELL[options.spread] if options.spread else ("sd", "low", "high")
    theirs = ("published",) if options.show != "ours" else ()
    ours = ("mean", *spread, *OURS_OF_CELL) if options.show != "published" else ()
    needed = {"ours": "mean", "published": "published", "both": "row"}[options.show]
    columns = (*CELL, *theirs, *ours)
    cells = [
        {**cell, "se": None if cell["sd"] is None else cell["sd"] / math.sqrt(cell["n"])}
        for cell in _cells_in_unit(view)
        if cell[needed] is not None
    ]
    return csv_text([columns, *([cell[column] for column in columns] for cell in cells)])


def as_json(view: TableView) -> str:
    """Everything of each cell, the values of each seed too; what many share stands there once."""
    cells = [
        {"name": row_name((cell["backbone"], cell["variant"], cell["row"])), **cell} for cell in _cells_in_unit(view)
    ]
    columns = {cell["column"]: {key: cell[key] for key in OF_COLUMN} for cell in cells}
    once = {*OF_TABLE, *OF_ROW, *OF_COLUMN} - {"column"}
    content = {
        "table": view.asked.table,
        "scale": view.asked.scale,
        "regime": view.asked.regime,
        "title": view.table.title,
        "description": view.setting.recipe.description,
        "rows": [_row(row) for row in view.rows],
        "columns": list(columns.values()),
        "cells": [{key: value for key, value in cell.items() if key not in once} for cell in cells],
    }
    return json_lines(content) + "\n"


def _row(row: TableRow) -> dict[str, str]:
    about = {"backbone": row.backbone, "variant": row.variant, "row": row.label, "method": row.method}
    return {"name": row_name(row.key), **about, "gap": row.gap}


def as_markdown(table: PaperTable) -> str:
    """Published / ours, a row each, and what a reader must know below."""
    counted_rows = table.has_counts
    lines = markdown.head(
        ["", *(markdown.text(column.name) for column in table.columns), *(["n"] if counted_rows else [])]
    )
    for line in table.lines:
        numbers = [list(map(_number, kind)) for kind in (line.theirs, line.ours) if kind]
        cells = [" / ".join(pair) for pair in zip(*numbers, strict=True)]
        n = [counts(line.row)] if counted_rows else []
        name = f"{table.view.tower(line.row.backbone)}: {line.row.shown}"
        lines.append(markdown.row([markdown.text(name), *cells, *n]))
    about = [*table.caption("Published / ours"), *table.legend, *table.notes]
    return "\n".join([*lines, "", markdown.text(" ".join(about))]) + "\n"


def _number(number: PrintedNumber) -> str:
    shown = f"{number.text} ± {number.spread}" if number.spread else number.text
    return f"{f'**{shown}**' if number.bold else shown}{' ★' if number.star else ''}"


FORMATS: Mapping[str, Callable[[TableView, ExportOptions], str]] = {
    "csv": as_csv,
    "json": lambda view, _: as_json(view),
    "latex": lambda view, options: as_latex(PaperTable(view, options)),
    "md": lambda view, options: as_markdown(PaperTable(view, options)),
}
SUFFIXES = {"csv": "csv", "json": "json", "latex": "tex", "md": "md"}
"""How files of each format end."""


def _cells_in_unit(view: TableView) -> Iterator[dict[str, Any]]:
    """As `load_table` has them, with percentages in the place of fractions where the column is in percent."""
    for cell in table_cells(view):
        factor = 100 if cell["unit"] == "percent" else 1
        numbers = {key: None if cell[key] is None else _rounded(cell[key] * factor) for key in IN_UNIT}
        yield {
            **cell,
            **numbers,
            "values": {str(seed): _rounded(value * factor) for seed, value in cell["values"].items()},
        }


def _rounded(value: float) -> float:
    """To as many digits as single precision can need, without the tail of a product: 26.475 for 26.474999999999998."""
    return float(f"{value:.8g}")


def table_lines(view: TableView) -> list[str]:
    """Published above ours in each row; gaps with their reasons."""
    title = "" if view.table.title in ("", view.asked.table) else f": {view.table.title}"
    parts = [
        f"{view.asked.table} at scale {view.asked.at}{title}",
        f"{units(view.columns)}; ours is {OURS}. {view.setting.recipe.description}",
        "",
    ]
    for backbone, rows in view.backbones.items():
        parts.append(view.tower_here(backbone))
        parts += [*_aligned([*_heads(view), *(line for row in rows for line in _lines(row))]), ""]
    return parts


def _heads(view: TableView) -> list[list[str]]:
    groups = [c.group if i == 0 or c.group != view.columns[i - 1].group else "" for i, c in enumerate(view.columns)]
    return [["", "", *groups, ""], ["", "", *(column.label for column in view.columns), ""]]


def _lines(row: TableRow) -> list[list[str]]:
    theirs = [row.shown, "published", *(published(cell) for cell in row.cells), ""]
    notes = "; ".join(part for part in (counted(row.seeds, "seed") if row.measured else "", row.gap) if part)
    return [theirs, ["", "ours", *(measured(cell) for cell in row.cells), notes]]


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    padded = [[*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]] for line in lines]
    return ["  ".join(line).rstrip() for line in padded]
