"""What is measured can be computed again from what is kept, or the task says why not."""

import pytest

from benchsuite.evaluation.base import Task
from benchsuite.registry import tasks

NAMES = sorted(tasks)


@pytest.mark.parametrize("name", NAMES)
def test_every_task_can_be_rescored_or_says_why_not(name: str) -> None:
    task, about = tasks.get(name), tasks.card(name).about
    assert set(task.not_recomputable) <= {*about["metrics"], *about.get("measures", ())}
    if task.from_ranks is Task.from_ranks:
        assert not about["metrics"], "fractions are shares of queries, and follow from their ranks"
    if task.not_recomputable or task.from_ranks is Task.from_ranks:
        assert task.why_not_recomputable != Task.why_not_recomputable
