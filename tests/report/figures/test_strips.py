"""Strips of forest plots: where things lie, for any numbers."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.report.figures.model import Estimate
from benchsuite.report.figures.strips import MARGIN, MOST_TICKS, bar, ruler, strip, ticks

numbers = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-9)


@given(st.lists(numbers, max_size=8))
def test_a_ruler_holds_every_value_in_order_and_zero(values: list[float]) -> None:
    scale = ruler(values)
    places = [scale.at(value) for value in sorted([*values, 0.0])]
    assert places == sorted(places)
    assert all(MARGIN - 1e-9 <= place <= 100 - MARGIN + 1e-9 for place in places)


@given(st.lists(numbers, max_size=8))
def test_ticks_are_few_round_and_one_is_zero(values: list[float]) -> None:
    found = ruler(values).round_values(MOST_TICKS)
    assert 0.0 in found
    assert 2 <= len(found) <= MOST_TICKS + 1
    step = found[1] - found[0]
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert any(math.isclose(mantissa, round_) for round_ in (1, 2, 2.5, 5))


def test_what_cannot_be_drawn_is_no_end_of_a_ruler() -> None:
    assert ruler([1.0, math.inf, math.nan]) == ruler([1.0])


def test_a_strip_has_mean_interval_seeds_and_band_where_they_belong() -> None:
    estimate = Estimate(0.5, 0.25, 0.75, (0.3, 0.7), unconfirmable=0.4, kind="premise not met")
    scale = ruler([-1.0, 1.0])
    drawn = ElementTree.fromstring(strip(scale, estimate, "half <a> point"))
    assert drawn.get("class") == "strip premise-not-met"
    assert drawn.get("aria-label") == "half <a> point"
    (mean,) = drawn.findall("circle[@class='mean']")
    assert percent(mean.get("cx")) == pytest.approx(scale.at(0.5), abs=0.06)
    assert [percent(dot.get("cx")) for dot in drawn.findall("circle") if dot is not mean] == pytest.approx(
        [scale.at(0.3), scale.at(0.7)], abs=0.06
    )
    for kind, low, high in (("reach", 0.25, 0.75), ("band", -0.4, 0.4)):
        (box,) = drawn.findall(f"rect[@class='{kind}']")
        assert percent(box.get("x")) == pytest.approx(scale.at(low), abs=0.06)
        assert percent(box.get("width")) == pytest.approx(scale.at(high) - scale.at(low), abs=0.06)
    (zero,) = drawn.findall("rect[@class='zero']")
    assert percent(zero.get("x")) == pytest.approx(scale.at(0), abs=0.06)


@pytest.mark.parametrize("value", [-0.7, 0.7])
def test_a_bar_goes_from_zero_to_its_value(value: float) -> None:
    scale = ruler([-1.0, 1.0])
    (given_,) = ElementTree.fromstring(bar(scale, value, "published")).findall("rect[@class='given']")
    left = percent(given_.get("x"))
    right = left + percent(given_.get("width"))
    assert (left, right) == pytest.approx(sorted((50.0, scale.at(value))), abs=0.02)


def test_without_a_number_the_ruler_is_empty() -> None:
    for drawn in (strip(ruler([1.0]), None, "not run"), bar(ruler([1.0]), None, "not run")):
        assert [element.get("class") for element in ElementTree.fromstring(drawn)] == ["zero"]


def test_ticks_are_signed() -> None:
    drawn = ElementTree.fromstring(ticks(ruler([-1.0, 1.0])))
    assert [text.text for text in drawn] == ["−1", "−0.5", "0", "+0.5", "+1"]


def percent(text: str | None) -> float:
    assert text
    assert text.endswith("%")
    return float(text[:-1])
