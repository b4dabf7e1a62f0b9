import numpy as np
import pytest
import torch

from benchsuite.evaluation import ranks as module
from benchsuite.evaluation.rank_metrics import recall
from benchsuite.evaluation.ranks import ranks_both_ways, ranks_of_columns


def test_many_candidates_come_in_smaller_blocks() -> None:
    assert [module.block_rows(columns) for columns in (1, 5_000, 25_000, 50_000)] == [1024, 1024, 320, 160]
    assert module.block_rows(10**9) == 1


@pytest.mark.parametrize("n", [3, 50, 257])
def test_a_collapsed_model_is_at_chance_or_below(n: int) -> None:
    rows = torch.randn(1, 33, generator=torch.Generator().manual_seed(n)).expand(n, 33)
    for ranks in (ranks_of_columns(rows, rows, torch.arange(n)), *ranks_both_ways(rows, rows, torch.arange(n))):
        assert all(recall(ranks, k) <= k / n for k in (1, 2))


def test_what_is_not_a_number_never_ranks_first() -> None:
    broken, sound = torch.full((3, 2), torch.nan), torch.eye(3, 2)
    for pair in ((broken, sound), (sound, broken)):
        for ranks in (ranks_of_columns(*pair, torch.arange(3)), *ranks_both_ways(*pair, torch.arange(3))):
            assert recall(ranks, 2) == 0


def test_recall_is_the_share_within_the_first_k() -> None:
    ranks = np.array([1, 2, 5, 6], np.int32)
    assert [recall(ranks, k) for k in (1, 2, 5, 10)] == [0.25, 0.5, 0.75, 1.0]
