"""What each test item adds to a metric: its mean is the metric, for every task that has items."""

import numpy as np
import pytest
from support.rankings import FILMS

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.recompute import Ranks

RNG = np.random.default_rng(0)


def drawn(count: int, most: int = 15) -> np.ndarray:
    return RNG.integers(1, most, size=count).astype(np.int32)


RANKS: dict[str, Ranks] = {
    "retrieval": {"i2t": drawn(40), "t2i": drawn(200)},
    "gallery-retrieval": {"t2i": drawn(40), "i2t": drawn(40)},
    "video-retrieval": {"v2t": drawn(30), "t2v": drawn(60)},
    "zero-shot": {"class": drawn(50), "classes": np.array([20])},
    "knn": {"class": drawn(50)},
    "linear-probe": {"class": drawn(50)},
    "knn-plain": {"k1": drawn(50), "k10": drawn(50)},
    "mmvp": {"colour": drawn(20, 3), "state": drawn(10, 3)},
    "sentence-transfer": {"mr": drawn(20, 3), "cr": drawn(30, 3)},
    "multi-instance-retrieval": FILMS,
}


def test_every_task_has_items_or_is_no_mean_over_any() -> None:
    assert {name for name, rule in RULES.items() if rule.items} == RANKS.keys()
    assert RULES.keys() - RANKS.keys() == {"geometry", "sts"}


@pytest.mark.parametrize("task", RANKS)
def test_the_mean_over_items_is_the_metric(task: str) -> None:
    rule = RULES[task]
    assert rule.items
    outcomes, metrics = rule.items(RANKS[task]), rule(RANKS[task], {}).metrics
    means = {name: values.mean() for name, values in outcomes.items() if not isinstance(values, str)}
    assert means
    assert {name: means[name] for name in means.keys() & metrics.keys()} == pytest.approx(
        {name: metrics[name] for name in means.keys() & metrics.keys()}
    )
    without = metrics.keys() - means.keys()
    assert without == {name for name, why in outcomes.items() if isinstance(why, str)}
    assert without <= {"average", "map", "ndcg"}


def test_an_item_of_retrieval_is_a_picture_with_its_captions() -> None:
    items = RULES["retrieval"].items
    assert items
    outcomes = items({"i2t": np.array([1, 3, 20]), "t2i": np.array([1, 7, 2, 2, 11, 1])})
    shown = {name: np.asarray(outcomes[name]).tolist() for name in ("i2t_r1", "i2t_r5", "t2i_r1", "t2i_r5", "t2i_r10")}
    assert shown == {
        "i2t_r1": [1, 0, 0], "i2t_r5": [1, 1, 0], "t2i_r1": [0.5, 0, 0.5], "t2i_r5": [0.5, 1, 0.5],
        "t2i_r10": [1, 1, 0.5],
    }  # fmt: skip
    assert np.asarray(outcomes["r_mean"]).tolist() == pytest.approx([5 / 6, 4 / 6, 1.5 / 6])


def test_where_pictures_have_other_numbers_of_captions_their_items_are_not_known() -> None:
    items = RULES["retrieval"].items
    assert items
    outcomes = items({"i2t": np.array([1, 3, 20]), "t2i": np.array([1, 7, 2, 2])})
    says = "which of the 4 captions are of which of the 3 pictures is not stored"
    assert {name for name, why in outcomes.items() if isinstance(why, str)} == {
        "t2i_r1", "t2i_r5", "t2i_r10", "r_mean",
    }  # fmt: skip
    assert outcomes["t2i_r1"] == says
