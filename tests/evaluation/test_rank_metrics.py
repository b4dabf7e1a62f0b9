import subprocess
import sys

import numpy as np
import pytest

from benchsuite.evaluation.rank_metrics import RULES, zero_shot
from benchsuite.registry import tasks


def test_every_task_has_a_rule() -> None:
    assert set(RULES) == set(tasks)


@pytest.mark.parametrize("name", sorted(tasks))
def test_every_number_follows_from_ranks_or_the_rule_says_why_not(name: str) -> None:
    rule, about = RULES[name], tasks.card(name).about
    assert set(rule.not_recomputable) <= {*about["metrics"], *about.get("measures", ())}
    assert set(rule.options) <= {field.name for field in tasks.card(name).fields}
    assert bool(rule.why) == bool(rule.not_recomputable or rule.scores is None)
    if rule.scores is None:
        assert not about["metrics"], "fractions are shares of queries, and follow from their ranks"


def test_each_cut_counts_ranks_up_to_itself() -> None:
    scores = zero_shot({"class": np.array([1, 3, 5, 10, 11], np.int32), "classes": np.array([12])})
    assert scores.metrics == pytest.approx({"top1": 0.2, "top3": 0.4, "top5": 0.6, "top10": 0.8})
    assert scores.counts == {"pictures": 5}


@pytest.mark.parametrize(
    ("classes", "reported"), [(1, [1]), (2, [1]), (5, [1, 3]), (10, [1, 3, 5]), (11, [1, 3, 5, 10])]
)
def test_no_top_k_is_reported_that_must_be_1(classes: int, reported: list[int]) -> None:
    scores = zero_shot({"class": np.array([1, classes], np.int32), "classes": np.array([classes], np.int32)})
    assert [*scores.metrics] == [f"top{k}" for k in reported]


def test_the_rules_need_no_torch() -> None:
    code = "import sys, benchsuite.evaluation.rank_metrics; print({'torch', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
