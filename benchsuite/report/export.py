"""A table for other programs: CSV, JSON, LaTeX and Markdown, cell by cell from the one table object."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.report import markdown
from benchsuite.report.numbers import OURS, counted, counts, measured, published, units

CSV_HEAD = (
    "scale", "backbone", "variant", "row", "column", "measured_on", "unit", "published", "mean", "sd", "low", "high",
    "seeds", "place", "best", "method", "setup_id",
)  # fmt: skip


def as_csv(view: TableView) -> str:
    """A line a cell; numbers in the column's unit, unrounded."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_HEAD, lineterminator="\n")
    writer.writeheader()
    for cell in _cells(view):
        writer.writerow({key: "" if cell[key] is None else cell[key] for key in CSV_HEAD})
    return text.getvalue()


def as_json(view: TableView) -> str:
    """Everything of each cell, the values of each seed too."""
    told = {
        "table": view.request.table,
        "scale": view.request.scale,
        "title": view.table.title,
        "description": view.request.description,
        "stand_ins": view.stand_ins,
        "cells": list(_cells(view)),
        "gaps": {"/".join(row.key): row.gap for row in view.rows if row.gap},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def as_markdown(view: TableView) -> str:
    """Published / ours ± half of its interval, and over how many seeds; the best in bold."""
    heads = ["", *(f"{c.group} {c.label}".strip() for c in view.columns), "n"]
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
    told = " ".join(["$^\\dagger$ quoted by the paper."] if any(row.quoted for row in view.rows) else [])
    print_ = f"{tex(units(view))}: published above ours. {tex(' '.join(_fine_print(view)))} {told}".strip()
    note = f"\\multicolumn{{{width + 2}}}{{p{{\\linewidth}}}}{{\\footnotesize {print_}}} \\\\"
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
    return "".join(SPECIAL.get(one, one) for one in text)


def _fine_print(view: TableView) -> list[str]:
    """What a reader of the table alone must know: ours are measured here, on what, and how."""
    request = view.request
    here = [f"{name} is {what}" for name, what in (*view.backbones_here.items(), *view.stand_ins.items())]
    return [
        f"Ours, measured at scale {request.scale}: {OURS}.",
        *([f"In ours, {'; '.join(here)}."] if here else []),
        "Bold: no other row of the board separably beats it, where any is beaten.",
    ]


def _cells(view: TableView) -> Iterator[dict[str, Any]]:
    for row in view.rows:
        for cell in row.cells:
            rank = view.rank(row, cell)
            factor = 100 if cell.column.unit == "percent" else 1
            yield {
                "scale": view.request.scale,
                "backbone": row.backbone,
                "variant": row.variant,
                "row": row.label,
                "column": cell.column.key,
                "measured_on": view.request.stand_ins.get(cell.column.key, ""),
                "unit": cell.column.unit,
                "published": cell.source.value if cell.source else None,
                "mean": None if cell.mean is None else cell.mean * factor,
                "sd": None if cell.sd is None else cell.sd * factor,
                "low": None if cell.low is None else cell.low * factor,
                "high": None if cell.high is None else cell.high * factor,
                "seeds": cell.n,
                "values": {str(seed): value * factor for seed, value in cell.values.items()},
                "place": rank.rank if rank else None,
                "tied_with": list(rank.tied_with) if rank else [],
                "best": view.is_best(row, cell),
                "method": row.method,
                "setup_id": next((record.setup_id for record in cell.records.values()), ""),
            }


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
