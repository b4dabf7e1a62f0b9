"""Matrices in blocks of rows: the dense twin's values and gradients, temperatures' parameters included."""

import math
import weakref
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.methods.mm_ts import max_margin
from benchsuite.objectives.blocks import Block, Sizes, sized
from benchsuite.objectives.global_estimator import contrast
from benchsuite.objectives.nt_xent import Candidates, nt_xent
from benchsuite.objectives.pairwise import Pairwise, by_rows, combined, log_sums, pairwise, similarities
from benchsuite.objectives.softmax import cross_entropy_rows, info_nce

SIZES = st.integers(2, 9)
ROWS = st.integers(1, 10)
SEEDS = st.integers(0, 2**32 - 1)


def leaves(size: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Anchors and candidates, [size, 3], a scalar and a vector of temperatures; all with gradients."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float64)

    tensors = (2 * draw(size, 3) - 1, 2 * draw(size, 3) - 1, 0.1 + draw(), 0.1 + draw(size))
    return tuple(tensor.requires_grad_() for tensor in tensors)  # type: ignore[return-value]


def assert_twins(ours: Callable[..., Tensor], naive: Callable[..., Tensor], size: int, seed: int, rows: int) -> None:
    """The value and all gradients, whole and in blocks of `rows`, are those of the twin."""
    given_leaves = leaves(size, seed)
    expected = naive(*given_leaves)
    weights = torch.linspace(0.5, 1.5, expected.numel(), dtype=torch.float64).view(expected.shape)
    slopes = torch.autograd.grad((weights * expected).sum(), given_leaves, allow_unused=True)
    for sizes in (Sizes(), Sizes(whole=0, rows=rows), Sizes(whole=0)):
        with sized(sizes):
            value = ours(*given_leaves)
        found = torch.autograd.grad((weights * value).sum(), given_leaves, allow_unused=True)
        torch.testing.assert_close(value, expected, atol=1e-10, rtol=1e-10)
        for mine, twin in zip(found, slopes, strict=True):
            assert (mine is None) == (twin is None)
            if mine is not None:
                torch.testing.assert_close(mine, twin, atol=1e-10, rtol=1e-10)


def naive_rows(logits: Tensor) -> Tensor:
    """The mean of -log softmax(row)[its own place], entry by entry."""
    each = [torch.log(sum(torch.exp(v) for v in row)) - row[i] for i, row in enumerate(logits)]
    return torch.stack(each).mean()


@given(SIZES, SEEDS, ROWS)
def test_info_nce_at_a_learned_temperature(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        return 0.5 * (naive_rows(x @ y.T / tau) + naive_rows((x @ y.T / tau).T))

    assert_twins(lambda x, y, tau, each: info_nce(similarities(x, y), tau), naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS, st.booleans())
def test_info_nce_at_temperatures_that_follow_similarities(size: int, seed: int, rows: int, detached: bool) -> None:
    def naive(x: Tensor, y: Tensor, alpha: Tensor, each: Tensor) -> Tensor:
        s = x @ y.T
        tau = 0.1 + alpha * torch.sigmoid(s.detach() if detached else s)
        return 0.5 * (naive_rows(s / tau) + naive_rows((s / tau).T))

    def ours(x: Tensor, y: Tensor, alpha: Tensor, each: Tensor) -> Tensor:
        s = similarities(x, y)
        return info_nce(s, (s.detach() if detached else s).map(lambda s: 0.1 + alpha * torch.sigmoid(s)))

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_temperatures_may_come_from_other_similarities_and_matrices(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, alpha: Tensor, each: Tensor) -> Tensor:
        tau = 0.1 + alpha * torch.sigmoid((x @ x.T + y @ y.T) / 2)
        dense = 0.5 + torch.outer(each, each)
        return naive_rows(x @ y.T / tau) + naive_rows((x @ y.T).T / dense)

    def ours(x: Tensor, y: Tensor, alpha: Tensor, each: Tensor) -> Tensor:
        both = combined(lambda a, b: (a + b) / 2, similarities(x, x), similarities(y, y))
        s = similarities(x, y)
        tau = both.map(lambda s: 0.1 + alpha * torch.sigmoid(s))
        return cross_entropy_rows(s / tau) + cross_entropy_rows(s.T / (0.5 + torch.outer(each, each)))

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_a_column_of_temperatures_divides_rows_and_turns_with_the_matrix(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        logits = x @ y.T / each[:, None]
        return naive_rows(logits) + 2 * naive_rows(logits.T) + 3 * naive_rows((x @ y.T).T / each[:, None])

    def ours(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        s = similarities(x, y)
        logits = s / each[:, None]
        ways = (logits, logits.T, s.T / each[:, None])
        return sum((n * cross_entropy_rows(way) for n, way in enumerate(ways, 1)), torch.zeros((), dtype=torch.float64))

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_log_sums_of_rows_and_columns(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        e = torch.exp(x @ y.T / tau)
        return torch.stack([e.sum(1).log(), e.sum(0).log(), e.diagonal().log()])

    assert_twins(lambda x, y, tau, each: torch.stack(log_sums(similarities(x, y) / tau)), naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_nt_xent_of_two_views(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        both, losses = torch.cat([x, y]), []
        for i, anchor in enumerate(both):
            logits = [(anchor * other).sum() / tau for other in both]
            others = [value for j, value in enumerate(logits) if j != i]
            losses.append(torch.log(sum(torch.exp(v) for v in others)) - logits[(i + size) % (2 * size)])
        return torch.stack(losses).mean().repeat(2)

    def ours(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        logits = Candidates(x, y) / tau
        return torch.stack([nt_xent(logits), nt_xent(logits.dense())])

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_positives_and_means(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        return torch.cat([(x @ y.T / each[:, None]).diagonal() * tau, (x * y).sum(1).repeat(2)])

    def ours(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        scaled = tau * (similarities(x, y) / each[:, None])
        torch.testing.assert_close(scaled.mean(), scaled.dense().mean().detach())
        torch.testing.assert_close(scaled.T.positives(), scaled.positives())
        return torch.cat([scaled.positives(), Candidates(x, y).positives()])

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_max_margin_with_a_margin_for_each_pair(size: int, seed: int, rows: int) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        s, terms = x @ y.T, []
        for i in range(size):
            for j in range(size):
                if i != j:
                    terms += [torch.relu(each[i] - s[i, i] + s[i, j]), torch.relu(each[i] - s[i, i] + s[j, i])]
        return torch.stack(terms).mean().repeat(2)

    def ours(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        return torch.stack([max_margin(similarities(x, y), each), max_margin(x @ y.T, each)])

    assert_twins(ours, naive, size, seed, rows)


def test_max_margin_of_one_pair_alone_costs_nothing() -> None:
    s = torch.zeros(1, 1, requires_grad=True)
    value = max_margin(s, 0.2)
    assert value.item() == 0
    assert torch.autograd.grad(value, s)[0].tolist() == [[0.0]]


@given(SIZES, SEEDS, ROWS, st.booleans(), st.booleans())
def test_log_g_with_and_without_candidates_of_the_same_side(
    size: int, seed: int, rows: int, within: bool, positive: bool
) -> None:
    def naive(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        s, result = [x @ y.T, x @ x.T][: 1 + within], []
        for i in range(size):
            e = [torch.exp((m[i, j] - s[0][i, i]) / each[i]) for m in s for j in range(size) if j != i]
            e += [torch.ones((), dtype=torch.float64)] * positive
            result.append(torch.log(sum(e) / len(e)))
        return torch.stack(result)

    def ours(x: Tensor, y: Tensor, tau: Tensor, each: Tensor) -> Tensor:
        return contrast(similarities(x, y), similarities(x, x) if within else None, positive=positive).log_g(each)

    assert_twins(ours, naive, size, seed, rows)


@given(SIZES, SEEDS, ROWS)
def test_what_needs_no_gradient_is_the_same_in_blocks(size: int, seed: int, rows: int) -> None:
    x, y, _, each = (tensor.detach() for tensor in leaves(size, seed))

    def values() -> list[Tensor]:
        anchors = contrast(similarities(x, y))
        log_g = anchors.log_g(each)
        return [log_g, anchors.temperature_gradient(each, log_g, log_g - 1, 2.0), anchors.highest(each)]

    whole = values()
    with sized(Sizes(whole=0, rows=rows)):
        torch.testing.assert_close(values(), whole, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("sizes", [Sizes(), Sizes(whole=0, rows=2)], ids=["whole", "blocks"])
def test_a_small_matrix_is_computed_once_and_a_large_one_never(sizes: Sizes) -> None:
    x, y, tau, _ = leaves(6, 0)
    heights: list[int] = []

    def watched(s: Tensor) -> Tensor:
        heights.append(len(s))
        return s

    with sized(sizes):
        s = similarities(x, y).map(watched)
        (info_nce(s, 0.1) + info_nce(s, tau)).backward()
    assert heights == ([6] if sizes == Sizes() else [2] * 12)


def test_no_more_than_a_block_is_alive_and_none_between_forwards_and_backwards() -> None:
    x, y, tau, _ = leaves(8, 0)
    blocks: list[weakref.ref[Tensor]] = []
    most = 0

    def watched(s: Tensor) -> Tensor:
        nonlocal most
        blocks.append(weakref.ref(s.untyped_storage()))
        most = max(most, alive())
        return s

    def alive() -> int:
        return sum(block() is not None for block in blocks)

    with sized(Sizes(whole=0, rows=2)):
        s = similarities(x, y).map(lambda s: watched(s.clone()))
        info = info_nce(s, tau)
        rows = by_rows(lambda block: s.at(block)[:, 0], s)
    assert len(blocks) == 8
    assert alive() == 0
    (info + rows.sum()).backward()
    assert len(blocks) == 12  # of the sums: the gradient of a column needs nothing of its block
    assert most <= 2


def test_a_value_computed_without_gradient_does_not_stay_for_the_loss() -> None:
    x, y, *_ = leaves(4, 0)
    s = similarities(x, y)
    assert not s.mean().requires_grad
    info_nce(s, 0.1).backward()
    assert x.grad is not None
    assert x.grad.abs().sum() > 0


def test_vectors_are_refused() -> None:
    x, y, _, each = leaves(4, 0)
    with pytest.raises(ValueError, match=r"a vector was given for a matrix.*v\[:, None\] for rows"):
        similarities(x, y) / each
    with pytest.raises(ValueError, match=r"one dimension.*scalar or one temperature for each pair"):
        info_nce(similarities(x, y), each)


def test_candidates_of_views_have_no_transpose() -> None:
    x, y, *_ = leaves(4, 0)
    with sized(Sizes(whole=0)), pytest.raises(TypeError, match="no transpose"):
        cross_entropy_rows(Candidates(x, y).T)


@given(st.integers(1, 6), st.integers(1, 9), ROWS)
def test_rows_may_have_any_number_of_columns(size: int, columns: int, rows: int) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(n, 3, generator=generator, dtype=torch.float64) for n in (size, columns))
    s: Pairwise = pairwise(x @ y.T)

    def each(block: Block) -> Tensor:
        return torch.stack([s.at(block).sum(1), block.of(torch.arange(size)).double()], dim=1)

    with sized(Sizes(whole=0, rows=rows)):
        found = by_rows(each, s)
    assert found.shape == (size, 2)
    for i in range(size):
        assert found[i, 0].item() == pytest.approx(math.fsum((x[i] @ other).item() for other in y), abs=1e-12)
        assert found[i, 1] == i
