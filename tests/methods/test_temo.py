import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch

MakeBatch = Callable[..., PairBatch]
PARTS = ("image", "text", "image_view", "text_view")
START, MIDDLE, END = (Clock(step=step, total_steps=2) for step in range(3))
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


def naive_cross_entropy(size: int, logit: Callable[[int, int], Tensor]) -> Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for i in range(size):
        row = [logit(i, j) for j in range(size)]
        largest = max(value.item() for value in row)
        total = total + largest + torch.log(sum(torch.exp(value - largest) for value in row)) - row[i]
    return total / size


def naive_terms(batch: PairBatch, given: dict[str, Any]) -> dict[str, Tensor]:
    unit = {part: [row / torch.sqrt((row * row).sum()) for row in getattr(batch, part)] for part in PARTS}

    def similarity(anchor: str, candidate: str, i: int, j: int) -> Tensor:
        return (unit[anchor][i] * unit[candidate][j]).sum()

    def loss(anchor: str, candidate: str, modulated: bool) -> Tensor:
        def logit(i: int, j: int) -> Tensor:
            s = similarity(anchor, candidate, i, j)
            return s / (naive_temperature(s, given) if modulated else given["tau"])

        return naive_cross_entropy(batch.size, logit)

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


def gradients(total: Tensor, batch: PairBatch) -> dict[str, Tensor]:
    leaves = [getattr(batch, part) for part in PARTS]
    slopes = torch.autograd.grad(total, leaves, allow_unused=True)
    return {p: g if g is not None else torch.zeros_like(t) for p, t, g in zip(PARTS, leaves, slopes, strict=True)}


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


def test_the_start_is_infonce_exactly(make_batch: MakeBatch) -> None:
    batch, fixed = make_batch(6, grad=True), create_method("infonce", tau=0.01)
    ours = loss(batch, START).total
    assert ours.item() == fixed(batch, START).total.item()
    exact = gradients(fixed(batch, START).total, batch)
    for part, gradient in gradients(ours, batch).items():
        torch.testing.assert_close(gradient, exact[part], atol=1e-12, rtol=0)


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
@pytest.mark.parametrize("step", range(5))
def test_the_weights_follow_the_schedule(schedule: str, step: int, make_batch: MakeBatch) -> None:
    gauges = loss(make_batch(), Clock(step=step, total_steps=4), schedule=schedule).gauges
    assert (gauges["alpha"], gauges["beta"]) == pytest.approx(SCHEDULES[schedule](step / 4))


def test_the_total_is_the_weighted_sum_of_the_terms(make_batch: MakeBatch) -> None:
    loss_now = loss(make_batch(), MIDDLE)
    assert list(loss_now.terms) == ["mm", "m_mm", "i2i", "t2t"]
    assert loss_now.total.item() == pytest.approx(0.25 * sum(term.item() for term in loss_now.terms.values()))


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


def test_missing_views_are_an_error_that_names_them(make_batch: MakeBatch) -> None:
    batch = make_batch()
    with pytest.raises(ValueError, match='no "image_view"'):
        loss(PairBatch(image=batch.image, text=batch.text), MIDDLE)


@pytest.mark.parametrize(
    ("similarity_map", "cosine", "tau"),
    [
        ("rescale", 1.0, 0.05),
        ("rescale", 0.0, 0.01 + 0.04 * math.sqrt(0.5)),
        ("rescale", -1.0, 0.01),
        ("clamp", 1.0, 0.05),
        ("clamp", 0.25, 0.03),
        ("clamp", 0.0, 0.01),
        ("clamp", -1.0, 0.01),
    ],
)
def test_the_temperature_of_a_pair_follows_its_similarity(similarity_map: str, cosine: float, tau: float) -> None:
    image = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    text = torch.tensor([[cosine, math.sqrt(1 - cosine**2)]], dtype=torch.float64)
    batch = PairBatch(image=image, text=text)
    gauges = loss(batch, END, unimodal="none", similarity_map=similarity_map).gauges
    assert float(gauges["temperature_positive"]) == pytest.approx(tau, abs=1e-9)


def test_gauges_tell_the_mean_temperature_of_all_pairs_and_of_positives() -> None:
    batch = PairBatch(image=torch.eye(2, dtype=torch.float64), text=torch.eye(2, dtype=torch.float64))
    gauges = loss(batch, END, unimodal="none", similarity_map="clamp").gauges
    assert float(gauges["temperature_positive"]) == pytest.approx(0.05)
    assert float(gauges["temperature"]) == pytest.approx(0.03)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("similarity_map", ["rescale", "clamp"])
@pytest.mark.parametrize("tau_min", [0.005, 0.01])
def test_gradients_are_finite_at_opposite_embeddings(similarity_map: str, tau_min: float, dtype: torch.dtype) -> None:
    image = torch.tensor([[1.0, 0], [0, 1], [-1, 0]], dtype=dtype)
    parts = {part: (image if part == "image" else -image).clone().requires_grad_() for part in PARTS}
    batch = PairBatch(**parts)
    for clock in (MIDDLE, END):
        total = loss(batch, clock, tau=0.005, tau_min=tau_min, similarity_map=similarity_map).total
        assert torch.isfinite(total)
        for gradient in gradients(total, batch).values():
            assert torch.isfinite(gradient).all()


def test_the_root_is_exact_near_zero_and_one() -> None:
    for cosine in (-1 + 1e-12, -0.999, 0.999, 1.0):
        image = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        text = torch.tensor([[cosine, math.sqrt(1 - cosine * cosine)]], dtype=torch.float64)
        s = (image[0] * text[0] / text[0].norm()).sum().item()
        expected = 0.01 + 0.04 * math.sqrt((s + 1) / 2)
        gauges = loss(PairBatch(image=image, text=text), END, unimodal="none").gauges
        assert float(gauges["temperature_positive"]) == pytest.approx(expected, abs=1e-10)
