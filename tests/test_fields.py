import math
from typing import Annotated, ClassVar, Literal

import pytest
from annotated_types import Le
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import UsageError
from benchsuite.fields import (
    Count,
    NonNegative,
    Options,
    Positive,
    Real,
    Share,
    Temperature,
    declared,
    resolve,
    temperatures,
)


class Base(Options):
    _owns_no_fields: ClassVar = True
    normalizes: ClassVar[bool] = True
    hidden: int = 3


class Small(Base):
    width: Count = 4
    rate: Temperature = 0.5
    mode: Literal["a", "b"] = "a"
    note: ClassVar[str] = "not an option"
    _private: int = 0


class Larger(Small):
    rate: Annotated[float, Le(10), "temperature"] = 2.0
    share: Share = 0.25


class Required(Base):
    name: str


def test_only_annotated_public_attributes_below_the_base_are_options() -> None:
    assert list(declared(Small)) == ["width", "rate", "mode"]


def test_a_subclass_adds_and_overrides() -> None:
    assert list(declared(Larger)) == ["width", "rate", "mode", "share"]
    assert Larger().options() == {"width": 4, "rate": 2.0, "mode": "a", "share": 0.25}
    assert Larger(rate=-1).options()["rate"] == -1


def test_a_new_default_without_annotation_is_the_default() -> None:
    class Warmer(Small):
        rate = 0.9

    assert Warmer().options()["rate"] == 0.9


def test_an_impossible_default_is_refused_too() -> None:
    class Broken(Small):
        width = -1

    with pytest.raises(UsageError, match="Broken: width = -1 is not possible"):
        Broken()


def test_a_required_option_must_be_given() -> None:
    assert Required(name="x").options() == {"name": "x"}
    with pytest.raises(UsageError, match='Required: "name" must be given; it has no default'):
        Required()


def test_a_misspelt_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r'Small: option "widht" .*mode, rate, width.*Did you mean "width"\?'):
        Small(widht=3)


def test_text_from_the_command_line_becomes_the_fields_type() -> None:
    options = Small(width="8", rate="1e-2").options()
    assert options == {"width": 8, "rate": 0.01, "mode": "a"}
    assert type(options["width"]) is int


IMPOSSIBLE = [
    (Count, 0),
    (Count, 1.5),
    (Count, "many"),
    (Positive, 0),
    (Positive, -1e-9),
    (NonNegative, -1e-9),
    (Share, 1.0001),
    (Share, -0.1),
    (Temperature, 0),
    (Literal["a", "b"], "c"),
]
NO_NUMBERS = [math.nan, math.inf, -math.inf, "nan", None, "warm"]
IMPOSSIBLE += [(kind, value) for kind in (Real, Positive, NonNegative, Share, Temperature) for value in NO_NUMBERS]


@pytest.mark.parametrize(("annotation", "value"), IMPOSSIBLE)
def test_a_value_out_of_range_is_refused_by_name(annotation: object, value: object) -> None:
    one = type("One", (Base,), {"__annotations__": {"field": annotation}, "__module__": __name__})
    with pytest.raises(UsageError, match=r"One: field = .* is not possible"):
        resolve(one, {"field": value})


@given(st.floats(min_value=1e-300, allow_infinity=False))
def test_every_positive_number_is_a_positive(value: float) -> None:
    one = type("One", (Base,), {"__annotations__": {"field": Positive}, "__module__": __name__})
    assert resolve(one, {"field": value}) == {"field": value}


def test_temperatures_are_those_that_are_annotated_so() -> None:
    assert temperatures(Small) == ["rate"]
    assert temperatures(Larger) == ["rate"]
    assert temperatures(Required) == []
