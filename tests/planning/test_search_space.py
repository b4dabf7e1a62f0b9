"""What tuning draws, for every registered method."""

import math
from dataclasses import replace

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, Lt
from scipy.stats import kstest

from benchsuite.cards import Card, FieldCard
from benchsuite.errors import UsageError
from benchsuite.fields import declared
from benchsuite.methods import method_class
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import (
    CENTRE,
    LEARNING_RATE,
    TEMPERATURES,
    around,
    centre_of,
    draws,
    is_temperature,
    ranges,
    shared,
    space,
)
from benchsuite.registry import methods
from benchsuite.setup import Protocol

RULE = Tuning(trials=4, measure="v.m", protocols={"v": Protocol(task="retrieval")}, spread=8, learning_rate_spread=4)
MANY = 400


def card(name="made", **defaults):
    ranges = {"share": (0.0, 1.0), "real": (-math.inf, math.inf), "bounded": (1.0, 200.0)}
    fields = [FieldCard(field, "", value, range=ranges[field.split("_")[0]]) for field, value in defaults.items()]
    return Card("method", name, "m", "M", "us", "m.py", "", fields=tuple(fields))


def drawn(of, number=0, fixed=(), rate=1e-3, replicate=0, **more):
    return next(draws(of, dict(fixed), number, replicate, RULE, rate, **more))


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
def test_what_is_drawn_is_possible_and_near_the_default_or_its_ratio_to_the_centre(name):
    card = methods.card(name)
    fields, centre = {field.name: field for field in card.fields}, centre_of(methods.card(name))
    for number in range(20):
        values, rate = drawn(card, number)
        assert 1e-3 / 4 <= rate <= 4e-3
        for field, value in values.items():
            low, high = fields[field].range
            assert low <= value <= high
            default = fields[field].default
            if centre and field == centre.name:
                assert TEMPERATURES[0] <= value <= TEMPERATURES[1]
                continue
            if centre and is_temperature(fields[field]):
                value, default = value / values[centre.name], default / centre.default
            if (low, high) == (0, 1) and not is_temperature(fields[field]):
                value, default = (p / (1 - p) for p in (value, default))
            assert 1 / 8.01 <= value / default <= 8.01


@pytest.mark.parametrize("name", [name for name in methods if centre_of(methods.card(name))])
def test_all_methods_of_a_replicate_look_at_the_same_places(name):
    card, centre = methods.card(name), centre_of(methods.card(name)).name
    for replicate in (0, 3):
        for number in range(6):
            mine, plain = (drawn(of, number, replicate=replicate) for of in (card, methods.card("infonce")))
            assert mine.hyperparameters[centre] == plain.hyperparameters["tau"]
            assert mine.learning_rate == plain.learning_rate


def test_replicates_look_elsewhere():
    places = {(drawn(methods.card("infonce"), 0, replicate=r).hyperparameters["tau"]) for r in range(10)}
    assert len(places) == 10


@pytest.mark.parametrize("count", [4, 8, 16])
def test_few_trials_cover_the_square_of_centre_and_rate(count):
    """The largest hole is smaller than that of most squares of as many random points."""
    for replicate in range(10):
        points = np.array([[shared(s, k, replicate) for s in (CENTRE, LEARNING_RATE)] for k in range(count)])
        grid = np.stack(np.meshgrid(*[(np.arange(40) + 0.5) / 40] * 2), axis=-1).reshape(-1, 1, 2)
        away = np.abs(grid - points)
        nearest = np.minimum(away, 1 - away).max(2).min(1)
        assert nearest.max() < 0.75 / math.sqrt(count)
        assert len({*points[:, 0]}) == count


def test_other_temperatures_keep_their_ratio_to_a_centre_that_is_fixed():
    ratios = [drawn(methods.card("ts"), k, {"tau_min": 0.02}.items(), factor=5).hyperparameters for k in range(20)]
    assert all("tau_min" not in values for values in ratios)
    assert all(5 / 8.01 <= values["tau_max"] / (0.02 * 5) <= 5 * 8.01 for values in ratios)


