import math
from collections.abc import Callable

import pytest

from benchsuite.setup import Schedule, Setup
from benchsuite.training.loop import learning_rate


@pytest.fixture
def make(make_setup: Callable[..., Setup]) -> Callable[..., Setup]:
    def with_schedule(steps: int, warmup: int = 0, final: float = 0.0) -> Setup:
        schedule = Schedule(warmup_steps=warmup, final_lr=final)
        return make_setup(lr=0.8, steps=steps).model_copy(update={"schedule": schedule})

    return with_schedule


def test_warm_up_is_linear_and_ends_at_the_peak(make: Callable[..., Setup]) -> None:
    setup = make(steps=20, warmup=4)
    assert [learning_rate(setup, step) for step in range(5)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])


def test_without_warm_up_the_first_step_is_the_peak(make: Callable[..., Setup]) -> None:
    assert learning_rate(make(steps=10), 0) == 0.8


def test_cosine_falls_half_way_and_towards_the_final_rate(make: Callable[..., Setup]) -> None:
    setup = make(steps=104, warmup=4, final=0.1)
    expected = [0.1 + 0.7 * (1 + math.cos(math.pi * k / 100)) / 2 for k in range(100)]
    assert [learning_rate(setup, 4 + k) for k in range(100)] == pytest.approx(expected)
    assert learning_rate(setup, 54) == pytest.approx(0.45)
    assert learning_rate(setup, 104) == pytest.approx(0.1)


def test_rates_never_rise_after_the_warm_up(make: Callable[..., Setup]) -> None:
    setup = make(steps=30, warmup=7)
    rates = [learning_rate(setup, step) for step in range(7, 30)]
    assert rates == sorted(rates, reverse=True)
    assert min(rates) > 0


def test_a_training_that_is_all_warm_up_works(make: Callable[..., Setup]) -> None:
    assert learning_rate(make(steps=3, warmup=5), 2) == pytest.approx(0.48)
