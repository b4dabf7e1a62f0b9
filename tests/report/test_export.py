import csv
import io
import json
import math
import re
from typing import Any

import pytest
from support.exported import VALUES, MakeRecord, build
from support.html_pages import Reading, leaderboard, pages
from support.latex_reader import rows_of

from benchsuite.analysis.table_view import TableView
from benchsuite.report.export import FORMATS, as_csv, as_json, as_markdown
from benchsuite.report.export_options import DEFAULT, ExportOptions
from benchsuite.report.latex import as_latex
from benchsuite.report.numbers import difference, measured, published
from benchsuite.report.paper_table import PaperTable


@pytest.fixture
def view(make_record: MakeRecord) -> TableView:
    return build(make_record, VALUES)


def test_every_format_shows_the_same_numbers_and_marks(view: TableView) -> None:
    lines = {(one["row"], one["column"]): one for one in csv.DictReader(io.StringIO(as_csv(view)))}
    told = json.loads(as_json(view))
    labels = {one["name"]: one["row"] for one in told["rows"]}
    cells = {(labels[one["name"]], one["column"]): one for one in told["cells"]}
    options = ExportOptions()
    markdown = [
        line.removesuffix(" |").split(" | ")
        for line in as_markdown(PaperTable(view, options)).replace("**", "").splitlines()
        if line.startswith("| RN50")
    ]
    latex = rows_of(re.sub(r"\\mathbf{([^}]*)}", r"\1", as_latex(PaperTable(view, options))))[3:]
    signs = [[one.against for one in line.ours] for line in PaperTable(view, options).lines]
    board = [cell for cell in Reading(pages(leaderboard([view]))["tables/p-t-small"]).cells if "theirs" in cell]
    for number, row in enumerate(view.rows):
        for place, cell in enumerate(row.cells):
            key, best = (row.label, cell.column.key), view.is_best(row, cell)
            factor = 100 if cell.column.unit == "percent" else 1
            for name in ("mean", "sd", "low", "high"):
                value = getattr(cell, name)
                exact = None if value is None else float(f"{value * factor:.8g}")
                assert cells[key][name] == exact
                assert lines[key][name] == ("" if value is None else str(cells[key][name]))
            assert (lines[key]["best"] == "True") == cells[key]["best"] == best
            assert markdown[number][place + 1] == f"{published(cell)} / {measured(cell)}{' ★' if best else ''}"
            mean, _, half = measured(cell).partition(" ± ")
            above = ("\\star" if best else "") + signs[number][place].replace("−", "-")
            mean += f"^{{{above}}}" if above else ""
            assert latex[2 * number][place + 1] == f"${published(cell)}$".replace("$–$", "--")
            assert latex[2 * number + 1][place + 1] == (f"${mean} \\pm {half}$" if half else "--")
            page = board[number * len(row.cells) + place]
            assert page["theirs"] == published(cell)
            assert page["ours"].replace("± ", " ± ") == ("☆ best, not tuned: " if best else "") + measured(cell)
            assert page["diff"] == difference(cell)


def test_json_has_every_seed_and_the_reason_of_gaps(view: TableView) -> None:
    told = json.loads(as_json(view))
    assert told["cells"][0]["values"] == pytest.approx({"0": 40.0, "1": 41.0, "2": 42.0, "3": 43.0})
    assert {row["name"]: row["gap"] for row in told["rows"] if row["gap"]} == {"RN50/None": "no code"}


@pytest.mark.parametrize(
    ("options", "rows", "numbers"),
    [
        (DEFAULT, 8, ["published", "mean", "sd", "low", "high", "n"]),
        (ExportOptions(spread="ci"), 8, ["published", "mean", "low", "high", "n"]),
        (ExportOptions("ours", "sd"), 6, ["mean", "sd", "n"]),
        (ExportOptions("ours", "se"), 6, ["mean", "se", "n"]),
        (ExportOptions(spread="none"), 8, ["published", "mean", "n"]),
        (ExportOptions("published"), 5, ["published"]),
    ],
)
def test_csv_has_the_numbers_that_were_asked_for(
    view: TableView, options: ExportOptions, rows: int, numbers: list[str]
) -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(view, options))))
    assert len(lines) == rows
    known = ("published", "mean", "sd", "se", "low", "high", "n")
    assert [name for name in lines[0] if name in known] == numbers
    if "se" in numbers:
        sd = view.rows[0].cells[0].sd
        assert sd is not None
        assert float(lines[0]["se"]) == pytest.approx(100 * sd / math.sqrt(4))


@pytest.mark.parametrize("kind", FORMATS)
def test_no_format_changes_the_table(view: TableView, kind: str) -> None:
    before: Any = json.loads(as_json(view))
    FORMATS[kind](view, ExportOptions("ours", "none", 0))
    assert json.loads(as_json(view)) == before
