import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import VALUES, MakeRecord, build
from support.latex_reader import BARE, COMMAND, require_whole, rows_of

from benchsuite.analysis.table_view import TableView
from benchsuite.report.export_options import ExportOptions
from benchsuite.report.latex import SPECIAL as KNOWN
from benchsuite.report.latex import as_latex, tex
from benchsuite.report.paper_table import PaperTable

SPECIAL = "\\&%$#_{}~^<>|\"`'[]*-–—±−×τΩ★†…é\n\t\0\x1f😀"
OPTIONS = [
    ExportOptions(),
    ExportOptions("ours"),
    ExportOptions("published"),
    ExportOptions(digits=3),
]
HOSTILE = '[2] *x* a_b & 5% $1 #2 {y ~^ \\\\ --- τ±😀 <z>|"`'


@pytest.fixture
def view(make_record: MakeRecord) -> TableView:
    return build(make_record, VALUES)


@given(st.text(st.one_of(st.sampled_from(SPECIAL), st.characters())))
def test_any_text_is_escaped(text: str) -> None:
    escaped = tex(text)
    require_whole(escaped)
    assert "\n" not in escaped
    assert escaped.isprintable()
    assert escaped.isascii()
    assert not escaped.startswith(("[", "*"))
    assert not BARE.search(COMMAND.sub("", escaped).replace("$-$", ""))
    commands = {command for command in COMMAND.findall(escaped) if command.isalpha()}
    assert all(re.search(rf"\\{command}(\{{|\$)", escaped) for command in commands)
    assert not re.search("--", escaped) or set(text) & set("–—")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b & 5% ± #1 {x} ~^\\", r"a\_b \& 5\% $\pm$ \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("τ_min ≤ é", r"$\tau$\_min $\leq$ \'{e}"),
        ("a--b – c", "a-{}-b -- c"),
        ("[1]\n*", "{[}1{]} {*}"),
        ("😀", r"\texttt{U+1F600}"),
    ],
)
def test_characters_keep_their_meaning(text: str, escaped: str) -> None:
    assert tex(text) == escaped


@pytest.mark.parametrize("options", OPTIONS)
def test_each_row_is_as_wide_as_the_table(view: TableView, options: ExportOptions) -> None:
    table = PaperTable(replace(view, rows=[replace(view.rows[0], label=HOSTILE), *view.rows[1:]]), options)
    text = as_latex(table)
    require_whole(text)
    rows = rows_of(text)
    assert rows[0][1:] == [r"\multicolumn{1}{c}{A \& B}", r"\multicolumn{1}{c}{G}"]
    assert len(rows) == 3 + len(table.lines) * (table.has_theirs + table.has_ours)
    assert text.count("\\caption{T. ") == text.count("\\label{tab:p-t-small}") == 1


def test_marks_of_a_number_and_of_a_quoted_row(view: TableView) -> None:
    text = as_latex(PaperTable(view, ExportOptions()))
    assert r" & $\mathbf{41.5}^{\star} \pm 1.8$" in text.replace("2.1", "1.8")
    assert r"Twin\_2$^{\dagger}$ & $\mathbf{35.00}$" in text
    assert "$\\dagger$ quoted by the paper." in text
    assert "dagger" not in as_latex(PaperTable(view, ExportOptions("ours")))


def test_signs_say_which_row_differs_from_the_reference(make_record: MakeRecord) -> None:
    """ "Best" is the reference: first of the table. On the second column lower is better."""
    close = {name: (*values, values[-1] + 0.001) for name, values in VALUES.items()}
    table = PaperTable(build(make_record, close), ExportOptions())
    assert [[number.against for number in line.ours] for line in table.lines] == [
        ["", ""],
        ["", ""],
        ["−", "+"],
        ["", ""],
    ]
    text = as_latex(table)
    assert "^{-}" in text
    assert "^{\\star+}" in text
    caption = text[text.index("\\caption") : text.index("\\label")]
    assert "+: significantly better, $-$: significantly worse than Best (paired t-tests" in caption
    assert "significantly worse" not in as_latex(PaperTable(table.view, ExportOptions("published")))


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex on this machine")
@pytest.mark.parametrize("options", OPTIONS)
def test_it_compiles(view: TableView, options: ExportOptions, tmp_path: Path) -> None:
    every = "".join(map(chr, range(0x20, 0x250))) + SPECIAL + "".join(KNOWN)
    labels = [HOSTILE, every]
    rows = [replace(row, label=label) for row, label in zip(view.rows, labels, strict=False)] + [*view.rows[2:]]
    table = as_latex(PaperTable(replace(view, rows=rows), options))
    head = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{head}{table}\\end{{document}}\n", "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
