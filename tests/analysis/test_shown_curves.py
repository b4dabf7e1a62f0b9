import math

import pytest
from support.made_records import MakeRecord

from benchsuite.report.figures.from_table import curve, mean_curve, thinned

NAN = math.nan


def test_a_missing_value_is_a_gap_but_what_is_evaluated_now_and_then_has_none(make_record: MakeRecord) -> None:
    curves = {"step": [0, 1, 2], "loss": [3.0, None, 1.0], "knn.top1": [None, 0.5, None]}
    record = make_record(curves=curves)[0]
    loss, top1 = curve(record, "loss"), curve(record, "knn.top1")
    assert [value for _, value in loss] == pytest.approx([3.0, NAN, 1.0], nan_ok=True)
    assert ([step for step, _ in loss], top1, curve(record, "temperature")) == ([1, 2, 3], [(2, 0.5)], [])


def test_a_mean_has_no_value_where_a_seed_has_none() -> None:
    first, second = mean_curve([[(1, 1.0), (2, 2.0), (3, 3.0)], [(1, 3.0), (2, NAN), (4, 9.0)]])
    assert (first, second[0], math.isnan(second[1])) == ((1, 2.0), 2, True)


@pytest.mark.parametrize("points", [1, 119, 120, 121, 1001])
def test_a_long_curve_keeps_its_ends(points: int) -> None:
    whole = [(float(n), float(n)) for n in range(points)]
    found = thinned(whole)
    assert len(found) <= 121
    assert (found[0], found[-1]) == (whole[0], whole[-1])
    assert (found == whole) == (points <= 120)
