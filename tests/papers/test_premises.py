"""Premises: what of a record's curves they look at, and which ones say nothing."""

from math import nan

import pytest
from pydantic import ValidationError

from benchsuite.papers.questions import Premise

CURVES: dict[str, list[float | None]] = {
    "gap": [1.0, 0.5],
    "swapped": [1.0, 0.0, nan, 0.0, None],
    "temperature": [0.1, 0.2],
    "zero": [0.0],
}


@pytest.mark.parametrize(
    ("premise", "number"),
    [
        ({"gauge": "gap"}, 0.5),
        ({"gauge": "swapped"}, 0.0),
        ({"gauge": "swapped", "over": "mean"}, 1 / 3),
        ({"gauge": "gap", "per": "temperature"}, 2.5),
        ({"gauge": "gap", "per": "temperature", "over": "mean"}, 5.0),
        ({"gauge": "gap", "per": "zero"}, None),
        ({"gauge": "gap", "per": "none"}, None),
        ({"gauge": "none"}, None),
    ],
)
def test_a_gauge_is_read_from_the_curves(premise: dict[str, str], number: float | None) -> None:
    shown = Premise.model_validate({"statement": "P", "at_least": 0.1, **premise}).shown(CURVES)
    assert shown == (None if number is None else pytest.approx(number))


@pytest.mark.parametrize(
    ("premise", "message"),
    [
        ({}, "needs a column or a gauge, and at_least, at_most or apart"),
        ({"gauge": "gap"}, "needs a column or a gauge, and at_least, at_most or apart"),
        ({"at_most": 1}, "needs a column or a gauge, and at_least, at_most or apart"),
        ({"gauge": "gap", "column": "gap", "at_most": 1}, "needs a column or a gauge, and at_least, at_most or apart"),
        ({"at_most": 1, "unmet": {"small": "too short"}}, "needs a column or a gauge, and at_least, at_most or apart"),
        ({"column": "gap", "per": "gap", "at_most": 1}, "per and over are for a gauge"),
        ({"column": "gap", "over": "mean", "at_most": 1}, "per and over are for a gauge"),
    ],
)
def test_a_premise_looks_at_one_bounded_number(premise: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Premise.model_validate({"statement": "P", **premise})


def test_what_no_gauge_can_show_is_stated_alone() -> None:
    assert Premise(statement="P", unmet={"small": "too short"}).shown(CURVES) is None
