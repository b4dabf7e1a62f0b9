"""Figures of rows below each other, and of points, by hand: marks lie where the axes say."""

import re
from itertools import accumulate, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sketches import NUMBER, histogram, points, rows, texts, tree

from benchsuite.report.figures import Axis, Figure, Trace
from benchsuite.report.figures.path import stairs
from benchsuite.report.figures.style import HUES, LINE, SIDE, WIDTH


def corners(path: str) -> list[tuple[float, float]]:
    """The places of a path of level and upright strokes."""
    steps = re.findall(r"([hv])([^hvM]*)", path)
    x, y = (float(number) for number in NUMBER.findall(path.partition("h")[0].partition("v")[0]))
    xs = accumulate((float(size) if way == "h" else 0.0 for way, size in steps), initial=x)
    ys = accumulate((float(size) if way == "v" else 0.0 for way, size in steps), initial=y)
    return list(zip(xs, ys, strict=True))


def outlines(figure: Figure) -> list[ElementTree.Element]:
    """Those of the data; samples of the legend are narrower."""
    drawn = [path for path in tree(figure).iter("path") if "v" in path.get("d", "")]
    return drawn[: len(figure.series)]


def discs(figure: Figure, width: str) -> list[tuple[float, float]]:
    """Places of filled discs."""
    drawn = [path.get("d", "") for path in tree(figure).iter("path") if path.get("stroke-width") == width]
    return [(float(x), float(y)) for path in drawn for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60), st.floats(0.3, 9))
def test_stairs_go_through_all_tops_and_end_where_they_began(tops: list[float], wide: float) -> None:
    edges = [7 + wide * number for number in range(len(tops) + 1)]
    found = corners(stairs(edges, tops, 120.0))
    assert found[0] == pytest.approx((edges[0], 120.0), abs=0.051)
    assert found[-1] == pytest.approx((edges[-1], 120.0), abs=0.06)
    for number, top in enumerate(tops):
        middle = (edges[number] + edges[number + 1]) / 2
        levels = [a[1] for a, b in pairwise(found) if a[0] - 0.06 <= middle <= b[0] + 0.06]
        assert min(abs(level - top) for level in levels) < 0.07


def test_a_histogram_s_highest_share_fills_its_row_and_all_stand_on_its_floor() -> None:
    drawn = [corners(path.get("d", "")) for path in outlines(histogram())]
    assert len(drawn) == 4
    for row, sides in enumerate((drawn[:2], drawn[2:])):
        floor = max(y for _, y in sides[0])
        assert {side[0][1] for side in sides} == {side[-1][1] for side in sides} == {floor}
        heights = [[floor - y for _, y in side] for side in sides]
        assert max(heights[0]) == pytest.approx(90, abs=0.1)
        assert max(heights[0]) / max(heights[1]) == pytest.approx(0.75 / 0.5, rel=0.01)
        assert row == 0 or floor == 2 * max(y for _, y in drawn[0])


def test_a_histogram_spans_all_cosines_and_leaves_empty_ends_away() -> None:
    positive, negative = (corners(path.get("d", "")) for path in outlines(histogram())[:2])
    middle, end = WIDTH / 2, WIDTH - SIDE
    assert (positive[0][0], positive[-1][0]) == pytest.approx((middle, end), abs=0.1), "from 0 to 1"
    assert (negative[0][0], negative[-1][0]) == pytest.approx((SIDE, (middle + end) / 2), abs=0.1), "from -1 to .5"


def test_sides_of_a_histogram_differ_in_hue_dash_and_fill() -> None:
    positive, negative = outlines(histogram())[:2]
    assert (positive.get("fill"), negative.get("fill")) == ("var(--series-1)", None)
    assert positive.get("stroke") != negative.get("stroke")
    assert positive.get("stroke-dasharray") is None
    assert negative.get("stroke-dasharray")
    assert [text for text in texts(tree(histogram())) if text.endswith(" pairs")] == [
        "Positive pairs",
        "Negative pairs",
    ]


def test_each_row_s_numbers_lie_on_one_line_where_the_axis_says() -> None:
    (mean, other), ticks = discs(rows(), "10.2")[:2], {}
    for text in tree(rows()).iter("text"):
        if re.fullmatch(r"0\.\d+", text.text or ""):
            ticks[float(text.text or 0)] = float(text.get("x", 0))
    (low, left), (high, right) = min(ticks.items()), max(ticks.items())
    for value, (x, _) in ((0.6, mean), (0.4, other)):
        assert (x - left) / (right - left) == pytest.approx((value - low) / (high - low), abs=0.005)
    assert (mean[1], other[1]) == (26, 26 + 2 * LINE)


def test_rows_say_what_their_marks_are_where_there_are_several() -> None:
    shown = texts(tree(rows()))
    assert {"single run", "mean of our runs", "published"} <= set(shown)
    alone = Figure("t", "t", "rows", "", "", Axis("Gap"), Axis("Row"), [Trace("A", [1.0], [1])])
    assert "our run" not in texts(tree(alone))
    crosses = [path for path in tree(rows()).iter("path") if path.get("fill") == "var(--ink)"]
    assert crosses


def test_points_beyond_the_hues_have_numbers_in_the_plot_and_in_the_legend() -> None:
    few, many = texts(tree(points(8))), texts(tree(points(9)))
    assert "Row 0" in few
    assert "1 Row 0" in many
    assert {str(number) for number in range(1, 10)} <= set(many)
    drawn = [path for path in tree(points(9)).iter("path") if (path.get("fill") or "").startswith("var")]
    assert {path.get("stroke") for path in drawn} == {f"var(--series-{number})" for number in range(1, len(HUES) + 1)}
