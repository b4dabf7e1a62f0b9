import subprocess
import sys

import numpy as np
import pytest
from rankings import FILMS

from benchsuite.evaluation.base import Task, create_task
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.registry import tasks

LEFT_TO_RESCORE = {"sts"}
"""Tasks of ours whose options decide what follows from what they keep."""
ARRAYS = ("class", "i2t", "t2i", "v2t", "t2v", "k1", "k10")
OPTIONS = {"classes": "kind", "templates": "t"}
RANKS = {name: np.array([1, 2, 1, 9, 11, 4], np.int32) + i for i, name in enumerate(ARRAYS)}


def test_every_task_that_tells_from_ranks_has_a_rule() -> None:
    telling = {name for name in tasks if tasks.get(name).from_ranks is not Task.from_ranks}
    assert telling - LEFT_TO_RESCORE == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_what_the_task_gives(name: str) -> None:
    options = {key: value for key, value in OPTIONS.items() if key in {f.name for f in tasks.card(name).fields}}
    task = create_task(name, **options)
    wanted = getattr(task, "directions", ARRAYS)
    ranks = {key: RANKS[key] for key in wanted} if RULES[name].plain else FILMS
    told = RULES[name].scores(ranks)
    assert told == task.from_ranks(ranks)
    assert set(told.metrics) <= {*tasks.card(name).about["metrics"], *ARRAYS}
    assert RULES[name].items in ("", *told.counts)
    assert set(RULES[name].not_recomputable) == set(task.not_recomputable)


def test_the_rules_need_no_torch() -> None:
    code = "import sys, benchsuite.evaluation.rank_metrics; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
