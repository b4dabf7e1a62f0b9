import math
from typing import Any

import pytest
import torch
from family import batch_of
from global_batches import NOW, SAMPLES, assert_close, batches, gradients, naive_contrasts

from benchsuite.methods import create_method
from benchsuite.methods.tempnet import ISogCLRTempNet


def tempnet(**settings: Any) -> ISogCLRTempNet:
    torch.manual_seed(0)
    settings = {"tau": 0.1, "tau_min": 0.05, "tau_max": 0.5, "hidden": 5, "width": 3} | settings
    method = create_method("isogclr-tempnet", num_samples=SAMPLES, **settings).double()
    assert isinstance(method, ISogCLRTempNet)
    return method


def trained_a_little(method: ISogCLRTempNet) -> ISogCLRTempNet:
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in method.networks.parameters():
            parameter += torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return method


def test_tempnet_matches_the_naive_twin() -> None:
    method = trained_a_little(tempnet(gamma=0.6, rho=1.0))
    u: dict[tuple[str, int], float] = {}
    for batch in batches():
        objective, pull = 0.0, torch.zeros((), dtype=torch.float64)
        for side, (anchors,) in naive_contrasts(batch, False).values():
            first, _, last = method.networks[side]
            for i, sample in enumerate(batch.index.tolist()):
                embedding = getattr(batch, side)[i].detach()
                inside = torch.sigmoid(first.weight @ (embedding / embedding.norm()) + first.bias)
                learned = 0.05 + 0.45 / (1 + torch.exp(-(last.weight[0] @ inside + last.bias[0])))
                tau = learned.item()
                g = sum(math.exp(x.item() / tau) for x in anchors[i]) / 3
                key = (side, sample)
                u[key] = 0.4 * u[key] + 0.6 * g if key in u else g
                weights = [math.exp(x.item() / tau) / u[key] / 3 for x in anchors[i]]
                spread = sum(w * x.item() / tau for w, x in zip(weights, anchors[i], strict=True))
                pull = pull + sum(w * x for w, x in zip(weights, anchors[i], strict=True)) / 4
                pull = pull + (math.log(u[key]) + 1.0 - spread) * learned / 4
                objective += (tau * math.log(u[key]) + tau * 1.0) / 4
        loss = method(batch, NOW)
        assert torch.as_tensor(loss.gauges["objective"]).item() == pytest.approx(objective, abs=1e-8)
        parameters = [*method.networks.parameters()]
        assert_close(gradients(loss.total, batch), gradients(pull, batch))
        twins = torch.autograd.grad(pull, parameters)
        assert_close(list(torch.autograd.grad(loss.total, parameters)), list(twins))


def test_tempnet_starts_at_tau_and_stays_in_its_range() -> None:
    method, batch = tempnet(), next(batches())
    assert method.temperature("image", batch.image).tolist() == pytest.approx([0.1] * 4, rel=1e-6)
    for shift, bound in ((-1e4, 0.05), (1e4, 0.5)):
        with torch.no_grad():
            method.networks["image"][2].bias.fill_(shift)
        assert method.temperature("image", batch.image).tolist() == pytest.approx([bound] * 4)


def test_tempnet_that_may_start_at_a_bound_starts_just_inside() -> None:
    batch = next(batches())
    for tau, start in ((0.05, 0.05 + 0.0045), (0.5, 0.5 - 0.0045)):
        assert tempnet(tau=tau).temperature("text", batch.text)[0].item() == pytest.approx(start, rel=1e-6)


def test_tempnet_in_a_range_without_width_has_sogclrs_gradient() -> None:
    method = trained_a_little(tempnet(tau=0.1, tau_min=0.1, tau_max=0.1))
    sogclr = create_method("sogclr", num_samples=SAMPLES, tau=0.1)
    for batch in batches():
        assert_close(gradients(method(batch, NOW).total, batch), gradients(sogclr(batch, NOW).total, batch), 1e-10)


def test_the_networks_have_a_group_with_their_own_rate() -> None:
    method = tempnet(lr_factor=0.25)
    (group,) = method.parameter_groups()
    assert group.lr_factor == 0.25
    assert group.weight_decay == 0.0
    assert set(group.parameters) == set(method.parameters())
    assert len(group.parameters) == 8
    assert tempnet().lr_factor == pytest.approx(3e-5 / 2e-4)


def test_a_network_without_a_width_takes_the_first_batchs() -> None:
    method, batch = create_method("isogclr-tempnet", num_samples=SAMPLES), next(batches(dtype=torch.float32))
    assert torch.isfinite(method(batch, NOW).total)
    assert method.networks["image"][0].weight.shape == (256, 3)
    assert method(next(batches()), NOW).total.dtype == torch.float64


def test_tempnets_own_generator_starts_in_the_middle_of_the_range_wherever_tau_is() -> None:
    batch = batch_of(64, 256, dtype=torch.float32)
    unit = batch.normalized().image
    for tau in (0.005, 0.05):
        torch.manual_seed(0)
        method = create_method("isogclr-tempnet", num_samples=SAMPLES, width=256, generator="prototypes", tau=tau)
        start = method.temperature("image", unit)
        assert start.mean().item() == pytest.approx(0.031, abs=0.002)
        assert (start > 0.025).all()
        assert (start < 0.037).all()


@pytest.mark.parametrize("training", [True, False])
def test_tempnets_own_generator_matches_the_naive_twin(training: bool) -> None:
    method = trained_a_little(tempnet(generator="prototypes")).train(training)
    batch = next(batches())
    torch.manual_seed(7)
    ours = method.temperature("image", batch.image)
    first, _, _, pooling = method.networks["image"]
    torch.manual_seed(7)
    dropped = torch.nn.functional.dropout(torch.ones(4, 5, dtype=torch.float64), 0.5, training)
    for i, x in enumerate(batch.image.detach()):
        inside = torch.sigmoid(first.weight @ x + first.bias) * dropped[i]
        products = [(inside * p / torch.sqrt((p * p).sum())).sum() for p in pooling.prototypes]
        exponentials = [torch.exp(product / torch.exp(pooling.log_pooling)) for product in products]
        logit = pooling.last.bias[0]
        for weight, product, exponential in zip(pooling.last.weight[0], products, exponentials, strict=True):
            logit = logit + weight * (exponential / sum(exponentials) - 1 / 256) * torch.sigmoid(product)
        assert ours[i].item() == pytest.approx((0.05 + 0.45 * torch.sigmoid(logit)).item(), abs=1e-10)
    assert sorted({*dropped.unique().tolist()}) == ([0.0, 2.0] if training else [1.0])
    (parameters,) = (group.parameters for group in method.parameter_groups())
    gradients_of = torch.autograd.grad(method(batch, NOW).total, parameters)
    assert all(torch.isfinite(gradient).all() for gradient in gradients_of)


def test_tempnets_own_generator_works_in_single_precision_and_without_a_width() -> None:
    method = create_method("isogclr-tempnet", num_samples=SAMPLES, generator="prototypes")
    assert torch.isfinite(method(next(batches(dtype=torch.float32)), NOW).total)
    assert method(next(batches()), NOW).total.dtype == torch.float64
