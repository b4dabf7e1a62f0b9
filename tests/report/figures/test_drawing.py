"""What is drawn of figures of every kind: things lie where axes say, and differ as far as eyes must tell them apart."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_figures import GAP, Recorder, curves, drawn, forest, forest_of, line, points

from benchsuite.report.figures.canvas import HUES, QUIET
from benchsuite.report.figures.chart import LEFT, SIDE, TOP, WIDTH, Scale
from benchsuite.report.figures.model import Axis, Comparison, Estimate, Figure, Trace

Make = Callable[..., Figure]


def lines(figure: Figure, width: float) -> list[list[tuple[float, float]]]:
    return [line.points for line in drawn(figure).lines if line.width == width]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 6))
def test_ticks_are_few_round_and_where_their_values_are(low: float, span: float, most: int) -> None:
    scale = Scale.over(Axis("x"), [low, low + span], 0, 100, 0.05)
    found = scale.ticks(most)
    assert len(found) <= most + 1
    assert all(-1e-6 <= place <= 100 + 1e-6 for place, _ in found)
    gaps = [b - a for (a, _), (b, _) in pairwise(found)]
    assert max(gaps, default=0) - min(gaps, default=0) < 1e-3


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_logarithmic_axis_has_equal_room_at_both_ends(unit: float) -> None:
    scale = Scale.over(Axis("x", log=True), [unit, 100 * unit], 0, 1, 0.1)
    assert [scale.at(unit), scale.at(100 * unit)] == pytest.approx([0.1 / 1.2, 1.1 / 1.2])


def test_labels_have_the_digits_that_their_steps_need() -> None:
    def labels(axis: Axis, *values: float) -> list[str]:
        return [label for _, label in Scale.over(axis, values, 0, 1, 0).ticks(4)]

    assert labels(Axis("x"), -0.5, 0.5) == ["−0.50", "−0.25", "0.00", "0.25", "0.50"]
    assert labels(Axis("x", percent=True), 0.1, 0.3) == ["10%", "15%", "20%", "25%", "30%"]
    assert labels(Axis("x", percent=True), 0.1, 0.11) == ["10.00%", "10.25%", "10.50%", "10.75%", "11.00%"]
    assert labels(Axis("x", whole=True), 0, 20_000) == ["0", "5k", "10k", "15k", "20k"]
    assert labels(Axis("x", log=True), 1, 1000) == ["1", "10", "100", "1000"]
    assert labels(Axis("x", log=True), 1, 9) == ["1", "2", "5"]


@pytest.mark.parametrize("steps", [[1], [1, 2], [1, 3]])
def test_ticks_of_steps_are_whole(steps: list[float]) -> None:
    said = drawn(line(steps, [10.0] * len(steps))).said
    assert {f"{step:g}" for step in steps} <= set(said)
    assert not [text for text in said if text.startswith("1.")]


def test_axes_are_named_and_counted_in_their_unit() -> None:
    assert {"R@1", "Gap", "20%", "30%"} <= set(drawn(points()).said)


@pytest.mark.parametrize("value", [0.0, 0.05, -3.0, 1e-12, 1e12])
def test_a_constant_is_a_line_in_the_middle(value: float) -> None:
    (shown,) = lines(line([1, 2], [value, value * (1 + 1e-12)]), 2.2)
    assert [y for _, y in shown] == pytest.approx([TOP + 110] * 2, abs=1)


def test_a_line_goes_through_its_points_and_has_gaps_with_marks_between_them() -> None:
    ((low, high, middle),) = lines(line([0, 1, 4], [0.0, 2.0, 1.0]), 2.2)
    assert (high[0] - low[0]) / (middle[0] - low[0]) == pytest.approx(0.25)
    assert (low[1] - middle[1]) / (low[1] - high[1]) == pytest.approx(0.5)
    assert LEFT < low[0] < middle[0] < WIDTH - SIDE
    broken = drawn(line([1, 2, 3, 4], [1.0, GAP, 2.0, 3.0]))
    (shown,) = (line.points for line in broken.lines if line.width == 2.2)
    assert [math.isnan(y) for _, y in shown] == [False, True, False, False]
    assert [mark.points for mark in broken.marked] == [[shown[0]]]


def test_seeds_are_an_area_of_their_mean_s_colour_and_lines_differ_in_hue_dash_and_mark() -> None:
    shown = drawn(curves(9))
    bold = [one for one in shown.lines if one.width == 2.2][:9]  # those of the legend come after
    assert [one.colour for one in shown.areas] == [one.colour for one in bold]
    for values in ({one.colour for one in bold}, {one.dash for one in bold}, {mark.mark for mark in shown.marked}):
        assert len(values) == len(HUES), "the ninth has the first one's look, hollow, and a number"
    assert [mark.hollow for mark in shown.marked[:9]] == [False] * 8 + [True]
    assert {"1 Row 0", "1", "9 Row 8", "9"} <= set(shown.said)
    assert "1 Row 0" not in drawn(curves(8)).said


def test_the_area_reaches_from_the_lowest_to_the_highest_seed_where_all_have_a_value() -> None:
    steps, seeds = [1.0, 2.0, 3.0, 4.0], [[5.0, 1.0, GAP, 2.0], [3.0, 4.0, 9.0, 2.5], [4.0, 2.0, 3.0, 2.0]]
    shown = drawn(replace(line(steps, [4.0, 3.0, 5.0, 2.0]), series=[
        *(Trace("Row", steps, values, "seed", seeds=[seed]) for seed, values in enumerate(seeds)),
        *(Trace("Row", steps, values) for values in seeds),  # lines alone, for the places
    ]))  # fmt: skip
    first, second, third = (
        [y for _, y in one.points] for one in shown.lines if one.width == 2.2 and len(one.points) > 2
    )
    (area,) = shown.areas
    assert [y for _, y in area.points] == [first[0], second[1], second[3], third[3], first[1], second[0]]
    across = [x for x, _ in area.points]
    assert across == sorted(across[:3]) + sorted(across[:3], reverse=True)
    assert not drawn(replace(line(steps, seeds[0]), series=[
        Trace("Row", [1.0], [1.0], "seed", seeds=[0]), Trace("Row", [2.0], [1.0], "seed", seeds=[1]),
    ])).areas, "seeds without a step in common have no area"  # fmt: skip


def digits(shown: Recorder) -> list[tuple[float, float, float]]:
    """Places of numbers in the plot, and half of their width."""
    return [(text.x, text.y, 4 * len(text.text)) for text in shown.texts if text.looks == ("dark", "mid")]


@pytest.mark.parametrize("quality", [[0.5] * 12, [0.5 + k / 1000 for k in range(12)]])
def test_numbers_of_points_that_coincide_do_not_overlap(quality: list[float]) -> None:
    same = [Trace(f"Row {row}", [1.0], [value], style=row) for row, value in enumerate([*quality, 0.9])]
    for figure, count in ((replace(points(), series=same), 13), (points(12), 12), (curves(12), 12)):
        shown = drawn(figure)
        found = digits(shown)
        assert len(found) == count
        assert not [
            (a, b) for a, b in combinations(found, 2) if abs(a[0] - b[0]) < a[2] + b[2] and abs(a[1] - b[1]) < 9
        ]
        assert all(0 < x < shown.size[0] and 0 < y < shown.size[1] for x, y, _ in found)


@pytest.mark.parametrize("count", [3, 10])
def test_published_points_have_their_row_s_colour_and_are_hollow(count: int) -> None:
    figure = points(count)
    paper = Trace("Row 1", [0.5], [0.4], "published", 1)
    shown = drawn(replace(figure, series=[*figure.series, paper]))
    (mark,) = (mark for mark in shown.marked if mark.size == 9)
    assert (mark.colour, mark.hollow) == (HUES[1], True)
    assert shown.said.count("2") == (2 if count > 8 else 0), "the number of the row, beside both points"


def test_a_forest_plot_is_scaled_by_intervals_and_not_by_bands_or_by_published_numbers() -> None:
    """A band of three seeds can be a hundred points wide, and published numbers are of other data."""
    shown = drawn(forest())
    assert {"−1", "0", "1", "2", "3"} <= set(shown.said)
    assert "70" not in shown.said
    whole, undecided = (mark.points[0] for mark in shown.marked[:2])
    (reach,) = (line.points for line in shown.lines if line.width == 1.6)
    assert whole[0] == pytest.approx((reach[0][0] + reach[1][0]) / 2)
    assert undecided[0] < reach[0][0] < reach[1][0]
    (band,) = (area.points for area in shown.areas if area.points[0][1] < shown.size[1] / 2)
    assert (min(x for x, _ in band) < undecided[0], max(x for x, _ in band) > reach[1][0]) == (True, True)
    assert 210 <= min(x for x, _ in band) < max(x for x, _ in band) <= 360, "between names and numbers"


def test_a_forest_plot_says_what_its_marks_show_and_what_has_none() -> None:
    shown = drawn(forest())
    said, height = [text.strip() for text in shown.said], {text.text: text.y for text in shown.texts}
    assert height["Row 1"] < height["Other"] < height["Row 2"], "a heading takes a line"
    assert "+2.00 [+1.00, +3.00] reproduced" in said
    assert "−1.00 undecided" in said
    assert {"+70.00", "published", "not run", "Rows", "Other", "Row 2", "single seeds", "not confirmable"} <= set(said)
    assert said.index("Rows") < said.index("Other")


def test_columns_of_a_forest_plot_share_lines_and_scale_and_say_verdicts_by_marks() -> None:
    about = "1 gain", "A vs. B", "reproduced", "percent"
    line = [Comparison(*about, Estimate(value, 0.5, 1.5), column=name) for value, name in ((1.0, "a"), (-2.0, "b"))]
    shown = drawn(replace(forest(), lines=[line]))
    (first,), (second,) = (mark.points for mark in shown.marked[:2])
    place = {text.text: text.x for text in shown.texts}
    assert (first[1], shown.said.count("A vs. B")) == (second[1], 1)
    zero = [line.points[0][0] for line in shown.lines if line.colour == QUIET and len(line.points) == 2][:2]
    assert (first[0] - zero[0]) / (second[0] - zero[1]) == pytest.approx(1 / -2)
    assert place["A vs. B"] < place["a"] < first[0] < place["+1.00 ± 0.50"] < place["b"] < place["−2.00 ± 0.50"]
    assert shown.said.count("reproduced") == 1, "in the legend"


def test_names_of_a_forest_plot_with_columns_are_whole_and_end_before_published_differences() -> None:
    long = "AmCLR (ours) vs. iSogCLR w Temp Generator, Retrieval (Image) Top-10, RN50, Adam"
    named = [
        [Comparison("", f"{long}{end}", "", "percent", Estimate(1.0), published=12.0, column=name) for name in "ab"]
        for end in ("W", "P")
    ]
    shown = drawn(replace(forest(), lines=named))
    assert {f"{long}W", f"{long}P"} <= set(shown.said)
    (number, *_) = (text for text in shown.texts if text.text == "+12.00")
    (name, *_) = (text for text in shown.texts if text.text == f"{long}W")
    assert number.x - 32 - name.x >= 4.6 * len(long), "its letters are about that wide"


def test_verdicts_of_a_forest_plot_differ_in_mark_and_not_in_hue_alone() -> None:
    verdicts = ("better", "worse", "equivalent", "undecided")
    lines = [Comparison("", verdict, verdict, "percent", Estimate(1.0)) for verdict in verdicts]
    marks = drawn(forest_of(*lines)).marked[:4]
    assert len({(mark.mark, mark.hollow) for mark in marks}) == len({mark.colour for mark in marks}) == 4
    assert marks[3].colour == QUIET
