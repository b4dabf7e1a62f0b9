import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from benchsuite.evaluation import labelled as module
from benchsuite.evaluation.labelled import plain_vote_ranks, vote_ranks
from benchsuite.records.schema import contradictions
from benchsuite.registry import tasks


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


def points(seed: int, n: int = 40, queries: int = 12) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(queries + n, 3, generator=generator, dtype=torch.float64) * 2 + 1
    labels = torch.randint(0, 4, (queries + n,), generator=generator)
    return rows[:queries], rows[queries:], labels[queries:], labels[:queries]


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_plain_votes_agree_with_counting_by_hand(seed: int, k: int) -> None:
    queries, bank, labels, truth = points(seed)
    found = plain_vote_ranks(queries, bank, labels, truth, (k,))[k]
    for i, query in enumerate(queries):
        near = sorted(range(len(bank)), key=lambda j: float((query - bank[j]).norm()))[:k]
        votes = [sum(int(labels[j]) == c for j in near) for c in range(4)]
        assert found[i] == sum(vote >= votes[int(truth[i])] for vote in votes)


def test_more_neighbours_may_classify_worse_and_the_record_takes_it() -> None:
    assert contradictions(dict.fromkeys(tasks.card("knn-plain").about["metrics"], 0.5) | {"k10_top1": 0.25}) == []


def test_blocks_do_not_change_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = points(3)
    plain, weighted = plain_vote_ranks(*given_, (1, 10)), vote_ranks(*given_, 10, 0.1)
    monkeypatch.setattr(module, "BLOCK", 5)
    assert np.array_equal(plain_vote_ranks(*given_, (1, 10))[10], plain[10])
    assert np.array_equal(vote_ranks(*given_, 10, 0.1), weighted)
