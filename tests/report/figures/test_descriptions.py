import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from small_figures import curves, points

from benchsuite.report.figures.canvas import fitted
from benchsuite.report.figures.inline_svg import alt
from benchsuite.report.figures.model import Axis, Figure, Trace, distinct, slug
from benchsuite.report.numbers import seeds_of


def test_curves_are_described_by_their_ranges_and_last_values() -> None:
    assert alt(curves()) == (
        "Line chart, 2 lines. Training step from 1 to 4; Loss from 0.5 to 3.1. "
        "Last values, from the highest: Row 1 1.6 (from 2.1), Row 0 0.6 (from 1.1)."
    )


def test_the_last_value_is_the_last_there_is() -> None:
    line = Trace("A", [1, 2, 3], [math.nan, 0.25, math.nan])
    figure = Figure("a", "a", "curves", "", "", Axis("Step", log=True), Axis("Top-1", percent=True), [line])
    assert alt(figure) == (
        "Line chart, 1 line. Step from 2 to 2, logarithmic; Top-1 from 25.0% to 25.0%. Last values: A 25.0% at 2."
    )


def test_points_are_described_by_their_means_in_the_unit_of_the_axis() -> None:
    assert alt(points()) == (
        "Scatter plot, 3 rows. Gap from 0 to 0.25; R@1 from 20.0% to 32.0%. Means, from the highest: "
        "Row 2 27.0% at 0.225, Row 1 26.0% at 0.125, Row 0 25.0% at 0.025."
    )


def test_points_that_the_paper_printed_are_said_after_ours() -> None:
    figure = points()
    paper = Trace("Row 1", [0.5], [0.4], "published", 1)
    said = alt(replace(figure, series=[*figure.series, paper]))
    assert said.startswith("Scatter plot, 3 rows. Gap from 0 to 0.5; R@1 from 20.0% to 40.0%.")
    assert said.endswith("Row 0 25.0% at 0.025. Published: Row 1 40.0% at 0.5.")


def test_of_many_rows_the_first_and_the_last_are_listed() -> None:
    text = alt(points(20))
    assert "Row 19 44.0%" in text
    assert "Row 0 25.0%" in text
    assert "then 8 between" in text
    assert "Row 10" not in text
    assert "between" not in alt(points(12))


def test_seeds_are_counted() -> None:
    assert [seeds_of([1]), seeds_of([3, 3]), seeds_of([1, 3])] == ["1 seed", "3 seeds", "1 to 3 seeds"]


def number(text: str) -> float:
    return float(text) if text else math.nan


def test_the_csv_has_the_points_that_are_drawn(on_pages: Callable[..., Figure]) -> None:
    figure = on_pages(label='Row, "one"')
    lines = list(csv.DictReader(io.StringIO(figure.csv)))
    points = [(trace, x, y) for trace in figure.series for x, y in zip(trace.x, trace.y, strict=True)]
    assert [(line["series"], line["part"]) for line in lines] == [(trace.label, trace.part) for trace, _, _ in points]
    numbers = [(number(line[figure.x.name]), number(line[figure.y.name])) for line in lines]
    assert numbers == [pytest.approx((x, y), nan_ok=True) for _, x, y in points]


def test_the_csv_names_seeds_where_there_are_any() -> None:
    by_seed = csv.DictReader(io.StringIO(points().csv))
    assert [line["seed"] for line in by_seed][:3] == ["0", "1", ""]
    assert {line["seed"] for line in csv.DictReader(io.StringIO(curves().csv)) if line["part"] == "seed"} == {"7"}


def test_names_of_files_and_ids_are_harmless_and_different() -> None:
    assert slug("Gap & <temperature>") == "gap-temperature"
    assert slug("日本") == "figure"
    figures = distinct([curves(slug=name, id=f"t-{name}") for name in ("a", "a-2", "a", "a")])
    assert [figure.slug for figure in figures] == ["a", "a-2", "a-3", "a-4"]
    assert len({figure.id for figure in figures}) == 4


def test_text_is_wrapped_and_cut_to_its_room_and_fit_for_xml() -> None:
    assert fitted("short", 20) == "short"
    assert fitted("one two three four five six", 9, lines=2) == "one two\nthree…"
    assert fitted("x" * 50, 20, lines=2) == f"{'x' * 20}\n{'x' * 20}…"
    assert fitted("a\x00\x1b\ud800b", 30) == r"a\u0000\u001b\ud800b"
