"""Figures by hand: values lie where the axes say, and differ as far as the eye must tell them apart."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sketches import GAP, costs, curves, line, sensitivity, texts, through, tree, tuning

from benchsuite.report.figures import Axis, Figure
from benchsuite.report.figures.path import path
from benchsuite.report.figures.ruler import Rule
from benchsuite.report.figures.style import HUES, LEFT, SIDE, TOP


def paths(figure: Figure, **look: str) -> list[ElementTree.Element]:
    found = tree(figure).iter("path")
    return [path for path in found if all(path.get(key.replace("_", "-")) == value for key, value in look.items())]


def places(path: ElementTree.Element) -> list[tuple[float, float]]:
    return through(path.get("d", ""))


POINTS = st.lists(st.tuples(st.floats(-2e3, 2e3), st.floats(-2e3, 2e3)), min_size=1, max_size=200)


@given(POINTS, st.sampled_from([0, 1]))
def test_a_path_goes_through_its_points_and_rounding_does_not_add_up(
    points: list[tuple[float, float]], decimals: int
) -> None:
    found = through(path(points, decimals))
    assert len(found) == len(points)
    assert np.abs(np.array(found) - points).max() <= 0.5 / 10**decimals + 1e-9


def test_a_path_is_short() -> None:
    assert path([(2.04, 10), (2.5, 9.5), (12.5, 9.5), (12, 20)]) == "M2 10l.5-.5 10 0-.5 10.5"
    assert path([(-0.5, 0.26)]) == "M-.5 .3h0"


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 6))
def test_ticks_are_few_round_and_where_their_values_are(low: float, span: float, most: int) -> None:
    rule = Rule.over(Axis("x"), [low, low + span], 0, 100, 0.05)
    found = rule.ticks(most)
    assert len(found) <= most + 1
    assert all(-1e-6 <= place <= 100 + 1e-6 for place, _ in found)
    gaps = [b - a for (a, _), (b, _) in pairwise(found)]
    assert max(gaps, default=0) - min(gaps, default=0) < 1e-3


def test_labels_have_the_digits_that_their_steps_need() -> None:
    def labels(axis: Axis, *values: float) -> list[str]:
        return [label for _, label in Rule.over(axis, values, 0, 1, 0).ticks(4)]

    assert labels(Axis("x"), -0.5, 0.5) == ["−0.50", "−0.25", "0.00", "0.25", "0.50"]
    assert labels(Axis("x", percent=True), 0.1, 0.3) == ["10%", "15%", "20%", "25%", "30%"]
    assert labels(Axis("x", percent=True), 0.1, 0.11) == ["10.00%", "10.25%", "10.50%", "10.75%", "11.00%"]
    assert labels(Axis("x", whole=True), 0, 20_000) == ["0", "5k", "10k", "15k", "20k"]
    assert labels(Axis("x", log=True), 1, 1000) == ["1", "10", "100", "1000"]
    assert labels(Axis("x", log=True), 1, 9) == ["1", "2", "5"]


@pytest.mark.parametrize("steps", [[1], [1, 2], [1, 3]])
def test_ticks_of_steps_are_whole(steps: list[float]) -> None:
    shown = texts(tree(line(steps, [10.0] * len(steps))))
    assert {f"{step:g}" for step in steps} <= set(shown)
    assert not [text for text in shown if text.startswith("1.")]


@pytest.mark.parametrize("value", [0.0, 0.05, -3.0, 1e-12, 1e12])
def test_a_constant_is_a_line_in_the_middle(value: float) -> None:
    (drawn,) = paths(line([1, 2], [value, value * (1 + 1e-12)]), stroke_width="2.2")
    assert [y for _, y in places(drawn)] == pytest.approx([TOP + 110] * 2, abs=1)


def test_a_line_goes_through_its_points_and_has_gaps() -> None:
    (whole,) = paths(line([0, 1, 4], [0.0, 2.0, 1.0]), stroke_width="2.2")
    (x0, low), (x1, high), (x2, middle) = places(whole)
    assert (x1 - x0) / (x2 - x0) == pytest.approx(0.25, abs=0.001)
    assert (low - middle) / (low - high) == pytest.approx(0.5, abs=0.001)
    assert LEFT < x0 < x2 < 400 - SIDE
    (broken,) = paths(line([1, 2, 3, 4], [1.0, GAP, 2.0, 3.0]), stroke_width="2.2")
    assert broken.get("d", "").count("M") == 2
    assert broken.get("d", "").split("M")[1].endswith("h0"), "a point alone is a dot"


def test_seeds_are_thin_lines_of_their_mean_s_colour_and_lines_differ_in_hue_dash_and_mark() -> None:
    thin, bold = (paths(curves(9), stroke_width=width) for width in ("0.75", "2.2"))
    assert len(thin) == 9
    in_plot = bold[:9]  # the legend's come after
    assert [path.get("stroke") for path in in_plot] == [path.get("stroke") for path in thin]
    looks = {(path.get("stroke"), path.get("stroke-dasharray")) for path in in_plot}
    assert len(looks) == len(HUES), "the ninth has the first one's look, and a number"
    assert {"1 Row 0", "9 Row 8"} <= set(texts(tree(curves(9))))
    assert "1 Row 0" not in texts(tree(curves(8)))


def test_bands_lie_between_their_bounds() -> None:
    figure = line([1, 2, 3], [2.0, 3.0, 2.0], low=[1.0, 2.0, GAP], high=[3.0, 4.0, GAP])
    (band,) = paths(figure, opacity="0.2")
    corners = places(band)
    (drawn,) = paths(figure, stroke_width="2.2")
    (x1, y1), (x2, _), _ = places(drawn)
    assert {x for x, _ in corners} == {x1, x2}, "the third step has no bounds"
    assert min(y for _, y in corners) < y1 < max(y for _, y in corners)


def test_bands_end_at_the_scale_that_panels_share() -> None:
    (band,) = paths(tuning(), opacity="0.2")
    assert {min(y for _, y in places(band)), max(y for _, y in places(band))} == {TOP, TOP + 150}


def test_costs_have_stairs_bars_and_numbers_apart() -> None:
    drawn = tree(costs())
    (stairs,) = paths(costs(), stroke_width="1.5")
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(places(stairs)))
    assert len(places(stairs)) == 4
    bars = "".join(path.get("d", "") for path in paths(costs(), stroke_width="1.2", fill=None))
    assert len(re.findall("M[^a-zM]*l0[^a-zM]*", bars)) == 3, "each from below to above"
    numbers = [text for text in drawn.iter("text") if (text.text or "") in ("1", "2", "3")]
    spots = [(float(one.get("x", 0)), float(one.get("y", 0))) for one in numbers]
    assert all(math.dist(a, b) > 10 for k, a in enumerate(spots) for b in spots[:k])


def test_failed_trials_stand_on_the_floor_and_the_default_is_a_line_through_all() -> None:
    (failed,) = (path for path in paths(sensitivity(), fill=None) if "l7 7m0" in path.get("d", ""))
    assert re.findall(r"M[\d.]+ ([\d.]+)m", failed.get("d", "")) == [str(TOP + 150)] * 2
    (default,) = paths(sensitivity(), stroke_dasharray="4 2")
    assert [y for _, y in places(default)] == [TOP, TOP + 150]


def test_discs_are_lines_without_length_as_wide_as_other_marks_are() -> None:
    (trials,) = paths(sensitivity(), stroke_width="7.2")
    assert re.fullmatch(r"(M[\d.]+ [\d.]+h0){2}", trials.get("d", ""))
    assert trials.get("stroke") == "var(--series-1)"
