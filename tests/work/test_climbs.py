"""Whether searches are long enough: what their second half found beyond their first."""

from types import SimpleNamespace
from typing import Any

import pytest
from support.made_trials import trials_of

from benchsuite.report.numbers import climbed
from benchsuite.work.tables import climbs

COUNT = 4


def search(replicate: int, scores: list[float | None], row: str = "RN50 infonce", regime: str = "tuned") -> Any:
    trials = [one.model_copy(update={"score": score}) for one, score in zip(trials_of("infonce"), scores, strict=False)]
    return SimpleNamespace(recipe="r", row=row, replicate=replicate, trials=COUNT, regime=regime), trials


def test_the_gain_of_the_second_half_is_the_mean_over_replicates() -> None:
    done = [search(0, [0.1, 0.3, 0.35, None]), search(1, [0.3, 0.2, 0.1, 0.2]), search(2, [None, None, 0.9, 0.1])]
    ((row, count, gain),) = climbs(SimpleNamespace(done=done))  # type: ignore[arg-type]  # all that is read
    assert (row, count) == ("RN50 infonce", COUNT)
    assert gain.difference == pytest.approx(0.025), "replicate 2 has nothing to compare with"
    assert f"{row}: {climbed(count, gain)}".startswith("RN50 infonce: the best of 4 trials is +2.5 ±")
    assert climbed(count, gain).endswith("points above the best of 2")


def test_searches_that_are_not_done_or_of_the_rate_alone_say_nothing() -> None:
    short = [search(r, [0.1, 0.2]) for r in range(3)]
    rate = [search(r, [0.1, 0.2, 0.3, 0.4], regime="printed") for r in range(3)]
    one = [search(0, [0.1, 0.2, 0.3, 0.4], "RN50 temo")]
    assert list(climbs(SimpleNamespace(done=[*short, *rate, *one]))) == []  # type: ignore[arg-type]
