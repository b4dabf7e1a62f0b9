"""What the tests of method families share: batches, literal similarities, and comparisons of values and gradients."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch

PARTS = ("image", "text", "image_view", "text_view")
EXTRA = ("image_view2", "image_expert", "text_expert")
NASTY = ("collapsed", "anti-aligned", "duplicated", "orthogonal", "far")
NOW = Clock(step=1, total_steps=4)


def batch_of(
    size: int = 5, width: int = 4, seed: int = 0, dtype: torch.dtype = torch.float64, parts: tuple[str, ...] = PARTS
) -> PairBatch:
    """Raw embeddings with gradients, ids in no order, clusters 0 to 2."""
    generator = torch.Generator().manual_seed(seed)
    rows = {
        name: torch.randn(size, width, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
        for name in (*PARTS, *EXTRA)
    }
    index = torch.randperm(size, generator=generator)
    return PairBatch(**{p: rows[p] for p in parts}, index=index, cluster=index % 3)


def given(batch: PairBatch) -> dict[str, Tensor]:
    """The embeddings that a batch carries."""
    return {name: getattr(batch, name) for name in (*PARTS, *EXTRA) if batch.has(name)}


def rows(x: Tensor) -> list[Tensor]:
    """Unit rows, one by one."""
    return [row / torch.sqrt((row * row).sum()) for row in x]


def dot(a: Tensor, b: Tensor) -> Tensor:
    total = torch.zeros((), dtype=a.dtype)
    for p, q in zip(a, b, strict=True):
        total = total + p * q
    return total


def minus_log_softmax(logits: list[Tensor], place: int) -> Tensor:
    """-log softmax(logits)[place], term by term."""
    largest = max(value.item() for value in logits)
    return largest + torch.log(sum(torch.exp(value - largest) for value in logits)) - logits[place]


def gradients(total: Tensor, batch: PairBatch) -> dict[str, Tensor]:
    leaves = given(batch)
    slopes = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {n: torch.zeros_like(t) if g is None else g for (n, t), g in zip(leaves.items(), slopes, strict=True)}


def assert_twins(ours: Tensor, naive: Tensor, batch: PairBatch, tolerance: float = 1e-8) -> None:
    """Same value, same gradient in every embedding of the batch."""
    assert ours.item() == pytest.approx(naive.item(), abs=tolerance)
    expected = gradients(naive, batch)
    for name, gradient in gradients(ours, batch).items():
        torch.testing.assert_close(gradient, expected[name], atol=tolerance, rtol=tolerance)


def assert_rounding_is_all(make: Callable[[], Method], value: float = 1e-5, gradient: float = 1e-4) -> None:
    """float32 agrees with float64 within the stated relative bounds, also for inputs rounded to bfloat16."""
    for rounded in (torch.float32, torch.bfloat16):
        exact = batch_of(6, dtype=rounded)
        double = PairBatch(
            **{n: t.detach().double().requires_grad_() for n, t in given(exact).items()},
            index=exact.index,
            cluster=exact.cluster,
        )
        single = PairBatch(
            **{n: t.detach().float().requires_grad_() for n, t in given(exact).items()},
            index=exact.index,
            cluster=exact.cluster,
        )
        method = make()
        ours, reference = method(single, NOW).total, method(double, NOW).total
        assert (ours.dtype, reference.dtype) == (torch.float32, torch.float64)
        assert ours.item() == pytest.approx(reference.item(), rel=value, abs=value)
        expected = gradients(reference, double)
        for name, mine in gradients(ours, single).items():
            torch.testing.assert_close(mine.double(), expected[name], atol=gradient, rtol=gradient)


def nasty(kind: str, dtype: torch.dtype = torch.float32) -> PairBatch:
    """Batches on which careless losses overflow or divide by 0."""
    one = torch.zeros(6, 6, dtype=dtype)
    one[:, 0] = 1
    eye = torch.eye(6, dtype=dtype)
    doubled = eye[[0, 0, 1, 1, 2, 2]]
    image = {"collapsed": one, "anti-aligned": one, "duplicated": doubled, "orthogonal": eye, "far": eye}[kind]
    other = {"anti-aligned": -image, "orthogonal": eye.roll(1, dims=1)}.get(kind, image)
    if kind == "far":  # every positive at 1, every negative at -1, as near as six samples allow
        image = other = torch.cat([one[:3], -one[3:]])
    sides = {"image": image, "text": other, "image_view": other, "text_view": image, "image_view2": image}
    sides |= {"image_expert": image, "text_expert": other}
    leaves = {n: t.clone().requires_grad_() for n, t in sides.items()}
    return PairBatch(**leaves, index=torch.arange(6), cluster=torch.arange(6) % 3)


def assert_finite(make: Callable[[], Method], kind: str) -> None:
    for dtype in (torch.float32, torch.float64):
        batch, method = nasty(kind, dtype), make()
        for step in range(3):
            loss = method(batch, Clock(step=step, total_steps=2))
            assert torch.isfinite(loss.total)
            assert all(
                math.isfinite(float(torch.as_tensor(v).detach())) for v in {**loss.terms, **loss.gauges}.values()
            )
            assert all(torch.isfinite(g).all() for g in gradients(loss.total, batch).values())


def assert_order_is_free(make: Callable[[], Method]) -> None:
    """Permuting the pairs changes neither the value nor any sample's gradient."""
    batch, order = batch_of(6), torch.tensor([3, 0, 5, 1, 4, 2])
    parts = {name: t[order] for name, t in given(batch).items()}
    shuffled = PairBatch(**parts, index=batch.index[order], cluster=batch.cluster[order])
    method = make()
    ours, theirs = method(batch, NOW).total, method(shuffled, NOW).total
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-10)
    torch.testing.assert_close(gradients(ours, batch), gradients(theirs, batch), atol=1e-9, rtol=1e-9)


def one_sided(batch: PairBatch, side: str) -> PairBatch:
    return PairBatch(**{side: getattr(batch, side), f"{side}_view": getattr(batch, f"{side}_view")}, index=batch.index)


def total(method: Method, batch: PairBatch, clock: Clock = NOW) -> Tensor:
    loss: Loss = method(batch, clock)
    return loss.total
