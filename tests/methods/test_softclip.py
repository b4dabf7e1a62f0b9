import math
from typing import Any

import pytest
import torch
from family import EXTRA, NOW, PARTS, assert_twins, batch_of, collapsed, dot, gradients, rows, total
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.base import Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.softclip import symmetric_kl

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


def naive(batch: PairBatch, tau: float, guidance: str, weights: tuple[float, float, float]) -> Tensor:
    unit = {part: rows(getattr(batch, part)) for part in ("image", "text", "image_expert", "text_expert")}
    summed = torch.zeros((), dtype=torch.float64)
    for side, other in (("image", "text"), ("text", "image")):
        guide = [row.detach() for row in unit[side if guidance == "own" else f"{side}_expert"]]
        for i in range(batch.size):
            p = naive_softmax([dot(unit[side][i], candidate) / tau for candidate in unit[other]])
            q = naive_softmax([dot(guide[i], like) / tau for like in guide])
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
    assert_twins(total(method, batch), naive(batch, tau, guidance, weights), batch, tolerance=1e-5)


def test_hard_targets_alone_are_clip() -> None:
    batch = batch_of(5, parts=ALL)
    ours = total(make(soft_weight=0.0, negatives_weight=0.0), batch)
    assert_twins(ours, total(create_method("infonce-learnable").double(), batch), batch, tolerance=1e-12)


def test_matches_that_follow_the_experts_cost_nothing_but_the_hard_targets() -> None:
    x = batch_of(5).image.detach()
    terms = make()(PairBatch(image=x, text=x, image_expert=x, text_expert=x), NOW).terms
    assert terms["soft"].item() == pytest.approx(0, abs=1e-12)
    assert terms["negatives"].item() == pytest.approx(0, abs=1e-12)
    assert terms["hard"].item() > 0


def test_negatives_do_not_see_the_positive() -> None:
    eye = torch.eye(4, dtype=torch.float64)
    image, guide = eye[:, :3], batch_of(3).image.detach()
    batch = {"image": image[:3], "image_expert": guide, "text_expert": guide}
    text = torch.full((3, 3), 0.3, dtype=torch.float64)
    values = []
    for positive in (0.3, 0.8):  # unit rows whose negatives' cosines stay; a fourth dimension takes the rest
        moved = text + (positive - 0.3) * torch.eye(3, dtype=torch.float64)
        rest = (1 - moved.square().sum(1, keepdim=True)).sqrt()
        parts = {"image": torch.cat([image[:3], 0 * rest], dim=1), "text": torch.cat([moved, rest], dim=1)}
        values.append(make()(PairBatch(**{**batch, **parts}), NOW).terms)
    assert values[0]["negatives"].item() == pytest.approx(values[1]["negatives"].item(), abs=1e-12)
    assert values[0]["soft"].item() != pytest.approx(values[1]["soft"].item(), abs=1e-3)


def test_the_divergence_is_symmetric_and_never_negative() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        one, other = torch.randn(2, 4, 5, generator=generator, dtype=torch.float64) * 3
        assert symmetric_kl(one, other).mean().item() == pytest.approx(symmetric_kl(other, one).mean().item())
        assert symmetric_kl(one, other).mean().item() > 0
    assert symmetric_kl(one, one + 7).mean().item() == pytest.approx(0, abs=1e-12)


def test_only_the_experts_angles_count_and_no_gradient_flows_through_them() -> None:
    batch = batch_of(4, parts=ALL)
    turn, _ = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)))
    parts = {part: getattr(batch, part) for part in ("image", "text", "text_expert")}
    turned = PairBatch(**parts, image_expert=3 * batch.image_expert @ turn)
    loss = total(make(), batch)
    assert total(make(), turned).item() == pytest.approx(loss.item(), abs=1e-10)
    slopes = gradients(loss, batch)
    assert slopes["image_expert"].abs().max().item() == slopes["text_expert"].abs().max().item() == 0


def test_own_targets_are_the_towers_own_without_a_gradient() -> None:
    held = batch_of(4, parts=ALL)
    same = PairBatch(image=held.image, text=held.text, image_expert=held.image.detach(), text_expert=held.text.detach())
    own, expert = (gradients(total(make(guidance=g), b), held) for g, b in (("own", held), ("expert", same)))
    torch.testing.assert_close(own["image"], expert["image"])


@pytest.mark.parametrize(("guidance", "needs"), [("expert", {"image_expert", "text_expert"}), ("own", set())])
def test_experts_are_needed_only_where_they_guide(guidance: str, needs: set[str]) -> None:
    method = make(guidance=guidance)
    assert method.needs == needs
    assert torch.isfinite(total(method, batch_of(4, parts=("image", "text", *sorted(needs)))))
    if needs:
        with pytest.raises(ValueError, match='no "image_expert"'):
            total(method, batch_of(4))


def test_the_temperature_is_learned_and_the_targets_do_not_move_with_it() -> None:
    batch, step = batch_of(4, parts=ALL), 1e-4
    method = make(tau=0.2)
    (slope,) = torch.autograd.grad(total(method, batch), method.learned)
    higher, lower = (fixed_targets(batch, tau=0.2 * math.exp(-nu)) for nu in (step, -step))
    assert slope.item() == pytest.approx((higher - lower) / (2 * step), rel=1e-4)
    (group,) = method.parameter_groups()
    assert (group.parameters, group.weight_decay) == ((method.learned,), 0)


def fixed_targets(batch: PairBatch, tau: float) -> float:
    """The loss at tau with the targets of 0.2."""
    unit, others = batch.normalized(), ~torch.eye(4, dtype=torch.bool)
    value = torch.zeros((), dtype=torch.float64)
    similarity = unit.image @ unit.text.T
    for s, r in ((similarity, unit.image_expert), (similarity.T, unit.text_expert)):
        logits, target = s / tau, r @ r.T / 0.2
        value = value + torch.nn.functional.cross_entropy(logits, torch.arange(4)) / 2
        for one, other in ((target, logits), (target[others].view(4, 3), logits[others].view(4, 3))):
            value = value + symmetric_kl(one, other).mean() / 2
    return value.item()


def test_a_collapsed_batch_costs_the_logarithm_of_its_size() -> None:
    assert total(make(), collapsed()).item() == pytest.approx(math.log(6))
