import math

import pytest
import torch
from family import NOW, assert_twins, batch_of, collapsed, dot, gradients, minus_log_softmax, one_sided, rows, total
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.simclr import odds_weighed

ALL = ("simclr", "dcl", "dclw", "macl")


def cosines(batch: PairBatch) -> list[list[Tensor]]:
    """For each of the 2B anchors: its positive, then its negatives."""
    z = [row for view in batch.views for row in rows(view)]
    lists = []
    for i in range(len(z)):
        partner = (i + batch.size) % len(z)
        lists.append([dot(z[i], z[k]) for k in (partner, *(k for k in range(len(z)) if k not in (i, partner)))])
    return lists


def naive_simclr(batch: PairBatch, tau: float) -> Tensor:
    losses = [minus_log_softmax([s / tau for s in row], 0) for row in cosines(batch)]
    return sum(losses) / len(losses)


def naive_dcl(batch: PairBatch, tau: float, sigma: float | None = None, detach: bool = False) -> Tensor:
    total, table = torch.zeros((), dtype=torch.float64), cosines(batch)
    positives = [row[0].detach() if detach else row[0] for row in table]
    for i, row in enumerate(table):
        weight = 1.0
        if sigma is not None:
            mean = sum(torch.exp(s / sigma) for s in positives) / len(positives)
            weight = 2 - torch.exp(positives[i] / sigma) / mean
        total = total - weight * row[0] / tau + torch.log(sum(torch.exp(s / tau) for s in row[1:]))
    return total / len(table)


def naive_macl(batch: PairBatch, tau: float, alpha: float, a_0: float, reweight: bool) -> Tensor:
    table = cosines(batch)
    alignment = sum(row[0] for row in table).item() / len(table)
    now = tau * (1 + alpha * (alignment - a_0))
    total = torch.zeros((), dtype=torch.float64)
    for row in table:
        own = minus_log_softmax([s / now for s in row], 0)
        total = total + (own / (1 - torch.exp(-own.detach())) if reweight else own)
    return total / len(table)


@pytest.mark.parametrize("side", ["image", "text"])
@pytest.mark.parametrize("tau", [0.1, 0.5])
def test_simclr_matches_the_naive_twin_in_value_and_gradient(tau: float, side: str) -> None:
    batch = one_sided(batch_of(4), side)
    assert_twins(total(create_method("simclr", tau=tau), batch), naive_simclr(batch, tau), batch)


@pytest.mark.parametrize("side", ["image", "text"])
@pytest.mark.parametrize("tau", [0.1, 0.5])
def test_dcl_matches_the_naive_twin_in_value_and_gradient(tau: float, side: str) -> None:
    batch = one_sided(batch_of(4), side)
    assert_twins(total(create_method("dcl", tau=tau), batch), naive_dcl(batch, tau), batch)


@pytest.mark.parametrize("detach", [False, True])
@pytest.mark.parametrize("sigma", [0.5, 0.1, 3.0])
def test_dclw_matches_the_naive_twin_in_value_and_gradient(sigma: float, detach: bool) -> None:
    batch = one_sided(batch_of(4), "image")
    ours = total(create_method("dclw", sigma=sigma, detach_weight=detach), batch)
    assert_twins(ours, naive_dcl(batch, 0.1, sigma, detach), batch)


@pytest.mark.parametrize("reweight", [True, False])
@pytest.mark.parametrize(("tau", "alpha", "a_0"), [(0.1, 0.5, 0.0), (0.5, 1.0, -0.3), (0.3, 0.2, 0.8)])
def test_macl_matches_the_naive_twin_in_value_and_gradient(
    tau: float, alpha: float, a_0: float, reweight: bool
) -> None:
    batch = one_sided(batch_of(4), "text")
    ours = total(create_method("macl", tau=tau, alpha=alpha, a_0=a_0, reweight=reweight), batch)
    assert_twins(ours, naive_macl(batch, tau, alpha, a_0, reweight), batch)


def test_the_temperature_follows_the_alignment() -> None:
    image = torch.eye(3, dtype=torch.float64)
    for turn, alignment in ((1.0, 1.0), (0.0, 0.0), (-1.0, -1.0), (0.6, 0.6)):
        other = turn * image + math.sqrt(1 - turn * turn) * image.roll(1, dims=1)
        gauges = create_method("macl", tau=0.2, alpha=0.5, a_0=0.1)(
            PairBatch(image=image, image_view=other), NOW
        ).gauges
        assert float(gauges["alignment"]) == pytest.approx(alignment)
        assert float(gauges["temperature"]) == pytest.approx(0.2 * (1 + 0.5 * (alignment - 0.1)))


@pytest.mark.parametrize(("dtype", "tau"), [(torch.float32, 0.005), (torch.float64, 0.005), (torch.float64, 0.001)])
def test_a_won_positive_costs_one_and_its_gradient_stays_finite(dtype: torch.dtype, tau: float) -> None:
    image = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=dtype, requires_grad=True)
    ours = total(create_method("macl", tau=tau, tau_min=tau), PairBatch(image=image, image_view=image.detach()))
    assert ours.item() == pytest.approx(1)
    assert torch.isfinite(torch.autograd.grad(ours, image)[0]).all()


def test_the_floor_holds_where_the_alignment_would_take_the_temperature_below_0() -> None:
    gauges = create_method("macl", tau=0.05, alpha=2, a_0=0.8)(one_sided(collapsed(-1.0), "image"), NOW).gauges
    assert float(gauges["temperature"]) == pytest.approx(0.005)


@pytest.mark.parametrize("name", ALL)
def test_a_full_pair_trains_the_image_and_its_view(name: str) -> None:
    batch, method = batch_of(5), create_method(name)
    alone = one_sided(batch, "image")
    assert total(method, batch).item() == total(method, alone).item()
    slopes = gradients(total(method, batch), batch)
    assert all(slopes[part].abs().max().item() == 0 for part in ("text", "text_view"))
    assert (method.serves, method.needs) == ({"image", "text"}, {"image_view"})


@pytest.mark.parametrize("name", ["dcl", "dclw", "macl"])
def test_one_sample_alone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: one sample alone has no negatives"):
        total(create_method(name), batch_of(1))


def test_weighed_losses_are_those_of_the_formula_on_both_sides_of_even_odds() -> None:
    x = torch.linspace(-5, 5, 21, dtype=torch.float64)
    torch.testing.assert_close(odds_weighed(x), (1 + torch.exp(-x)) * torch.log1p(torch.exp(x)))
