"""The same figures as well-kept libraries, where they have the same loss."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.torchvision_ops import make_importable

make_importable()

from lightly.loss import DCLLoss, DCLWLoss, NTXentLoss  # noqa: E402
from open_clip.loss import ClipLoss  # noqa: E402
from pytorch_metric_learning.losses import NTXentLoss as MetricNTXentLoss  # noqa: E402
from pytorch_metric_learning.losses import SelfSupervisedLoss  # noqa: E402

NOW = Clock(0, 10)
TAUS = (0.05, 0.5)


def rows(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return normalize(torch.randn(7, 5, generator=generator, dtype=torch.float64), dim=1).requires_grad_()


def ours(name: str, parts: dict[str, Tensor], **hyperparameters: float) -> Tensor:
    return create_method(name, **hyperparameters)(PairBatch(**parts), NOW).total


def assert_same(mine: Tensor, theirs: Tensor, leaves: list[Tensor]) -> None:
    assert mine.item() == pytest.approx(theirs.item(), rel=1e-9)
    for a, b in zip(torch.autograd.grad(mine, leaves), torch.autograd.grad(theirs, leaves), strict=True):
        assert torch.allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("tau", TAUS)
def test_infonce_is_open_clips(tau: float) -> None:
    image, text = rows(0), rows(1)
    theirs = ClipLoss()(normalize(image, dim=1), normalize(text, dim=1), 1 / tau)
    assert_same(ours("infonce", {"image": image, "text": text}, tau=tau), theirs, [image, text])


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(("name", "theirs"), [("simclr", NTXentLoss), ("dcl", DCLLoss)], ids=["simclr", "dcl"])
def test_losses_of_two_views_are_lightlys(name: str, theirs: Callable[..., Callable[..., Tensor]], tau: float) -> None:
    one, other = rows(0), rows(1)
    mine = ours(name, {"image": one, "image_view": other}, tau=tau)
    assert_same(mine, theirs(temperature=tau)(normalize(one, dim=1), normalize(other, dim=1)), [one, other])


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("tau", TAUS)
def test_dclw_with_a_detached_weight_is_lightlys(tau: float) -> None:
    one, other = rows(0), rows(1)
    mine = ours("dclw", {"image": one, "image_view": other}, tau=tau, detach_weight=True)
    assert_same(mine, DCLWLoss(temperature=tau)(normalize(one, dim=1), normalize(other, dim=1)), [one, other])


@pytest.mark.parametrize("tau", TAUS)
def test_simclr_is_pytorch_metric_learnings(tau: float) -> None:
    one, other = rows(0), rows(1)
    theirs = SelfSupervisedLoss(MetricNTXentLoss(temperature=tau))(one, other)
    assert_same(ours("simclr", {"image": one, "image_view": other}, tau=tau), theirs, [one, other])
