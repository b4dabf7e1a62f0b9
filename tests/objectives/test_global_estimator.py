import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.objectives.global_estimator import MovingAverage, contrast, surrogate

SIZES = st.integers(2, 6)
SEEDS = st.integers(0, 2**32 - 1)
TAUS = st.floats(0.03, 1.0)
IDS = torch.arange(4)


def matrix(size: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.rand(size, size, generator=generator, dtype=torch.float64) - 1


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def naive_g(similarity: Tensor, i: int, tau: float | Tensor, positive: bool = False) -> Tensor:
    total, count = torch.zeros((), dtype=torch.float64), 0
    for j in range(len(similarity)):
        if j != i or positive:
            total = total + torch.exp((similarity[i, j] - similarity[i, i]) / tau)
            count += 1
    return total / count


def assert_same_value_and_gradient(ours: Tensor, naive: Tensor, leaf: Tensor) -> None:
    torch.testing.assert_close(ours, naive, atol=1e-8, rtol=1e-8)
    gradients = [torch.autograd.grad(value.sum(), leaf)[0] for value in (ours, naive)]
    torch.testing.assert_close(*gradients, atol=1e-8, rtol=1e-8)


@given(SIZES, SEEDS, TAUS, st.booleans())
def test_log_g_matches_the_naive_twin_in_value_and_gradient(size: int, seed: int, tau: float, positive: bool) -> None:
    s = matrix(size, seed).requires_grad_()
    naive = torch.stack([naive_g(s, i, tau, positive).log() for i in range(size)])
    assert_same_value_and_gradient(contrast(s, positive=positive).log_g(tau), naive, s)


@given(SIZES, SEEDS, TAUS, st.floats(-2, 2), st.floats(0, 8))
def test_the_temperature_gradient_matches_the_naive_twin(
    size: int, seed: int, tau: float, shift: float, rho: float
) -> None:
    s = matrix(size, seed)
    anchors = contrast(s)
    log_g = anchors.log_g(tau)
    log_u = log_g + shift
    slopes = anchors.temperature_gradient(tau, log_g, log_u, rho)
    for i in range(size):
        u, slope = math.exp(log_u[i].item()), 0.0
        for j in range(size):
            if j != i:
                gap = (s[i, j] - s[i, i]).item()
                slope += math.exp(gap / tau) / u / (size - 1) * gap / tau
        assert slopes[i].item() == pytest.approx(math.log(u) + rho - slope, abs=1e-8, rel=1e-8)


@given(SIZES, SEEDS, TAUS, st.floats(0, 8), st.booleans())
def test_g_equals_autograd_of_the_objective_in_tau(
    size: int, seed: int, tau: float, rho: float, positive: bool
) -> None:
    s = matrix(size, seed)
    temperatures = torch.full((size,), tau, dtype=torch.float64, requires_grad=True)
    objective = sum(
        temperatures[i] * naive_g(s, i, temperatures[i], positive).log() + temperatures[i] * rho for i in range(size)
    )
    (expected,) = torch.autograd.grad(objective, temperatures)
    anchors = contrast(s, positive=positive)
    log_g = anchors.log_g(tau)
    slopes = anchors.temperature_gradient(tau, log_g, log_g, rho)
    torch.testing.assert_close(slopes, expected, atol=1e-8, rtol=1e-8)


@given(SIZES, SEEDS, TAUS, st.floats(-3, 3))
def test_the_surrogate_has_the_objectives_value_and_the_estimators_gradient(
    size: int, seed: int, tau: float, shift: float
) -> None:
    s = matrix(size, seed).requires_grad_()
    log_g = contrast(s).log_g(tau)
    u = (log_g + shift).exp().detach()
    ours = surrogate(log_g, u.log(), tau)
    g = torch.stack([naive_g(s, i, tau) for i in range(size)])
    assert ours.item() == pytest.approx((tau * g.log()).mean().item(), abs=1e-8)
    expected = torch.autograd.grad((tau / u * g).mean(), s)[0]
    torch.testing.assert_close(torch.autograd.grad(ours, s)[0], expected, atol=1e-8, rtol=1e-8)


@given(SIZES, SEEDS, TAUS)
def test_the_released_mean_divides_by_the_number_of_negatives(size: int, seed: int, tau: float) -> None:
    s, within = matrix(size, seed), matrix(size, seed + 1)
    for own, negatives in ((None, size - 1), (within, 2 * (size - 1))):
        ours = contrast(s, own, positive=True).log_g(tau)
        released = contrast(s, own, positive=True, released_mean=True).log_g(tau)
        torch.testing.assert_close(released, ours + math.log((negatives + 1) / negatives), atol=1e-12, rtol=1e-12)


@given(SIZES, SEEDS, TAUS)
def test_exponents_without_the_positive(size: int, seed: int, tau: float) -> None:
    s = matrix(size, seed)
    anchors = contrast(s, relative=False)
    for i in range(size):
        exponents = [s[i, j].item() / tau for j in range(size) if j != i]
        expected = math.log(sum(math.exp(x) for x in exponents) / (size - 1))
        assert anchors.log_g(tau)[i].item() == pytest.approx(expected, abs=1e-10)
        assert anchors.highest(tau)[i].item() == pytest.approx(max(*exponents, s[i, i].item() / tau))


def test_first_visit_gives_g() -> None:
    average = MovingAverage(6, gamma=0.3)
    log_g = vector(0.5, -2, 300, -350)
    assert torch.isneginf(average.log_u).all()
    assert average(log_g[None], IDS, 0)[0].tolist() == log_g.tolist()
    assert average.log_u[:4].tolist() == log_g.tolist()
    assert torch.isneginf(average.log_u[4:]).all()


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), st.floats(0.01, 1))
def test_the_average_matches_the_naive_recurrence(visits: list[float], gamma: float) -> None:
    average, zero_start, first_epoch = (MovingAverage(1, gamma, rule) for rule in ("g", "gamma-g", "first-epoch"))
    u, v, w = None, 0.0, 0.0
    for number, log_g in enumerate(visits):
        g, epoch = math.exp(log_g), number // 3
        u = g if u is None else (1 - gamma) * u + gamma * g
        v = (1 - gamma) * v + gamma * g
        w = g if epoch == 0 else (1 - gamma) * w + gamma * g
        for rule, naive in ((average, u), (zero_start, v), (first_epoch, w)):
            log_u = rule(vector(log_g)[None], torch.tensor([0]), epoch)
            assert log_u.item() == pytest.approx(math.log(naive), abs=1e-8)
            assert rule.log_u.item() == log_u.item()


