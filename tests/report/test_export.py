import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from html_pages import Reading, leaderboard, pages

from benchsuite.analysis.tables import TableView, build_table
from benchsuite.papers import Table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record
from benchsuite.report.export import as_csv, as_json, as_latex, as_markdown, tex
from benchsuite.report.numbers import counts, difference, measured, published

MakeRecord = Callable[..., tuple[Record, bytes]]
VALUES = {"Best": (0.40, 0.41, 0.42, 0.43), "Twin_2": (0.405, 0.405, 0.425, 0.425), "Worst": (0.10, 0.12, 0.11, 0.12)}
TABLE = Table.model_validate(
    {
        "file_format": 1, "paper": "p", "table": "t", "locator": "Table 1", "title": "T", "recipes": {"small": "r"},
        "columns": [
            {"key": "a", "group": "A & B", "label": "R@1", "measure": "retrieval.i2t_r1"},
            {"key": "b", "group": "G", "label": "gap", "measure": "retrieval.i2t_r1", "unit": "number",
             "better": "lower"},
        ],
        "rows": [
            {"label": "Best", "backbone": "RN50", "method": "infonce", "published": {"a": 12.5, "b": 0.3}},
            {"label": "Twin_2", "backbone": "RN50", "method": "infonce", "published": {"a": 35}, "quoted": "elsewhere"},
            {"label": "Worst", "backbone": "RN50", "method": "infonce", "published": {"a": 1}},
            {"label": "None", "backbone": "RN50", "not_run": "no code", "published": {"a": 2}},
        ],
    }
)  # fmt: skip


def build(make: MakeRecord, values: dict[str, Sequence[float]]) -> TableView:
    records, rows = {}, []
    for row in TABLE.rows:
        runs = {}
        for seed, value in enumerate(values.get(row.label, ())):
            result = make(seed)[0].results["retrieval"]
            results = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            runs[seed] = f"{row.label}-{seed}"
            records[runs[seed]] = make(seed, results=results)[0]
        parts = {"": RequestedRuns(setup_id="", method_id="", runs=runs)} if runs else {}
        rows.append(RequestedRow(label=row.label, backbone="RN50", method=row.method, parts=parts, not_run=row.not_run))
    measures = dict.fromkeys("ab", "retrieval.i2t_r1")
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0,
        measures=measures, rows=rows,
    )  # fmt: skip
    return build_table(TABLE, request, records, {})


@pytest.fixture
def view(make_record: MakeRecord) -> TableView:
    return build(make_record, VALUES)


def bests(view: TableView) -> set[tuple[str, str]]:
    return {(row.label, c.column.key) for row in view.rows for c in row.cells if view.is_best(row, c)}


def test_rows_without_a_significantly_better_one_share_the_first_rank(view: TableView) -> None:
    assert bests(view) == {("Best", "a"), ("Twin_2", "a"), ("Worst", "b")}
    rank = view.rank(view.rows[0], view.rows[0].cells[0])
    assert rank is not None
    assert (rank.rank, rank.tied_with) == (1, ("RN50/Twin_2",))


def test_where_all_are_tied_none_is_marked_best(make_record: MakeRecord) -> None:
    assert bests(build(make_record, {"Best": (0.1, 0.2, 0.3), "Twin_2": (0.2, 0.1, 0.3)})) == set()


def test_every_format_shows_the_same_numbers_and_marks(view: TableView) -> None:
    lines = {(one["row"], one["column"]): one for one in csv.DictReader(io.StringIO(as_csv(view)))}
    cells = {(one["row"], one["column"]): one for one in json.loads(as_json(view))["cells"]}
    markdown = [line.split(" | ") for line in as_markdown(view).splitlines() if line.startswith("| RN50")]
    latex = [line.removesuffix(" \\\\").split(" & ") for line in as_latex(view).splitlines() if line.endswith(" \\\\")][
        3:
    ]
    board = [cell for cell in Reading(pages(leaderboard([view]))["tables/p-t-small"]).cells if "theirs" in cell]
    for number, row in enumerate(view.rows):
        for place, cell in enumerate(row.cells):
            key, best = (row.label, cell.column.key), view.is_best(row, cell)
            factor = 100 if cell.column.unit == "percent" else 1
            for name in ("mean", "sd", "low", "high"):
                value = getattr(cell, name)
                assert cells[key][name] == (None if value is None else value * factor)
                assert lines[key][name] == ("" if value is None else str(value * factor))
            assert (lines[key]["best"] == "True") == cells[key]["best"] == best
            bold = f"**{measured(cell)}**" if best else measured(cell)
            assert markdown[number][place + 1].removesuffix(" |") == f"{published(cell)} / {bold}"
            assert latex[2 * number][place + 1] == tex(published(cell))
            ours = tex(measured(cell))
            assert latex[2 * number + 1][place + 1] == (f"\\textbf{{{ours}}}" if best else ours)
            page = board[number * len(row.cells) + place]
            assert page["theirs"] == published(cell)
            assert page["ours"].replace("± ", " ± ") == ("★ best: " if best else "") + measured(cell)
            assert page["diff"] == difference(cell)
        assert [markdown[number][-1], latex[2 * number + 1][-1]] == [f"{counts(row)} |", tex(counts(row))]


def test_how_many_seeds_a_row_has_is_told_with_its_numbers(make_record: MakeRecord) -> None:
    built = build(make_record, VALUES)
    assert [counts(row) for row in built.rows] == ["4", "4", "4", "–"]
    one, other = built.rows[0].cells
    fewer = replace(other, records={seed: record for seed, record in other.records.items() if seed < 2})
    assert counts(replace(built.rows[0], cells=[one, fewer])) == "2–4"


def test_latex_escapes_what_is_special_and_marks_quoted_rows(view: TableView) -> None:
    text = as_latex(view)
    assert r"\multicolumn{1}{c}{A \& B}" in text
    assert r"Twin\_2$^\dagger$ & 35.00" in text
    assert (
        tex("a_b & 5% ± #1 {x} ~^\\")
        == r"a\_b \& 5\% $\pm$ \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


def test_json_has_every_seed_and_the_reason_of_gaps(view: TableView) -> None:
    told = json.loads(as_json(view))
    assert told["cells"][0]["values"] == pytest.approx({"0": 40.0, "1": 41.0, "2": 42.0, "3": 43.0})
    assert told["gaps"] == {"RN50//None": "no code"}
