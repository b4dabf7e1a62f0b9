from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.exported import TABLE, VALUES, MakeRecord, build

from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UsageError
from benchsuite.report.export import FORMATS
from benchsuite.report.export_options import ExportOptions, Show
from benchsuite.report.paper_table import PaperTable


@pytest.fixture
def view(make_record: MakeRecord) -> TableView:
    return build(make_record, VALUES)


def ours(table: PaperTable, column: int = 0) -> list[str]:
    return [f"{line.ours[column].text} {line.ours[column].spread}".strip() for line in table.lines]


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (ExportOptions(), "41.5 2.1"),
        (ExportOptions(spread="sd"), "41.5 1.3"),
        (ExportOptions(spread="se"), "41.5 0.6"),
        (ExportOptions(spread="none"), "41.5"),
        (ExportOptions(digits=3), "41.500 2.054"),
        (ExportOptions(digits=0), "42 2"),
    ],
)
def test_spread_and_digits_are_those_asked_for(view: TableView, options: ExportOptions, first: str) -> None:
    assert ours(PaperTable(view, options))[0] == first


@pytest.mark.parametrize(
    ("show", "rows"),
    [
        ("both", ["Best", "Twin_2", "Worst", "None"]),
        ("ours", ["Best", "Twin_2", "Worst"]),
        ("published", ["Best", "Twin_2", "Worst", "None"]),
    ],
)
def test_rows_without_a_shown_number_are_left_out(view: TableView, show: Show, rows: list[str]) -> None:
    table = PaperTable(view, ExportOptions(show))
    assert [line.row.label for line in table.lines] == rows
    assert [bool(table.lines[0].theirs), bool(table.lines[0].ours)] == [
        show != "ours",
        show != "published",
    ]


def test_a_table_without_any_shown_number_is_refused(make_record: MakeRecord) -> None:
    with pytest.raises(UsageError, match="p/t at scale small has no measured numbers"):
        _ = PaperTable(build(make_record, {}), ExportOptions("ours")).lines


def test_published_digits_are_alike_in_a_column(view: TableView) -> None:
    lines = PaperTable(view, ExportOptions("published")).lines
    assert [line.theirs[0].text for line in lines] == ["12.50", "35.00", "1.00", "2.00"]


SAME_PRINT = {"Best": (0.4001, 0.4002, 0.4003), "Twin_2": (0.4003, 0.4002, 0.4004), "Worst": (0.3, 0.5, 0.1)}


@pytest.mark.parametrize(
    ("values", "bold", "digits"),
    [
        (VALUES, (["Best", "Twin_2"], ["Worst"]), None),
        (VALUES, (["Best", "Twin_2"], []), 0),
        (SAME_PRINT, (["Best", "Twin_2"], ["Worst"]), None),
        ({"Best": (0.1, 0.2), "Twin_2": (0.2, 0.1)}, ([], []), None),
        ({"Best": (0.1, 0.2)}, ([], []), None),
    ],
)
def test_bold_is_the_best_printed_value(
    make_record: MakeRecord, values: dict[str, Sequence[float]], bold: tuple[list[str], list[str]], digits: int | None
) -> None:
    table = PaperTable(build(make_record, values), ExportOptions(digits=digits))
    for column in (0, 1):
        assert [line.row.label for line in table.lines if line.ours[column].bold] == bold[column]
        sign = -1 if column else 1
        for kind in ("bold", "star"):
            means = [(getattr(line.ours[column], kind), line.row.cells[column].mean) for line in table.lines]
            marked, unmarked = ([sign * m for on, m in means if on is want and m is not None] for want in (True, False))
            assert not marked or min(marked) >= max(unmarked)


def test_no_row_is_bold_where_nothing_is_better(make_record: MakeRecord) -> None:
    columns = [column.model_copy(update={"better": "neither"}) for column in TABLE.columns]
    table = PaperTable(build(make_record, VALUES, TABLE.model_copy(update={"columns": columns})), ExportOptions())
    assert not any(number.bold or number.star for line in table.lines for number in (*line.theirs, *line.ours))


def test_marks_are_explained(view: TableView, monkeypatch: pytest.MonkeyPatch) -> None:
    table = PaperTable(view, ExportOptions())
    numbers = [number for line in table.lines for number in line.ours]
    assert any(number.bold for number in numbers)
    assert any(number.star for number in numbers)
    legend = " ".join(table.legend)
    assert "Bold" in legend
    assert "★" in legend
    starred = next(line.row for line in table.lines if any(number.star for number in line.ours))
    assert f"Not tuned, though with a star: {starred.shown}" in legend
    monkeypatch.setattr("benchsuite.analysis.rows.Cell.untuned", False)
    assert "Not tuned" not in " ".join(PaperTable(view, ExportOptions()).legend)


@pytest.mark.parametrize(
    ("values", "options", "says", "counted"),
    [
        (VALUES, ExportOptions(), "ours: mean ± half-width of the 95% CI over 4 seeds.", False),
        (VALUES, ExportOptions("ours", "sd"), "Mean ± standard deviation over 4 seeds.", False),
        (VALUES, ExportOptions("ours", "none"), "Mean over 4 seeds.", False),
        (
            {"Best": (0.1, 0.2), "Worst": (0.1,)},
            ExportOptions(spread="se"),
            "mean ± standard error over n seeds.",
            True,
        ),
        ({"Best": (0.1,), "Worst": (0.1,)}, ExportOptions(), "ours: one seed.", False),
        (VALUES, ExportOptions("published"), "Published numbers.", False),
    ],
)
def test_the_caption_says_what_the_spread_is_and_over_how_many_seeds(
    make_record: MakeRecord, values: dict[str, Sequence[float]], options: ExportOptions, says: str, counted: bool
) -> None:
    table = PaperTable(build(make_record, values), options)
    assert table.caption("A / B")[:2] == ["T.", "Percent (gap: plain numbers)."]
    assert table.caption("A / B")[2].endswith(says)
    assert table.has_counts == counted


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"trials": 5}, "Our rows: as printed (learning rate searched, 5 trials)."),
        ({"regime": "tuned", "trials": 16}, "Our rows: all tuned (16 trials)."),
        ({}, ""),
    ],
)
def test_exports_say_whether_rows_are_as_printed_or_tuned(view: TableView, asked: dict[str, Any], says: str) -> None:
    searched = replace(view, asked=view.asked.model_copy(update=asked))
    for kind in ("latex", "md"):
        text = FORMATS[kind](searched, ExportOptions()).replace("\\", "")
        assert says in text
        assert ("Our rows" in text) == bool(says)
        assert "Our rows" not in FORMATS[kind](searched, ExportOptions("published"))