@pytest.mark.parametrize(("rule", "u"), [("g", 1.0), ("gamma-g", 0.3), ("first-epoch", 0.3)])
def test_a_sample_first_met_after_the_first_epoch(rule: Any, u: float) -> None:
    average = MovingAverage(1, 0.3, rule)
    assert average(vector(2.0)[None], torch.tensor([0]), 3).item() == pytest.approx(2.0 + math.log(u))


def test_several_estimates_of_one_step_count_once_by_their_mean() -> None:
    average = MovingAverage(2, 0.5)
    average(vector(0, 0)[None], torch.arange(2), 0)
    both = average(torch.stack([vector(0, 1), vector(1, 300)]), torch.arange(2), 0)
    log_u = both[0]
    assert torch.equal(both[1], log_u)
    assert log_u[0].item() == pytest.approx(math.log(0.5 + 0.5 * (1 + math.e) / 2), abs=1e-12)
    assert log_u[1].item() == pytest.approx(300 + math.log(0.25), abs=1e-9)


def test_in_turn_each_estimate_moves_u_and_reads_what_the_one_before_left() -> None:
    average, estimates = MovingAverage(4, 0.3), torch.stack([vector(0, 1, 2, 3), vector(1, -4, 0, 2)])
    average(vector(1, 1, 1, 1)[None], IDS, 0)
    u, expected = torch.full((4,), math.e, dtype=torch.float64), []
    for estimate in estimates:
        u = 0.7 * u + 0.3 * estimate.exp()
        expected.append(u.log())
    would_be = average.eval()(estimates, IDS, 0, in_turn=True)
    torch.testing.assert_close(would_be, torch.stack(expected), atol=1e-12, rtol=1e-12)
    assert torch.equal(average.train()(estimates, IDS, 0, in_turn=True), would_be)
    assert torch.equal(average.log_u, would_be[-1])


