import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.evaluation import ranks as module
from benchsuite.evaluation.ranks import best_ranks_of_groups, ranks_of_columns, recall

SMALL = st.integers(-2, 2)


@st.composite
def embeddings(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """Whole numbers, so that ties are many and exact; every picture has a caption."""
    n, width = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    owners = draw(st.permutations([*range(n), *draw(st.lists(st.integers(0, n - 1), max_size=5))]))
    row = st.lists(SMALL, min_size=width, max_size=width)
    image = draw(st.lists(row, min_size=n, max_size=n))
    text = draw(st.lists(row, min_size=len(owners), max_size=len(owners)))
    return np.array(image, float), np.array(text, float), list(owners)


def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


@given(embeddings())
def test_rank_of_the_right_picture_counts_all_that_score_as_much(
    given_: tuple[NDArray[np.float64], NDArray[np.float64], list[int]],
) -> None:
    image, text, owners = given_
    expected = []
    for j, owner in enumerate(owners):
        right = dot(text[j], image[owner])
        before = [k for k in range(len(image)) if k != owner and dot(text[j], image[k]) >= right]
        expected.append(1 + len(before))
    found = ranks_of_columns(torch.tensor(text), torch.tensor(image), torch.tensor(owners))
    assert found.tolist() == expected


@given(embeddings())
def test_best_rank_of_a_group_counts_all_others_that_score_as_much(
    given_: tuple[NDArray[np.float64], NDArray[np.float64], list[int]],
) -> None:
    image, text, owners = given_
    expected = []
    for i in range(len(image)):
        ranks = []
        for j, owner in enumerate(owners):
            if owner == i:
                right = dot(image[i], text[j])
                others = [k for k in range(len(text)) if owners[k] != i and dot(image[i], text[k]) >= right]
                ranks.append(1 + len(others))
        expected.append(min(ranks))
    found = best_ranks_of_groups(torch.tensor(image), torch.tensor(text), torch.tensor(owners))
    assert found.tolist() == expected


def test_blocks_do_not_change_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = torch.randn(2, 50, 8, generator=torch.Generator().manual_seed(0))
    whole = ranks_of_columns(*rows, torch.arange(50)), best_ranks_of_groups(*rows, torch.arange(50))
    monkeypatch.setattr(module, "BLOCK", 7)
    parts = ranks_of_columns(*rows, torch.arange(50)), best_ranks_of_groups(*rows, torch.arange(50))
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


def test_many_candidates_come_in_smaller_blocks() -> None:
    assert [module.block_rows(columns) for columns in (1, 5_000, 25_000, 50_000)] == [1024, 1024, 320, 160]
    assert module.block_rows(10**9) == 1


@pytest.mark.parametrize("n", [3, 50, 257])
def test_a_collapsed_model_is_at_chance_or_below(n: int) -> None:
    rows = torch.randn(1, 33, generator=torch.Generator().manual_seed(n)).expand(n, 33)
    for ranks in (ranks_of_columns(rows, rows, torch.arange(n)), best_ranks_of_groups(rows, rows, torch.arange(n))):
        assert all(recall(ranks, k) <= k / n for k in (1, 2))


def test_what_is_not_a_number_never_ranks_first() -> None:
    broken, sound = torch.full((3, 2), torch.nan), torch.eye(3, 2)
    for pair in ((broken, sound), (sound, broken)):
        assert recall(ranks_of_columns(*pair, torch.arange(3)), 2) == 0
        assert recall(best_ranks_of_groups(*pair, torch.arange(3)), 2) == 0


def test_recall_is_the_share_within_the_first_k() -> None:
    ranks = np.array([1, 2, 5, 6], np.int32)
    assert [recall(ranks, k) for k in (1, 2, 5, 10)] == [0.25, 0.5, 0.75, 1.0]
