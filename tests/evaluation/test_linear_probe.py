import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from benchsuite.evaluation.labelled import LabelledRows, probe_ranks


def blobs(seed: int, classes: int, n: int = 40) -> LabelledRows:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.cat([torch.arange(classes), torch.randint(0, classes, (n - classes,), generator=generator)])
    return LabelledRows(torch.eye(4)[labels] + torch.randn(n, 4, generator=generator), labels)


def by_hand(bank: LabelledRows, queries: LabelledRows, classes: int, c: float) -> list[int]:
    x, y = bank.rows.double(), bank.labels

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:  # type: ignore[type-arg]
        weights = torch.tensor(flat.reshape(classes, 5), requires_grad=True)
        loss = torch.nn.functional.cross_entropy(x @ weights[:, :4].T + weights[:, 4], y, reduction="sum")
        total = c * loss + weights[:, :4].square().sum() / 2
        (slope,) = torch.autograd.grad(total, weights)
        return total.item(), slope.numpy().ravel()

    found = minimize(objective, np.zeros(5 * classes), jac=True, tol=1e-10).x.reshape(classes, 5)
    scores = queries.rows.double().numpy() @ found[:, :4].T + found[:, 4]
    return [int(sum(row >= row[t])) for row, t in zip(scores, queries.labels, strict=True)]


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_ranks_agree_with_minimising_the_stated_objective(seed: int) -> None:
    bank, queries = blobs(seed, 3), blobs(seed + 1, 3)
    ranks, fitted = probe_ranks(bank, queries, 0.7, 1000)
    expected = by_hand(bank, queries, 3, 0.7)
    assert fitted["converged"] == 1
    assert sum(a != b for a, b in zip(ranks, expected, strict=True)) <= 1  # scikit-learn stops a little earlier


def ladder(classes: int) -> tuple[LabelledRows, LabelledRows]:
    """Few samples of class 0 against many of class 1, and 101 queries on the way from these to those."""
    labels = torch.tensor([0, 0, *[1] * 12, *([2] * 4 if classes == 3 else [])])
    way = torch.linspace(0, 1, 101)[:, None]
    return LabelledRows(torch.eye(4)[labels], labels), LabelledRows(
        way * torch.eye(4)[0] + (1 - way) * torch.eye(4)[1], torch.zeros(101, dtype=torch.int64)
    )


def won(classes: int, c: float) -> int:
    """How many of the queries are taken for class 0: the weaker the penalty, the more."""
    return int((probe_ranks(*ladder(classes), c, 1000)[0] == 1).sum())


@pytest.mark.parametrize("c", [3.0, 20.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_penalty_is_as_strong_as_stated(classes: int, c: float) -> None:
    halved = c / 2 if classes == 2 else c  # of two classes one vector w decides: W = (w/2, -w/2) has half its |w|^2
    assert won(classes, c) == pytest.approx(by_hand(*ladder(classes), classes, halved).count(1), abs=1)
    assert all(abs(won(classes, other) - won(classes, c)) > 2 for other in (1 / c, c**2, 1.0))


def test_a_fit_that_is_cut_short_says_so() -> None:
    assert probe_ranks(blobs(0, 3), blobs(1, 3), 1.0, 1)[1] == {"iterations": 1, "converged": 0}


def test_a_class_that_was_not_taught_ranks_last() -> None:
    ranks, _ = probe_ranks(blobs(0, 2), LabelledRows(torch.zeros(1, 4), torch.tensor([3])), 1.0, 100)
    assert ranks.tolist() == [4]


def test_one_class_alone_is_known_without_fitting() -> None:
    bank = LabelledRows(torch.eye(2), torch.tensor([1, 1]))
    ranks, fitted = probe_ranks(bank, LabelledRows(torch.eye(2), torch.tensor([1, 0])), 1.0, 100)
    assert ranks.tolist() == [1, 2]
    assert fitted == {"iterations": 0, "converged": 1}
