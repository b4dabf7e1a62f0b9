"""What tuning draws, for every registered method."""

import math

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, Lt
from scipy.stats import kstest

from benchsuite.cards import Card, FieldCard
from benchsuite.errors import UsageError
from benchsuite.fields import declared
from benchsuite.methods import method_class
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import LEARNING_RATE, around, draws, space
from benchsuite.registry import methods
from benchsuite.setup import Protocol

RULE = Tuning(trials=4, measure="v.m", protocols={"v": Protocol(task="retrieval")}, spread=8, learning_rate_spread=4)
MANY = 400


def card(name="made", **defaults):
    ranges = {"share": (0.0, 1.0), "real": (-math.inf, math.inf), "bounded": (1.0, 200.0)}
    fields = [FieldCard(field, "", value, range=ranges[field.split("_")[0]]) for field, value in defaults.items()]
    return Card("method", name, "m", "M", "us", "m.py", "", fields=tuple(fields))


def drawn(of, number=0, fixed=(), rate=1e-3):
    return next(draws(of, dict(fixed), number, RULE, rate))


@pytest.mark.parametrize("name", list(methods))
def test_the_ranges_of_cards_are_those_of_annotations(name):
    limits = {}
    for field, annotation in declared(method_class(name)).items():
        if getattr(annotation, "__origin__", annotation) is float:
            low, high = -math.inf, math.inf
            for bound in getattr(annotation, "__metadata__", ()):
                low = bound.ge if isinstance(bound, Ge) else low
                low = math.nextafter(bound.gt, math.inf) if isinstance(bound, Gt) else low
                high = bound.le if isinstance(bound, Le) else high
                high = math.nextafter(bound.lt, -math.inf) if isinstance(bound, Lt) else high
            limits[field] = (low, high)
    assert {field.name: field.range for field in methods.card(name).fields if field.range} == limits
    for field in limits:
        assert (
            getattr(method_class(name), field) == next(f for f in methods.card(name).fields if f.name == field).default
        )


@pytest.mark.parametrize("name", list(methods))
def test_what_is_drawn_is_near_the_default_and_possible(name):
    fields = {field.name: field for field in methods.card(name).fields}
    for number in range(20):
        values, rate = drawn(methods.card(name), number)
        assert 1e-3 / 4 <= rate <= 4e-3
        for field, value in values.items():
            low, high = fields[field].range
            assert low <= value <= high
            if (low, high) != (0, 1):
                assert 1 / 8.001 <= value / fields[field].default <= 8.001
            else:
                odds = [p / (1 - p) for p in (value, fields[field].default)]
                assert 1 / 8.001 <= odds[0] / odds[1] <= 8.001


def test_switches_are_not_drawn():
    names = [coordinate.name for coordinate in space(methods.card("temo"), 8, {})]
    assert names == ["tau", "tau_min", "tau_alpha"]
    zero = card(real_zero=0.0, share_none=0.0, share_all=1.0, real=-2.0)
    assert [coordinate.name for coordinate in space(zero, 8, {})] == ["real"]


def test_bounds_of_an_annotation_narrow_the_interval():
    (coordinate,) = space(card(bounded=100.0), 8, {})
    assert (coordinate.low, coordinate.high) == (12.5, 200.0)
    (coordinate,) = space(card(bounded=2.0), 8, {})
    assert (coordinate.low, coordinate.high) == (1.0, 16.0)


def test_a_negative_number_keeps_its_sign():
    values = [drawn(card(real=-3.0), number).hyperparameters["real"] for number in range(50)]
    assert max(values) < -3 / 8.001
    assert min(values) > -24.1


@pytest.mark.parametrize("field", ["real", "share", LEARNING_RATE])
def test_draws_are_log_uniform(field):
    of = card(real=0.07, share=0.9)
    trials = [drawn(of, number) for number in range(MANY)]
    values = np.array([t.learning_rate if field == LEARNING_RATE else t.hyperparameters[field] for t in trials])
    sizes = values / (1 - values) / 9 if field == "share" else values / {"real": 0.07, LEARNING_RATE: 1e-3}[field]
    spread = math.log(4 if field == LEARNING_RATE else 8)
    assert kstest(np.log(sizes), "uniform", args=(-spread, 2 * spread)).pvalue > 0.01


def test_equal_names_draw_alike_and_others_do_not():
    def of(name, field="real", fixed=()):
        return [
            drawn(card(name, **{field: 1.0, "real_other": 1.0}), k, fixed).hyperparameters[field] for k in range(MANY)
        ]

    assert of("a") == of("a")
    for other in (of("b"), of("a", "real_2"), of("a", fixed={"switch": True}.items())):
        assert abs(np.corrcoef(np.log(of("a")), np.log(other))[0, 1]) < 0.15


def test_a_field_more_leaves_the_others_as_they_are():
    few, more = drawn(card(real=1.0), 3), drawn(card(real_new=5.0, real=1.0), 3)
    assert more.hyperparameters["real"] == few.hyperparameters["real"]
    assert more.learning_rate == few.learning_rate


def test_a_fixed_field_is_not_drawn():
    assert drawn(methods.card("ts"), fixed={"periods": 5.0}.items()).hyperparameters.keys() == {"tau_min", "tau_max"}


def test_a_refused_draw_is_followed_by_another_at_the_same_rate():
    first, second, *_ = draws(card(real=1.0), {}, 0, RULE, 1e-3)
    assert first.hyperparameters != second.hyperparameters
    assert first.learning_rate == second.learning_rate


def test_few_digits_are_kept():
    assert around("tau", 1 / 3, 2).at(0.5) == 0.3333


def test_a_default_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match=r"made: tuning needs a number as the default of real; it is 1 / 3"):
        space(card(real="1 / 3"), 8, {})
