import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from benchsuite.evaluation.knn import vote_ranks


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_votes_agree_with_counting_by_hand(seed: int, k: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    queries, bank = (normalize(torch.randn(n, 3, generator=generator, dtype=torch.float64), dim=1) for n in (5, 10))
    labels, truth = (torch.randint(0, 4, (n,), generator=generator) for n in (10, 5))
    found = vote_ranks(queries, bank, labels, truth, k, 0.1)
    for i, query in enumerate(queries):
        cosines = [float(query @ other) for other in bank]
        near = sorted(range(10), key=lambda j: -cosines[j])[:k]
        votes = [math.fsum(math.exp(cosines[j] / 0.1) for j in near if int(labels[j]) == c) for c in range(4)]
        assert found[i] == sum(vote >= votes[int(truth[i])] - 1e-9 for vote in votes)


def test_a_class_without_votes_ranks_last() -> None:
    bank = torch.eye(2)
    ranks = vote_ranks(bank[:1], bank, torch.tensor([0, 1]), torch.tensor([2]), 2, 0.1)
    assert ranks.tolist() == [3]


def test_all_neighbours_are_asked_where_there_are_fewer_than_k() -> None:
    bank = torch.eye(3)
    ranks = vote_ranks(bank, bank, torch.arange(3), torch.arange(3), 200, 0.1)
    assert ranks.tolist() == [1, 1, 1]
    assert ranks.dtype == np.int32
