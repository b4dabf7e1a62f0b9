import pytest
import torch
from family import assert_twins, batch_of, dot, rows, total
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.torchvision_ops import make_importable

make_importable()

from open_clip.loss import SigLipLoss  # noqa: E402


def naive(batch: PairBatch, tau: float, bias: float) -> Tensor:
    image, text = rows(batch.image), rows(batch.text)
    losses = [
        torch.log1p(torch.exp(-(1 if i == j else -1) * (dot(image[i], text[j]) / tau + bias)))
        for i in range(batch.size)
        for j in range(batch.size)
    ]
    return torch.stack(losses).sum() / batch.size


@pytest.mark.parametrize(("tau", "bias"), [(0.1, -10.0), (0.5, 0.0), (1.0, 2.0)])
def test_matches_the_naive_twin_in_value_and_gradient(tau: float, bias: float) -> None:
    batch = batch_of(5)
    method = create_method("siglip", tau=tau, bias=bias).double()
    assert_twins(total(method, batch), naive(batch, tau, bias), batch, tolerance=1e-6)


def test_is_open_clips() -> None:
    batch = batch_of(6)
    method = create_method("siglip", tau=0.2, bias=-3.0).double()
    image, text = normalize(batch.image, dim=1), normalize(batch.text, dim=1)
    theirs = SigLipLoss()(image, text, torch.exp(method.log_scale), method.shift)
    assert_twins(total(method, batch), theirs, batch, tolerance=1e-12)


def test_scale_and_bias_learn_and_do_not_decay() -> None:
    method = create_method("siglip").double()
    total(method, batch_of(5)).backward()
    (group,) = method.parameter_groups()
    assert {id(p) for p in group.parameters} == {id(method.log_scale), id(method.shift)}
    assert group.weight_decay == 0
    assert all(p.grad is not None and p.grad.abs() > 0 for p in group.parameters)