def test_a_method_names_the_temperature_that_others_are_ratios_to():
    named = replace(methods.card("ts"), about={**methods.card("ts").about, "centre": "tau_max"})
    assert (centre_of(methods.card("ts")).name, centre_of(named).name) == ("tau_min", "tau_max")
    assert centre_of(methods.card("mm-ts")).name == "shift_min"
    assert centre_of(methods.card("vicreg")) is None
    wrong = replace(named, about={"centre": "tau"})
    with pytest.raises(UsageError, match=r'ts, centre: temperature "tau" does not exist \(known: tau_max, tau_min\)'):
        centre_of(wrong)


def test_as_printed_the_rate_alone_is_drawn():
    draw = drawn(methods.card("ts"), 2, rate_alone=True)
    assert draw.hyperparameters == {}
    assert draw.learning_rate == drawn(methods.card("ts"), 2).learning_rate


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
    trials = [drawn(of, number, replicate=number) for number in range(MANY)]
    values = np.array([t.learning_rate if field == LEARNING_RATE else t.hyperparameters[field] for t in trials])
    sizes = values / (1 - values) / 9 if field == "share" else values / {"real": 0.07, LEARNING_RATE: 1e-3}[field]
    spread = math.log(4 if field == LEARNING_RATE else 8)
    assert kstest(np.log(sizes), "uniform", args=(-spread, 2 * spread)).pvalue > 0.01


def test_fields_of_one_name_draw_alike_and_others_do_not():
    def of(name, field="real", replicate=0):
        made = card(name, **{field: 1.0, "real_other": 1.0})
        return [drawn(made, k, replicate=replicate).hyperparameters[field] for k in range(MANY)]

    assert of("a") == of("b")
    for other in (of("a", "real_2"), of("a", replicate=1)):
        assert abs(np.corrcoef(np.log(of("a")), np.log(other))[0, 1]) < 0.15


def test_a_field_more_leaves_the_others_as_they_are():
    few, more = drawn(card(real=1.0), 3), drawn(card(real_new=5.0, real=1.0), 3)
    assert more.hyperparameters["real"] == few.hyperparameters["real"]
    assert more.learning_rate == few.learning_rate


def test_a_refused_draw_is_followed_by_another_at_the_same_rate():
    first, second, *_ = draws(methods.card("ts"), {}, 0, 0, RULE, 1e-3)
    assert first.hyperparameters["tau_max"] != second.hyperparameters["tau_max"]
    assert first.hyperparameters["tau_min"] == second.hyperparameters["tau_min"]
    assert first.learning_rate == second.learning_rate


def test_few_digits_are_kept():
    assert around("tau", 1 / 3, 2).at(0.5) == 0.3333


def test_a_default_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match=r"made: tuning needs a number as the default of real; it is 1 / 3"):
        space(card(real="1 / 3"), 8, {})


@pytest.mark.parametrize("name", ["temo", "sogclr", "siglip", "byol"])
def test_ranges_in_words_end_where_draws_do(name):
    card = methods.card(name)
    values = [drawn(card, number)[0] for number in range(MANY)]
    assert ranges(card).keys() == values[0].keys()
    for field, said in ranges(card).items():
        ends, _, whole = said.partition(" times ")
        low, high = sorted(abs(float(end)) for end in ends.split(" to "))
        sizes = [abs(each[field]) / (each[whole] if whole else 1) for each in values]
        assert low * 0.999 <= min(sizes) <= low * 1.1
        assert high / 1.1 <= max(sizes) <= high * 1.001


def test_what_no_search_draws_has_no_range():
    assert ranges(card(share=0.5, bounded="1 / 3")) == {}
    assert ranges(methods.card("temo")).keys() == {"tau", "tau_min", "tau_alpha"}
