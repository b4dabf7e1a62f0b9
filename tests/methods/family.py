"""What the tests of method families share: batches, literal similarities, and comparisons of values and gradients."""

import pytest
import torch
from torch import Tensor

from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch

PARTS = ("image", "text", "image_view", "text_view")
EXTRA = ("image_view2", "image_expert", "text_expert")
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


def naive_info_nce(image: Tensor, text: Tensor, tau: Tensor | float, unit: bool = True) -> Tensor:
    """Both directions, by raw exponentials; `unit`: of rows of length 1."""
    x, y = (rows(image), rows(text)) if unit else (list(image), list(text))
    summed = torch.zeros((), dtype=torch.float64)
    for i in range(len(x)):
        for own, others in ((x[i], y), (y[i], x)):
            scores = [torch.exp((own * other).sum() / tau) for other in others]
            summed = summed - torch.log(scores[i] / sum(scores))
    return summed / (2 * len(x))


def naive_average(u: dict[tuple[str, int], float], key: tuple[str, int], g: float, epoch: int, method: Method) -> float:
    """SogCLR's u of a sample after one more estimate g of it, by the method's rule for first visits."""
    gamma, rule = method.gamma, method.first_visit
    if (rule == "first-epoch" and epoch == 0) or (rule == "g" and key not in u):
        u[key] = g
    else:
        u[key] = (1 - gamma) * u.get(key, 0.0) + gamma * g
    return u[key]


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


def collapsed(other: float = 1.0) -> PairBatch:
    """All samples at one point, the other side of each pair at `other` times it."""
    one = torch.zeros(6, 6, dtype=torch.float64)
    one[:, 0] = 1
    sides = {"image": one, "text": other * one, "image_view": other * one, "text_view": one}
    sides |= {"image_view2": one, "image_expert": one, "text_expert": other * one}
    leaves = {n: t.clone().requires_grad_() for n, t in sides.items()}
    return PairBatch(**leaves, index=torch.arange(6), cluster=torch.arange(6) % 3)


def one_sided(batch: PairBatch, side: str) -> PairBatch:
    return PairBatch(**{side: getattr(batch, side), f"{side}_view": getattr(batch, f"{side}_view")}, index=batch.index)


def total(method: Method, batch: PairBatch, clock: Clock = NOW) -> Tensor:
    loss: Loss = method(batch, clock)
    return loss.total
