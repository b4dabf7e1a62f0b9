"""A table for other programs: CSV, JSON, LaTeX and Markdown, cell by cell from the one table object."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchsuite.analysis.results import table_cells
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.report import markdown
from benchsuite.report.numbers import OURS, counted, counts, measured, published, units

CSV_HEAD = (
    "scale", "backbone", "variant", "row", "column", "measured_on", "unit", "published", "mean", "sd", "low", "high",
    "n", "rank", "best", "method", "setup_id",
)  # fmt: skip
IN_UNIT = ("published", "mean", "sd", "low", "high")
"""Keys of a cell whose numbers are in the column's unit."""


def as_csv(view: TableView) -> str:
    """A line a cell; numbers in the column's unit, unrounded."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_HEAD, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_cells_in_unit(view))
    return text.getvalue()


def as_json(view: TableView) -> str:
    """Everything of each cell, the values of each seed too."""
    content = {
        "table": view.request.table,
        "scale": view.request.scale,
        "title": view.table.title,
        "description": view.request.description,
        "stand_ins": view.stand_ins,
        "cells": list(_cells_in_unit(view)),
        "gaps": {"/".join(row.key): row.gap for row in view.rows if row.gap},
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_markdown(view: TableView) -> str:
    """Published / ours ± half of its interval, and over how many seeds; the best in bold."""
    heads = ["", *(column.name for column in view.columns), "n"]
    lines = markdown.head(heads)
    for row in view.rows:
        cells = [f"{published(cell)} / {_bold(view, row, cell, '**', '**')}" for cell in row.cells]
        lines.append(markdown.row([f"{row.backbone}: {row.shown}", *cells, counts(row)]))
    return "\n".join([*lines, "", f"{units(view)}: published / ours. {' '.join(_fine_print(view))}"]) + "\n"


def as_latex(view: TableView) -> str:
    """A booktabs table: published above ours; the best in bold, a dagger where the paper only quotes the number."""
    width = len(view.columns)
    groups = " & ".join(f"\\multicolumn{{{n}}}{{c}}{{{tex(name)}}}" for name, n in view.groups)
    lines = [
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{l{'r' * (width + 1)}}}",
        "\\toprule",
        f" & {groups} \\\\",
        " & ".join(["", *(tex(column.label) for column in view.columns), "$n$"]) + " \\\\",
    ]
    for backbone, rows in view.backbones.items():
        lines += ["\\midrule", f"\\multicolumn{{{width + 2}}}{{l}}{{\\textit{{{tex(backbone)}}}}} \\\\"]
        for row in rows:
            dagger = "$^\\dagger$" if row.quoted else ""
            theirs = [tex(published(cell)) for cell in row.cells]
            ours = [_bold(view, row, cell, "\\textbf{", "}", tex) for cell in row.cells]
            lines += [
                f"{tex(row.shown)}{dagger} & {' & '.join(theirs)} \\\\",
                f" & {' & '.join(ours)} & {tex(counts(row))} \\\\",
            ]
    quoted = " $^\\dagger$ quoted by the paper." if any(row.quoted for row in view.rows) else ""
    fine_print = f"{tex(units(view))}: published above ours. {tex(' '.join(_fine_print(view)))}{quoted}"
    note = f"\\multicolumn{{{width + 2}}}{{p{{\\linewidth}}}}{{\\footnotesize {fine_print}}} \\\\"
    lines += ["\\bottomrule", note, "\\end{tabular}"]
    return "\n".join(lines) + "\n"


FORMATS: Mapping[str, Callable[[TableView], str]] = {
    "csv": as_csv,
    "json": as_json,
    "latex": as_latex,
    "md": as_markdown,
}

SUFFIXES = {"csv": "csv", "json": "json", "latex": "tex", "md": "md"}
"""How files of each format end."""

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "−": "$-$", "·": r"$\cdot$",
    "→": r"$\to$",
}  # fmt: skip


def tex(text: str) -> str:
    """Plain text for LaTeX."""
    return "".join(SPECIAL.get(character, character) for character in text)


def _fine_print(view: TableView) -> list[str]:
    """What a reader of the table alone must know: ours are measured here, on what, and how."""
    request = view.request
    towers = {name: request.backbones[name] for name in view.backbones if name in request.backbones}
    stand_ins = [f"{name} is {what}" for name, what in (*towers.items(), *view.stand_ins.items())]
    return [
        f"Ours, measured at scale {request.scale}: {OURS}.",
        *([f"In ours, {'; '.join(stand_ins)}."] if stand_ins else []),
        "Bold: no row is significantly better (Holm, alpha 0.05).",
    ]


def _cells_in_unit(view: TableView) -> Iterator[dict[str, Any]]:
    """As `load_table` has them, with percentages in the place of fractions where the column is in percent."""
    for cell in table_cells(view):
        factor = 100 if cell["unit"] == "percent" else 1
        numbers = {key: None if cell[key] is None else cell[key] * factor for key in IN_UNIT}
        yield {**cell, **numbers, "values": {str(seed): value * factor for seed, value in cell["values"].items()}}


def _bold(view: TableView, row: TableRow, cell: Cell, start: str, end: str, escape: Callable[[str], str] = str) -> str:
    shown = escape(measured(cell))
    return f"{start}{shown}{end}" if view.is_best(row, cell) else shown


def table_text(view: TableView) -> str:
    """Published above ours in each row; gaps with their reasons."""
    parts = [
        f"{view.request.table} at scale {view.request.scale}: {view.table.title}",
        f"{units(view)}; ours is {OURS}. {view.request.description}",
        "",
    ]
    for backbone, rows in view.backbones.items():
        parts.append(f"{backbone}, here {view.request.backbones.get(backbone, 'not mapped')}")
        parts += [*_aligned([*_heads(view), *(line for row in rows for line in _lines(row))]), ""]
    return "\n".join(parts)


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
