import math
from typing import Any

import pytest
import torch
from family import rows
from torch import Tensor

from benchsuite import Clock, PairBatch
from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.dino import DINO
from benchsuite.torchvision_ops import make_importable

make_importable()

from lightly.loss import DINOLoss  # noqa: E402
from lightly.models.modules.heads import DINOProjectionHead  # noqa: E402

PARTS = ("image", "image_view", "image_teacher", "image_view_teacher")
SMALL = {"hidden": 5, "bottleneck": 4, "prototypes": 6}


def make(**options: Any) -> DINO:
    torch.manual_seed(0)
    return create_method("dino", width=3, **{**SMALL, **options}).double()


def batch(seed: int, side: str = "image") -> PairBatch:
    made = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    named = {part.replace("image", side): rows for part, rows in zip(PARTS, made, strict=True)}
    return PairBatch(**{n: t.clone().requires_grad_() if "teacher" not in n else t for n, t in named.items()})


def scores(method: DINO, x: Tensor) -> Tensor:
    """The head, layer by layer, one prototype at a time."""
    layers = method.head["mlp"].layers
    for number in (0, 2):
        x = x @ layers[number].weight.T + layers[number].bias
        x = x * (1 + torch.erf(x / math.sqrt(2))) / 2
    unit = rows(x @ layers[4].weight.T + layers[4].bias)
    prototypes = rows(method.head["prototypes"].layers[0].weight)
    return torch.stack([torch.stack([(z * p).sum() for p in prototypes]) for z in unit])


def test_matches_the_naive_twin_with_its_moving_centre() -> None:
    method = make(tau_student=0.5, tau_start=0.2, tau_teacher=0.4, warmup=0.5, centre_momentum=0.7)
    centre = torch.zeros(6, dtype=torch.float64)
    for step, tau in enumerate((0.2, 0.3, 0.4, 0.4)):
        given = batch(step)
        whole = torch.zeros((), dtype=torch.float64)
        with torch.no_grad():
            teacher = [scores(method, x) for x in given.teacher_views]
        for target, x in zip(teacher, given.views[::-1], strict=True):
            for t, s in zip(target, scores(method, x), strict=True):
                shares = torch.exp((t - centre) / tau) / torch.exp((t - centre) / tau).sum()
                whole = whole - (shares * torch.log(torch.exp(s / 0.5) / torch.exp(s / 0.5).sum())).sum() / 10
        ours = method(given, Clock(step, 4)).total
        assert ours.item() == pytest.approx(whole.item(), abs=1e-9)
        leaves = [given.image, given.image_view, *method.head.parameters()]
        for a, b in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(whole, leaves), strict=True):
            torch.testing.assert_close(a, b, atol=1e-8, rtol=1e-6)
        centre = 0.7 * centre + 0.3 * torch.cat(teacher).mean(0)
        torch.testing.assert_close(method.centre, centre)


def test_head_and_loss_are_lightlys() -> None:
    method, head = (
        make(norm="batch", tau_start=0.05, tau_teacher=0.05),
        DINOProjectionHead(3, 5, 4, 6, batch_norm=True).double(),
    )
    with torch.no_grad():
        mine = [*method.head["mlp"].parameters()]
        for other, parameter in zip(head.layers.parameters(), mine, strict=True):
            other.copy_(parameter)
        head.last_layer.weight_v.copy_(method.head["prototypes"].layers[0].weight)
    criterion = DINOLoss(6, teacher_temp=0.05, warmup_teacher_temp=0.05).double()
    for step in range(3):
        given = batch(step)
        with torch.no_grad():
            teacher = [head(x) for x in given.teacher_views]
        expected = criterion(teacher, [head(x) for x in given.views])
        torch.testing.assert_close(method(given, Clock(step, 4)).total, expected)
        torch.testing.assert_close(method.centre, criterion.center.flatten())


def test_the_teachers_heads_start_equal_and_only_the_students_have_a_gradient() -> None:
    method = make()
    for name in ("mlp", "prototypes"):
        for a, b in zip(method.head[name].parameters(), method.teacher_head[name].parameters(), strict=True):
            assert torch.equal(a, b)
    method(batch(0), Clock(0, 4)).total.backward()
    assert all(p.grad is not None for p in method.head.parameters())
    assert all(p.grad is None for p in method.teacher_head.parameters())


def test_its_temperature_and_momentum_rise() -> None:
    method = make()
    assert [method.temperature(Clock(step, 40)) for step in (0, 2, 4, 40)] == pytest.approx([0.04, 0.055, 0.07, 0.07])
    assert make(warmup=0.0).temperature(Clock(0, 4)) == 0.07
    assert [method.teacher_momentum(Clock(step, 4)) for step in (0, 2, 4)] == pytest.approx([0.996, 0.998, 1.0])
    assert method.evaluates == "teacher"


def test_frozen_prototypes_learn_from_a_later_epoch_on() -> None:
    method = make(frozen_epochs=1)
    for epoch in (0, 1):
        method.zero_grad()
        method(batch(0), Clock(0, 4, epoch)).total.backward()
        (weight,) = method.head["prototypes"].parameters()
        assert (weight.grad is None) == (epoch == 0)
        assert all(p.grad is not None for p in method.head["mlp"].parameters())


def test_a_temperature_that_would_fall_is_refused() -> None:
    with pytest.raises(UsageError, match=r"dino: tau_start 0.1 is above tau_teacher 0.07"):
        make(tau_start=0.1)
