"""Strips of forest plots: where things lie, for any numbers."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.report.figures.forest import MARGIN, Estimate, Ruler, bar, strip, ticks

numbers = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-9)


@given(st.lists(numbers, max_size=8))
def test_a_ruler_holds_every_value_in_order_and_zero(values: list[float]) -> None:
    ruler = Ruler.over(values)
    places = [ruler.at(value) for value in sorted([*values, 0.0])]
    assert places == sorted(places)
    assert all(MARGIN - 1e-9 <= place <= 100 - MARGIN + 1e-9 for place in places)


@given(st.lists(numbers, max_size=8))
def test_ticks_are_few_round_and_within(values: list[float]) -> None:
    ruler = Ruler.over(values)
    assert 0.0 in ruler.ticks
    assert 2 <= len(ruler.ticks) <= 5
    mantissa = ruler.step / 10 ** math.floor(math.log10(ruler.step) + 1e-9)
    assert any(math.isclose(mantissa, round_) for round_ in (1, 2, 2.5, 5))
    span = ruler.high - ruler.low
    assert all(ruler.low - 1e-6 * span <= tick <= ruler.high + 1e-6 * span for tick in ruler.ticks)


def test_what_cannot_be_drawn_is_no_end_of_a_ruler() -> None:
    assert Ruler.over([1.0, math.inf, math.nan]) == Ruler.over([1.0])


def test_a_strip_has_mean_interval_seeds_and_band_where_they_belong() -> None:
    estimate = Estimate(0.5, 0.25, 0.75, (0.3, 0.7), unconfirmable=0.4, kind="premise not met")
    ruler = Ruler.over([-1.0, 1.0])
    drawn = ElementTree.fromstring(strip(ruler, estimate, "half <a> point"))
    assert drawn.get("class") == "strip premise-not-met"
    assert drawn.get("aria-label") == "half <a> point"
    (mean,) = drawn.findall("circle[@class='mean']")
    assert percent(mean.get("cx")) == pytest.approx(ruler.at(0.5), abs=0.06)
    assert [percent(dot.get("cx")) for dot in drawn.findall("circle") if dot is not mean] == pytest.approx(
        [ruler.at(0.3), ruler.at(0.7)], abs=0.06
    )
    for kind, low, high in (("reach", 0.25, 0.75), ("band", -0.4, 0.4)):
        (box,) = drawn.findall(f"rect[@class='{kind}']")
        assert percent(box.get("x")) == pytest.approx(ruler.at(low), abs=0.06)
        assert percent(box.get("width")) == pytest.approx(ruler.at(high) - ruler.at(low), abs=0.06)
    (zero,) = drawn.findall("rect[@class='zero']")
    assert percent(zero.get("x")) == pytest.approx(ruler.at(0), abs=0.06)


@pytest.mark.parametrize("value", [-0.7, 0.7])
def test_a_bar_goes_from_zero_to_its_value(value: float) -> None:
    ruler = Ruler.over([-1.0, 1.0])
    (given_,) = ElementTree.fromstring(bar(ruler, value, "published")).findall("rect[@class='given']")
    left = percent(given_.get("x"))
    right = left + percent(given_.get("width"))
    assert (left, right) == pytest.approx(sorted((50.0, ruler.at(value))), abs=0.02)


def test_without_a_number_the_ruler_is_empty() -> None:
    for drawn in (strip(Ruler.over([1.0]), None, "not run"), bar(Ruler.over([1.0]), None, "not run")):
        assert [element.get("class") for element in ElementTree.fromstring(drawn)] == ["zero"]


def test_ticks_are_labelled_by_the_caller() -> None:
    ruler = Ruler.over([-1.0, 1.0])
    drawn = ElementTree.fromstring(ticks(ruler, [f"{tick:+g} points" for tick in ruler.ticks]))
    assert [text.text for text in drawn] == ["-1 points", "-0.5 points", "+0 points", "+0.5 points", "+1 points"]


def percent(text: str | None) -> float:
    assert text
    assert text.endswith("%")
    return float(text[:-1])
