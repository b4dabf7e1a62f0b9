import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from family import PARTS, dot, gradients, minus_log_softmax, rows
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch

MakeBatch = Callable[..., PairBatch]
MIDDLE, END = (Clock(step=step, total_steps=2) for step in (1, 2))
SCHEDULES: dict[str, Callable[[float], tuple[float, float]]] = {
    "quadratic": lambda t: ((1 - t) * (1 - t), t * t),
    "linear": lambda t: (1 - t, t),
    "fixed": lambda t: (0.5, 0.5),
    "step": lambda t: (1, 0) if t < 0.5 else (0, 1),
    "reversed": lambda t: (t * t, (1 - t) * (1 - t)),
}
DEFAULTS: dict[str, Any] = {
    "tau": 0.01,
    "tau_min": 0.01,
    "tau_alpha": 0.04,
    "schedule": "quadratic",
    "similarity_map": "rescale",
    "detach_temperature": False,
    "base": True,
    "modulated": True,
    "unimodal": "modulated",
}


def naive_temperature(s: Tensor, given: dict[str, Any]) -> Tensor:
    if given["detach_temperature"]:
        s = s.detach()
    if given["similarity_map"] == "rescale":
        return given["tau_min"] + given["tau_alpha"] * torch.sqrt((s + 1) / 2)
    return given["tau_min"] + (given["tau_alpha"] * torch.sqrt(s) if s.item() > 0 else torch.zeros_like(s))


def naive_terms(batch: PairBatch, given: dict[str, Any]) -> dict[str, Tensor]:
    unit = {part: rows(getattr(batch, part)) for part in PARTS}

    def loss(anchor: str, candidate: str, modulated: bool) -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for i, row in enumerate(unit[anchor]):
            cosines = [dot(row, other) for other in unit[candidate]]
            logits = [s / (naive_temperature(s, given) if modulated else given["tau"]) for s in cosines]
            total = total + minus_log_softmax(logits, i) / batch.size
        return total

    terms = {}
    if given["base"]:
        terms["mm"] = (loss("image", "text", False) + loss("text", "image", False)) / 2
    if given["modulated"]:
        terms["m_mm"] = (loss("image", "text", True) + loss("text", "image", True)) / 2
    if given["unimodal"] != "none":
        terms["i2i"] = loss("image", "image_view", given["unimodal"] == "modulated")
        terms["t2t"] = loss("text", "text_view", given["unimodal"] == "modulated")
    return terms


def naive_total(batch: PairBatch, t: float, given: dict[str, Any]) -> Tensor:
    a, b = SCHEDULES[given["schedule"]](t)
    total = torch.zeros((), dtype=torch.float64)
    for name, term in naive_terms(batch, given).items():
        total = total + (a if name == "mm" else b) * term
    return total


def assert_twins(batch: PairBatch, step: int, settings: dict[str, Any]) -> None:
    ours = create_method("temo", **settings)(batch, Clock(step=step, total_steps=6)).total
    naive = naive_total(batch, step / 6, {**DEFAULTS, **settings})
    assert ours.item() == pytest.approx(naive.item(), abs=1e-8)
    if not naive.requires_grad:
        assert step in (0, 6)
        return
    twin = gradients(naive, batch)
    for part, gradient in gradients(ours, batch).items():
        torch.testing.assert_close(gradient, twin[part], atol=1e-8, rtol=1e-8)


def loss(batch: PairBatch, clock: Clock, **settings: Any) -> Loss:
    return create_method("temo", **settings)(batch, clock)


@pytest.mark.parametrize("step", range(7))
def test_the_default_matches_the_naive_twin_in_value_and_gradient(step: int, make_batch: MakeBatch) -> None:
    assert_twins(make_batch(5, grad=True), step, {})


@given(
    step=st.integers(0, 6),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    similarity_map=st.sampled_from(["rescale", "clamp"]),
    detach=st.booleans(),
    switches=st.tuples(st.booleans(), st.booleans(), st.sampled_from(["modulated", "plain", "none"])).filter(
        lambda on: on != (False, False, "none")
    ),
    temperatures=st.tuples(st.floats(0.02, 0.5), st.floats(0.02, 0.5), st.floats(0.01, 0.5)),
)
def test_any_switches_match_the_naive_twin_in_value_and_gradient(
    step: int,
    schedule: str,
    similarity_map: str,
    detach: bool,
    switches: tuple[bool, bool, str],
    temperatures: tuple[float, float, float],
) -> None:
    settings = dict(zip(("base", "modulated", "unimodal"), switches, strict=True))
    settings |= dict(zip(("tau", "tau_min", "tau_alpha"), temperatures, strict=True))
    settings |= {"schedule": schedule, "similarity_map": similarity_map, "detach_temperature": detach}
    generator = torch.Generator().manual_seed(step)
    parts = {p: torch.randn(3, 3, generator=generator, dtype=torch.float64).requires_grad_() for p in PARTS}
    assert_twins(PairBatch(**parts), step, settings)


def test_nothing_left_to_train_on_is_refused() -> None:
    with pytest.raises(UsageError, match="temo: base, modulated and unimodal are all off"):
        create_method("temo", base=False, modulated=False, unimodal="none")


def test_views_are_needed_only_by_the_unimodal_losses(make_batch: MakeBatch) -> None:
    assert create_method("temo").needs == {"image_view", "text_view"}
    assert create_method("temo", unimodal="plain").needs == {"image_view", "text_view"}
    alone = create_method("temo", unimodal="none")
    assert alone.needs == frozenset()
    batch = make_batch()
    assert torch.isfinite(alone(PairBatch(image=batch.image, text=batch.text), MIDDLE).total)


def test_gauges_tell_the_mean_temperature_of_all_pairs_and_of_positives() -> None:
    batch = PairBatch(image=torch.eye(2, dtype=torch.float64), text=torch.eye(2, dtype=torch.float64))
    gauges = loss(batch, END, unimodal="none", similarity_map="clamp").gauges
    assert float(gauges["temperature_positive"]) == pytest.approx(0.05)
    assert float(gauges["temperature"]) == pytest.approx(0.03)


def test_the_root_is_exact_near_zero_and_one() -> None:
    for cosine in (-1 + 1e-12, -0.999, 0.999, 1.0):
        image = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        text = torch.tensor([[cosine, math.sqrt(1 - cosine * cosine)]], dtype=torch.float64)
        s = (image[0] * text[0] / text[0].norm()).sum().item()
        expected = 0.01 + 0.04 * math.sqrt((s + 1) / 2)
        gauges = loss(PairBatch(image=image, text=text), END, unimodal="none").gauges
        assert float(gauges["temperature_positive"]) == pytest.approx(expected, abs=1e-10)
