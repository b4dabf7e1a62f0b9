import numpy as np

from benchsuite.evaluation import ranks as module
from benchsuite.evaluation.rank_metrics import recall


def test_many_candidates_come_in_smaller_blocks() -> None:
    assert [module.block_rows(columns) for columns in (1, 5_000, 25_000, 50_000)] == [1024, 1024, 320, 160]
    assert module.block_rows(10**9) == 1


def test_recall_is_the_share_within_the_first_k() -> None:
    ranks = np.array([1, 2, 5, 6], np.int32)
    assert [recall(ranks, k) for k in (1, 2, 5, 10)] == [0.25, 0.5, 0.75, 1.0]
