import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.objectives.schedules import cosine, linear

BOUNDS = st.floats(0.001, 1.0)
CYCLES = st.floats(0, 20)


@given(BOUNDS, BOUNDS, CYCLES)
def test_is_the_written_formula(start: float, middle: float, cycles: float) -> None:
    expected = 0.5 * (start + middle) + 0.5 * (start - middle) * math.cos(2 * math.pi * cycles)
    assert cosine(start, middle, cycles) == pytest.approx(expected, abs=1e-12)


@given(BOUNDS, CYCLES)
def test_equal_bounds_are_a_constant(bound: float, cycles: float) -> None:
    assert cosine(bound, bound, cycles) == bound


@given(BOUNDS, BOUNDS, st.floats(0, 1))
def test_a_line_goes_from_start_to_end(start: float, end: float, progress: float) -> None:
    assert linear(start, end, 0.0) == start
    assert linear(start, end, 1.0) == end
    assert linear(start, end, progress) == pytest.approx(start + progress * (end - start), abs=1e-12)
