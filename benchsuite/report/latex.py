"""A table in LaTeX: it compiles as it is, whatever characters labels have."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence

from benchsuite.analysis.table_view import grouped
from benchsuite.files import packaged
from benchsuite.report.numbers import DASH, counts
from benchsuite.report.paper_table import PaperTable, PrintedLine, PrintedNumber

TABLES: Mapping[str, Mapping[str, str]] = tomllib.loads(packaged("report/latex.toml"))
SPECIAL, LETTERS, ACCENTS = TABLES["special"], TABLES["letters"], TABLES["accents"]
BREAK = "\x1f"
"""Stands between hyphens, which would become a dash."""
DAGGER = "$^{\\dagger}$"


def tex(text: str) -> str:
    """Plain text for LaTeX, on one line. A character that its standard fonts lack is shown by its code point."""
    words = re.sub("-(?=-)", f"-{BREAK}", " ".join(text.replace(BREAK, " ").split()))
    return "".join(map(_character, words))


def as_latex(table: PaperTable) -> str:
    """A floating booktabs table; published above ours; marks beside ours; a dagger where the paper quotes them."""
    asked = table.view.asked
    width = 1 + len(table.columns) + table.has_counts
    quoted = any(_dagger(table, line) for line in table.lines)
    caption = [*table.caption("Published numbers above ours"), *table.legend, *table.against_legend]
    notes = [*table.notes, *(["† quoted by the paper."] if quoted else [])]
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        "\\begin{table}[t]",
        "\\centering",
        f"\\caption{{{tex(' '.join(caption))}}}",
        f"\\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', asked.name)}}}",
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{l{'r' * (width - 1)}}}",
        "\\toprule",
        *_heads(table),
    ]
    for backbone, rows in table.backbones.items():
        lines += ["\\midrule", f"\\multicolumn{{{width}}}{{l}}{{\\textit{{{tex(table.view.tower(backbone))}}}}} \\\\"]
        for line in rows:
            lines += row_lines(table, line)
    lines += ["\\bottomrule", "\\end{tabular}}"]
    if notes:
        lines += ["\\par\\smallskip", f"\\parbox{{\\linewidth}}{{\\footnotesize {tex(' '.join(notes))}}}"]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _heads(table: PaperTable) -> list[str]:
    first, rules, start = [""], [], 2
    for name, width in grouped(table.columns):
        first.append(f"\\multicolumn{{{width}}}{{c}}{{{tex(name)}}}")
        rules.append(f"\\cmidrule(lr){{{start}-{start + width - 1}}}" if name else "")
        start += width
    last = [""] * table.has_counts
    labels = ["", *(tex(column.label) for column in table.columns), *(["$n$"] * table.has_counts)]
    named = [_line([*first, *last]), "".join(rules)] if any(rules) else []
    return [*named, _line(labels)]


def row_lines(table: PaperTable, line: PrintedLine) -> list[str]:
    """A row: its published numbers, then ours."""
    label = f"{tex(line.row.shown)}{DAGGER if _dagger(table, line) else ''}"
    n = [tex(counts(line.row))] * table.has_counts
    blank = [""] * table.has_counts
    kinds = [list(map(_number, numbers)) for numbers in (line.theirs, line.ours) if numbers]
    return [
        _line([label if number == 0 else "", *kind, *(n if number == len(kinds) - 1 else blank)])
        for number, kind in enumerate(kinds)
    ]


def _dagger(table: PaperTable, line: PrintedLine) -> bool:
    return bool(table.has_theirs and line.row.quoted)


def _number(number: PrintedNumber) -> str:
    if number.text == DASH:
        return "--"
    mean = f"\\mathbf{{{number.text}}}" if number.bold else number.text
    marks = [*(["\\star"] if number.star else []), *([tex(number.against).strip("$")] if number.against else [])]
    above = f"^{{{''.join(marks)}}}" if marks else ""
    spread = f" \\pm {number.spread}" if number.spread else ""
    return f"${mean}{above}{spread}$"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    base, *accents = list(unicodedata.normalize("NFD", character))
    if character in LETTERS:
        return f"\\{LETTERS[character]}{{}}"
    if base.isalpha() and base.isascii() and len(accents) == 1 and accents[0] in ACCENTS:
        return f"\\{ACCENTS[accents[0]]}{{{base}}}"
    return character if character.isascii() and character.isprintable() else f"\\texttt{{U+{ord(character):04X}}}"
