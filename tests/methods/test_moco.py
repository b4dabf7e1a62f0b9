from typing import Any

import pytest
import torch
from family import dot, minus_log_softmax, rows
from torch import Tensor

from benchsuite import Clock, PairBatch
from benchsuite.methods import create_method
from benchsuite.methods.moco import MoCo
from benchsuite.torchvision_ops import make_importable

make_importable()

from lightly.loss import NTXentLoss  # noqa: E402

NOW = Clock(1, 4)
PARTS = ("image", "image_view", "image_teacher", "image_view_teacher")


def make(queue_size: int = 7, **options: Any) -> MoCo:
    return create_method("moco", width=3, queue_size=queue_size, **options)


def batch(seed: int, size: int = 4, side: str = "image") -> PairBatch:
    made = torch.randn(4, size, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    named = {part.replace("image", side): rows for part, rows in zip(PARTS, made, strict=True)}
    return PairBatch(**{n: t.clone().requires_grad_() if "teacher" not in n else t for n, t in named.items()})


def naive(queries: Tensor, keys: Tensor, past: list[Tensor], tau: float) -> Tensor:
    summed = torch.zeros((), dtype=torch.float64)
    for q, k in zip(rows(queries), rows(keys), strict=True):
        summed = summed + minus_log_softmax([dot(q, k) / tau, *(dot(q, p) / tau for p in past)], 0) / len(queries)
    return summed


@pytest.mark.parametrize("symmetric", [False, True])
def test_matches_the_naive_twin_with_its_queue_batch_after_batch(symmetric: bool) -> None:
    method, past = make(tau=0.3, symmetric=symmetric), list[Tensor]()
    for seed in range(5):
        given = batch(seed)
        ours = method(given, NOW).total
        theirs = naive(given.image, given.image_view_teacher, past, 0.3)
        if symmetric:
            theirs = (theirs + naive(given.image_view, given.image_teacher, past, 0.3)) / 2
        assert ours.item() == pytest.approx(theirs.item(), abs=1e-6)  # the queue has float32
        leaves = [given.image, given.image_view] if symmetric else [given.image]
        for a, b in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(theirs, leaves), strict=True):
            torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-5)
        keys = [given.image_view_teacher, given.image_teacher][: 2 if symmetric else 1]
        past = [*past, *(row for key in keys for row in rows(key))][-7:]


def test_with_a_full_queue_it_is_lightlys() -> None:
    method, theirs = make(queue_size=8, tau=0.3).double(), NTXentLoss(0.3, memory_bank_size=(8, 3)).double()
    for seed in range(4):
        given = batch(seed)
        theirs.memory_bank.bank = method.queue.values(given.image)
        if len(method.queue) == 8:
            expected = theirs(given.image, given.image_view_teacher)
            ours = method(given, NOW).total
            torch.testing.assert_close(ours, expected)
            torch.testing.assert_close(*(torch.autograd.grad(loss, given.image)[0] for loss in (ours, expected)))
        else:
            method(given, NOW)


def test_text_is_trained_as_an_image_is_and_needs_follow_the_option() -> None:
    for symmetric in (False, True):
        one, other = make(symmetric=symmetric), make(symmetric=symmetric)
        for seed in range(2):
            assert one(batch(seed), NOW).total.item() == other(batch(seed, side="text"), NOW).total.item()
    assert make().needs == {"image_view_teacher", "text_view_teacher"}
    assert "image_view" in make(symmetric=True).needs


def test_its_momentum_is_constant() -> None:
    assert {make(momentum=0.9).teacher_momentum(Clock(step, 3)) for step in range(4)} == {0.9}