def test_gamma_one_forgets_the_past() -> None:
    average = MovingAverage(4, 1.0)
    average(vector(300, 2, 3, 4)[None], IDS, 0)
    assert average(vector(-300, 0, 0, 1)[None], IDS, 0).tolist() == [[-300, 0, 0, 1]]


def test_only_the_batchs_samples_move_and_order_is_free() -> None:
    first, second = MovingAverage(9, 0.6), MovingAverage(9, 0.6)
    ids, order = torch.tensor([7, 0, 3]), torch.tensor([2, 0, 1])
    for log_g in (vector(0.1, -1, 2), vector(3, 1, -2)):
        ours = first(log_g[None], ids, 0)
        assert torch.equal(second(log_g[order][None], ids[order], 0), ours[:, order])
    assert torch.equal(first.log_u, second.log_u)
    assert torch.isneginf(first.log_u[[1, 2, 4, 5, 6, 8]]).all()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_a_sample_met_twice_in_a_batch_counts_its_mean(order: list[int]) -> None:
    average = MovingAverage(3, 0.5)
    average(vector(0, 0, 0)[None], torch.arange(3), 0)
    log_g, ids = vector(1, 2, 5)[order], torch.tensor([0, 0, 2])[order]
    (log_u,) = average(log_g[None], ids, 0)
    twice = math.log(0.5 + 0.5 * (math.e + math.e**2) / 2)
    expected = {0: twice, 2: math.log(0.5 + 0.5 * math.e**5)}
    assert log_u.tolist() == pytest.approx([expected[i] for i in ids.tolist()], abs=1e-12)
    assert average.log_u.tolist() == pytest.approx([twice, 0, expected[2]], abs=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_no_exponential_overflows_at_the_largest_gap_and_the_coldest_temperature(dtype: torch.dtype) -> None:
    s = (-torch.eye(4, dtype=dtype) + (1 - torch.eye(4, dtype=dtype))).requires_grad_()
    anchors, average = contrast(s), MovingAverage(4, 0.8)
    assert not torch.isfinite((anchors.exponents.dense() / 0.005).float().exp()).all()
    for log_g in (anchors.log_g(0.005), contrast(-s).log_g(0.005), anchors.log_g(0.005)):
        log_u = average(log_g[None], IDS, 0)
        loss = surrogate(log_g, log_u, 0.005)
        (gradient,) = torch.autograd.grad(loss, s, retain_graph=True)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()
        assert torch.isfinite(anchors.temperature_gradient(0.005, log_g, log_u, 6.0)).all()
    assert anchors.log_g(0.005).tolist() == pytest.approx([400] * 4, rel=1e-6)


@given(SIZES, SEEDS, st.sampled_from([0.01, 0.05]))
def test_single_precision_is_exact_to_its_rounding(size: int, seed: int, tau: float) -> None:
    s = matrix(size, seed)
    exact = contrast(s).log_g(tau)
    assert (contrast(s.float()).log_g(tau).double() - exact).abs().max() < 4e-7 / tau
    rounded = s.bfloat16()
    assert (contrast(rounded.float()).log_g(tau).double() - exact).abs().max() < 2 * 2**-8 / tau


def test_the_state_is_kept_in_double_precision_and_given_in_the_batchs() -> None:
    average = MovingAverage(4, 0.8)
    assert average(torch.zeros(1, 4), IDS, 0).dtype == torch.float32
    assert average(torch.zeros(1, 4, dtype=torch.float64), IDS, 0).dtype == torch.float64
    assert average.state_dict()["log_u"].dtype == torch.float64
