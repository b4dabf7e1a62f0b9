import math

import pytest
from support.made_records import MakeRecord

from benchsuite.analysis.curves import Curve, curve, mean_curve, thinned

NAN = math.nan


def test_a_missing_value_is_a_gap_but_what_is_evaluated_now_and_then_has_none(make_record: MakeRecord) -> None:
    curves = {"step": [0, 1, 2], "loss": [3.0, None, 1.0], "knn.top1": [None, 0.5, None]}
    record = make_record(curves=curves)[0]
    loss, top1 = curve(record, "loss"), curve(record, "knn.top1")
    assert loss.steps == [1, 2, 3]
    assert loss.values == pytest.approx([3.0, NAN, 1.0], nan_ok=True)
    assert loss.known == [3.0, 1.0]
    assert (top1.steps, top1.values) == ([2], [0.5])
    assert curve(record, "temperature") == Curve([], [])


def test_a_mean_has_no_value_where_a_seed_has_none() -> None:
    found = mean_curve([Curve([1, 2, 3], [1.0, 2.0, 3.0]), Curve([1, 2, 4], [3.0, NAN, 9.0])])
    assert found.steps == [1, 2]
    assert found.values == pytest.approx([2.0, NAN], nan_ok=True)


@pytest.mark.parametrize("points", [1, 119, 120, 121, 1001])
def test_a_long_curve_keeps_its_ends(points: int) -> None:
    whole = Curve(list(range(points)), [float(n) for n in range(points)])
    found = thinned(whole, 120)
    assert len(found.steps) <= 121
    assert (found.steps[0], found.steps[-1]) == (0, points - 1)
    assert list(found.steps) == list(found.values)
    assert (found == whole) == (points <= 120)
