"""Whatever texts a table holds, its exports have the rows, columns and numbers of the same table with plain texts."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.exported import VALUES, MakeRecord, build
from support.hostile import is_clean, is_formula, texts
from support.latex_reader import COMMAND, require_whole, rows_of
from support.markdown_reader import tables, tags
from support.markdown_reader import texts as texts_of

from benchsuite.analysis.table_view import TableView
from benchsuite.harmless import spelled
from benchsuite.planning.recipe import Backbone
from benchsuite.report.export import FORMATS
from benchsuite.report.export_options import DEFAULT, ExportOptions
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.latex import ACCENTS, LETTERS, SPECIAL

View = Callable[[list[str]], TableView]
LOOK = ExportOptions()
PLAIN = ["plain"] * 6
many = st.lists(texts, min_size=6, max_size=6)
on_one_view = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The view is never changed, so all examples may share it."""
OWN = {
    *re.findall(
        "[A-Za-z]+",
        "begin end centering caption label resizebox ifdim width linewidth else fi toprule midrule bottomrule cmidrule "
        "multicolumn textit par smallskip parbox footnotesize mathbf star pm texttt usepackage",
    ),
    *re.findall(r"\\([A-Za-z]+)", "".join(SPECIAL.values())), *LETTERS.values(), *ACCENTS.values(),
}  # fmt: skip
"""Commands that a table may hold."""


@pytest.fixture
def view_with(make_record: MakeRecord) -> View:
    """A table with these texts: label, backbone, variant, column, title, and what stands for its data."""
    view = build(make_record, VALUES)
    return lambda given: _with(view, given)


def _with(view: TableView, given: list[str]) -> TableView:
    label, backbone, variant, name, title, what = given
    columns = [view.columns[0].model_copy(update={"group": name, "label": label}), *view.columns[1:]]
    rows = [
        replace(
            row,
            label=f"{label} {number}",
            backbone=backbone,
            variant=variant,
            cells=[replace(cell, column=column) for cell, column in zip(row.cells, columns, strict=True)],
        )
        for number, row in enumerate(view.rows)
    ]
    update = {"description": title, "backbones": {backbone: Backbone(description=what)}}
    recipe = view.setting.recipe.model_copy(update=update)
    setting = replace(view.setting, recipe=recipe, stand_ins={"a": what, "b": title})
    table = view.table.model_copy(update={"columns": columns, "title": title})
    return TableView(table, view.asked.model_copy(update={"scale": what}), setting, rows)


@cache
def numbers_of(text: str) -> list[str]:
    return [line[name] for line in csv.DictReader(io.StringIO(text)) for name in ("published", "mean", "sd", "n")]


@on_one_view
@given(given_=many)
def test_csv_has_its_rows_and_numbers_and_no_formula(view_with: View, given_: list[str]) -> None:
    pandas = pytest.importorskip("pandas")
    expected, text = (FORMATS["csv"](view_with(these), DEFAULT) for these in (PLAIN, given_))
    found = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in found} == {len(next(csv.reader(io.StringIO(expected))))}
    assert numbers_of(text) == numbers_of(expected)
    for cell in (cell for row in found for cell in row):
        assert is_clean(cell)
        assert not is_formula(cell)
    frame = pandas.read_csv(io.StringIO(text), keep_default_na=False, na_values={"mean": [""]})
    assert frame.shape == (len(found) - 1, len(found[0]))
    assert frame["mean"].dtype == float


@on_one_view
@given(given_=many)
@example(given_=["x ` y", "`", "|", "\\", "\\|", "\\"])
@example(given_=["<b", "a>", "[x", "](y)", "1. x", "  # x"])
def test_markdown_is_one_table_and_one_paragraph_of_text(view_with: View, given_: list[str]) -> None:
    view = view_with(given_)
    text, expected = (FORMATS["md"](one, LOOK) for one in (view, view_with(PLAIN)))
    (cells,), (plain_cells,) = tables(text), tables(expected)
    assert [len(row) for row in cells] == [len(row) for row in plain_cells]
    assert [row[1:] for row in cells[1:]] == [row[1:] for row in plain_cells[1:]]
    assert tags(text) <= {"table", "thead", "tbody", "tr", "th", "td", "p", "strong"}
    assert len(text.splitlines()) == len(expected.splitlines())
    assert is_clean(text.replace("\n", ""))
    shown = [" ".join(words.split()) for around, words in texts_of(text) if around[-1] == "td"]
    labels = [spelled(" ".join(f"{row.backbone}: {row.shown}".split())) for row in view.rows]
    assert [label for label in labels if label not in shown] == []


@on_one_view
@given(given_=many)
def test_nothing_leaves_latex(view_with: View, given_: list[str]) -> None:
    text, expected = (FORMATS["latex"](view_with(these), LOOK) for these in (given_, PLAIN))
    require_whole(text)
    assert [len(row) for row in rows_of(text)] == [len(row) for row in rows_of(expected)]
    assert len(text.splitlines()) == len(expected.splitlines())
    assert all(line.strip() and line.isascii() and line.isprintable() for line in text.splitlines())
    assert "^^" not in text
    assert {name for name in COMMAND.findall(text) if name.isalpha()} <= OWN
    comments = re.sub(r"\\\\|\\%", "", text).splitlines()
    assert [line for line in comments if "%" in line] == [comments[0], next(x for x in comments if "resizebox" in x)]


@given(label=texts, axis=texts)
def test_points_of_a_figure_are_cells_too(label: str, axis: str) -> None:
    trace = Trace(label, [-0.5], [1e-9], "seed", seeds=[3])
    text = Figure("id", "slug", "points", "T", "C", Axis(axis), Axis(axis), [trace]).csv
    head, row = csv.reader(io.StringIO(text))
    assert len(head) == len(row) == 5
    assert row[2:] == ["3", "-0.5", "1e-09"]
    for cell in (*head, *row):
        assert is_clean(cell)
        assert not is_formula(cell)
