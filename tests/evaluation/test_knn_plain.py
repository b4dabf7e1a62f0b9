import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import UsageError
from benchsuite.evaluation import knn as module
from benchsuite.evaluation.knn import plain_vote_ranks, vote_ranks
from benchsuite.records.schema import contradictions
from benchsuite.registry import tasks

SEEDS = st.integers(0, 10**6)


def points(seed: int, n: int = 40, queries: int = 12) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(queries + n, 3, generator=generator, dtype=torch.float64) * 2 + 1
    labels = torch.randint(0, 4, (queries + n,), generator=generator)
    return rows[:queries], rows[queries:], labels[queries:], labels[:queries]


@given(SEEDS, st.integers(1, 60))
def test_votes_agree_with_counting_by_hand(seed: int, k: int) -> None:
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


@pytest.mark.parametrize("votes", [lambda *a: vote_ranks(*a, 3, 0.1), lambda *a: plain_vote_ranks(*a, (1,))])
@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        (0, torch.zeros(2, 4), "same width"),
        (0, torch.zeros(3), "queries must be"),
        (1, torch.full((2, 3), torch.nan), "bank: row 0 is not finite"),
        (2, torch.tensor([0]), "bank: 2 rows need as many classes"),
        (3, torch.tensor([0, -1]), "class -1 is below 0"),
    ],
)
def test_what_cannot_vote_is_refused(votes, part: int, value: torch.Tensor, says: str) -> None:  # type: ignore[no-untyped-def]
    given_ = [torch.zeros(2, 3), torch.zeros(2, 3), torch.tensor([0, 1]), torch.tensor([0, 1])]
    given_[part] = value
    with pytest.raises(UsageError, match=says):
        votes(*given_)
