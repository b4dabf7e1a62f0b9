import math
from typing import Any

import pytest
import torch
from family import EXTRA, PARTS, assert_twins, batch_of, collapsed, dot, rows, total
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.base import Method
from benchsuite.methods.batch import PairBatch

ALL = (*PARTS, *EXTRA)
NAMES = ("hard", "soft", "negatives")


def make(**settings: Any) -> Method:
    return create_method("softclip", **settings).double()


def naive_softmax(logits: list[Tensor]) -> list[Tensor]:
    largest = max(x.item() for x in logits)
    powers = [torch.exp(x - largest) for x in logits]
    return [power / sum(powers) for power in powers]


def naive_divergence(q: list[Tensor], p: list[Tensor]) -> Tensor:
    there = sum(a * torch.log(a / b) for a, b in zip(q, p, strict=True))
    back = sum(b * torch.log(b / a) for a, b in zip(q, p, strict=True))
    return (there + back) / 2


def naive(batch: PairBatch, tau: Tensor, guidance: str, weights: tuple[float, float, float]) -> Tensor:
    unit = {part: rows(getattr(batch, part)) for part in ("image", "text", "image_expert", "text_expert")}
    summed = torch.zeros((), dtype=torch.float64)
    for side, other in (("image", "text"), ("text", "image")):
        guide = [row.detach() for row in unit[side if guidance == "own" else f"{side}_expert"]]
        for i in range(batch.size):
            p = naive_softmax([dot(unit[side][i], candidate) / tau for candidate in unit[other]])
            q = naive_softmax([dot(guide[i], like) / tau.detach() for like in guide])
            others = [j for j in range(batch.size) if j != i]
            p_star, q_star = ([d[j] / sum(d[k] for k in others) for j in others] for d in (p, q))
            parts = (-torch.log(p[i]), naive_divergence(q, p), naive_divergence(q_star, p_star))
            summed = summed + sum(w * part for w, part in zip(weights, parts, strict=True))
    return summed / (2 * batch.size)


@pytest.mark.parametrize("guidance", ["expert", "own"])
@pytest.mark.parametrize("tau", [0.05, 0.3])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.5, 2.0, 0.0), (0.0, 0.0, 3.0)])
def test_matches_the_naive_twin_in_value_and_gradient(
    weights: tuple[float, float, float], tau: float, guidance: str
) -> None:
    batch = batch_of(4, parts=ALL)
    settings = {f"{name}_weight": weight for name, weight in zip(NAMES, weights, strict=True)}
    method = make(tau=tau, guidance=guidance, **settings)
    ours, twin = total(method, batch), naive(batch, torch.exp(-method.learned), guidance, weights)
    slopes = [torch.autograd.grad(loss, method.learned, retain_graph=True)[0] for loss in (ours, twin)]
    torch.testing.assert_close(*slopes)
    assert_twins(ours, twin, batch)


@pytest.mark.parametrize(("guidance", "needs"), [("expert", {"image_expert", "text_expert"}), ("own", set())])
def test_experts_are_needed_only_where_they_guide(guidance: str, needs: set[str]) -> None:
    method = make(guidance=guidance)
    assert method.needs == needs
    assert torch.isfinite(total(method, batch_of(4, parts=("image", "text", *sorted(needs)))))
    if needs:
        with pytest.raises(ValueError, match='no "image_expert"'):
            total(method, batch_of(4))


def test_the_temperature_is_learned_without_decay() -> None:
    method = make()
    (group,) = method.parameter_groups()
    assert (group.parameters, group.weight_decay) == ((method.learned,), 0)


def test_a_collapsed_batch_costs_the_logarithm_of_its_size() -> None:
    assert total(make(), collapsed()).item() == pytest.approx(math.log(6))
