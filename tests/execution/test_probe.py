from itertools import pairwise
from typing import Any

import pytest

from benchsuite.evaluation.base import Scores
from benchsuite.execution import evaluate as evaluating
from benchsuite.execution.evaluate import probe
from benchsuite.planning.recipe import read_recipe
from benchsuite.setup import Protocol, Setup


def setup(**every: int | None) -> Setup:
    protocols = {name: Protocol(task="retrieval", every=steps) for name, steps in every.items()}
    return read_recipe("scenes-smoke").setup("RN50").model_copy(update={"protocols": protocols})


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Which protocols were evaluated, call by call."""
    seen: list[list[str]] = []

    def scores(*arguments: Any) -> dict[str, Scores]:
        seen.append(sorted(arguments[1]))
        return {name: Scores({"r1": 0.5}, {}, measures={"rank": 3.0}) for name in arguments[1]}

    monkeypatch.setattr(evaluating, "evaluate", scores)
    monkeypatch.setattr(evaluating, "TrainedSides", lambda *_: None)
    return seen


def test_a_protocol_is_evaluated_at_the_first_point_after_each_so_many_steps(evaluated: list[list[str]]) -> None:
    given = setup(often=10, rarely=25, never=None)
    points = (0, 1, 9, 10, 12, 24, 31, 50)
    found = [sorted(probe(given, None, done, last, None, None)) for last, done in pairwise(points)]  # type: ignore[arg-type]
    often, rarely = ["often.r1", "often.rank"], ["rarely.r1", "rarely.rank"]
    assert found == [[], [], often, [], often, [*often, *rarely], [*often, *rarely]]
    assert evaluated == [["often"], ["often"], ["often", "rarely"], ["often", "rarely"]]
