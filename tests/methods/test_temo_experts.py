from typing import Any

import pytest
import torch
from family import EXTRA, PARTS, assert_twins, batch_of, dot, gradients, minus_log_softmax, rows, total
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch

ALL = (*PARTS, *EXTRA)
MIDDLE, END = Clock(step=1, total_steps=2), Clock(step=2, total_steps=2)
EXPERTS = {"image": ("image",), "text": ("text",), "both": ("image", "text")}


def naive(batch: PairBatch, t: float, experts: tuple[str, ...], similarity_map: str) -> Tensor:
    """Equation 8 with lambda from the experts' similarities."""
    unit = {part: rows(getattr(batch, part)) for part in PARTS}
    expert_rows = [rows(getattr(batch, f"{side}_expert").detach()) for side in experts]

    def temperature(i: int, j: int) -> Tensor:
        s = sum(dot(z[i], z[j]) for z in expert_rows) / len(expert_rows)
        closeness = (s + 1) / 2 if similarity_map == "rescale" else s.clamp(0)
        return 0.01 + 0.04 * torch.sqrt(closeness)

    def loss(anchor: str, candidate: str, modulated: bool) -> Tensor:
        summed = torch.zeros((), dtype=torch.float64)
        for i in range(batch.size):
            logits = [
                dot(unit[anchor][i], unit[candidate][j]) / (temperature(i, j) if modulated else 0.01)
                for j in range(batch.size)
            ]
            summed = summed + minus_log_softmax(logits, i) / batch.size
        return summed

    standard = (loss("image", "text", False) + loss("text", "image", False)) / 2
    modulated = (loss("image", "text", True) + loss("text", "image", True)) / 2
    views = loss("image", "image_view", True) + loss("text", "text_view", True)
    return (1 - t) ** 2 * standard + t**2 * (modulated + views)


@pytest.mark.parametrize("similarity_map", ["rescale", "clamp"])
@pytest.mark.parametrize("expert", EXPERTS)
def test_matches_the_naive_twin_in_value_and_gradient(expert: str, similarity_map: str) -> None:
    batch = batch_of(4, parts=ALL)
    method = create_method("temo", expert=expert, similarity_map=similarity_map)
    for clock in (MIDDLE, END):
        assert_twins(total(method, batch, clock), naive(batch, clock.progress, EXPERTS[expert], similarity_map), batch)


def test_two_experts_that_agree_are_one() -> None:
    batch = batch_of(4, parts=ALL)
    same = PairBatch(
        **{p: getattr(batch, p) for p in PARTS}, image_expert=batch.image_expert, text_expert=batch.image_expert
    )
    one, both = (total(create_method("temo", expert=e), same, END).item() for e in ("image", "both"))
    assert both == pytest.approx(one, abs=1e-12)


def test_no_gradient_reaches_an_expert() -> None:
    batch = batch_of(4, parts=ALL)
    slopes = gradients(total(create_method("temo", expert="both"), batch, END), batch)
    assert slopes["image_expert"].abs().max().item() == slopes["text_expert"].abs().max().item() == 0
    assert slopes["image"].abs().max().item() > 0


def test_experts_may_be_of_other_widths() -> None:
    batch = batch_of(4)
    wide = PairBatch(
        **{p: getattr(batch, p) for p in PARTS}, image_expert=torch.randn(4, 9), text_expert=torch.randn(4, 2)
    )
    assert torch.isfinite(total(create_method("temo", expert="both"), wide, END))


@pytest.mark.parametrize("expert", EXPERTS)
def test_experts_are_needed_where_they_speak(expert: str) -> None:
    wanted = {f"{side}_expert" for side in EXPERTS[expert]}
    assert create_method("temo", expert=expert).needs == {"image_view", "text_view", *wanted}
    assert create_method("temo", expert=expert, unimodal="none").needs == wanted
    with pytest.raises(ValueError, match=f'no "{min(wanted)}"'):
        total(create_method("temo", expert=expert), batch_of(4), END)


@pytest.mark.parametrize("settings", [{"unimodal": "none"}, {"unimodal": "plain"}])
def test_an_expert_that_nothing_listens_to_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match='temo: expert "image" has no use'):
        create_method("temo", expert="image", modulated=False, **settings)


TABLE_3: dict[str, tuple[dict[str, Any], tuple[float, dict[str, float]]]] = {
    "a": ({"modulated": False, "unimodal": "none", "schedule": "none"}, (0, {"mm": 1})),
    "b": ({"base": False, "unimodal": "none", "schedule": "none"}, (0, {"m_mm": 1})),
    "c": ({"modulated": False, "unimodal": "plain", "schedule": "none"}, (0, {"mm": 1, "i2i": 1, "t2t": 1})),
    "d": ({"unimodal": "none", "schedule": "fixed"}, (0, {"mm": 0.5, "m_mm": 0.5})),
    "e": ({"unimodal": "none"}, (0.75, {"mm": 0.0625, "m_mm": 0.5625})),
    "f": ({"schedule": "fixed"}, (0.5, {"mm": 0.5, "m_mm": 0.5, "i2i": 0.5, "t2t": 0.5})),
    "g": ({}, (0.25, {"mm": 0.5625, "m_mm": 0.0625, "i2i": 0.0625, "t2t": 0.0625})),
}


@pytest.mark.parametrize("row", TABLE_3)
def test_every_row_of_table_3_can_be_written(row: str) -> None:
    settings, (t, weights) = TABLE_3[row]
    batch = batch_of(4)
    loss = create_method("temo", **settings)(batch, Clock(step=int(4 * t), total_steps=4))
    assert list(loss.terms) == list(weights)
    expected = sum(weights[name] * term.item() for name, term in loss.terms.items())
    assert loss.total.item() == pytest.approx(expected, abs=1e-12)


def test_without_modulation_the_end_is_infonce_and_both_unimodal_losses_at_tau_min() -> None:
    batch = batch_of(4)
    method = create_method("temo", tau=0.5, tau_min=0.03, tau_alpha=0)
    plain = create_method("temo", tau=0.03, modulated=False, unimodal="plain", schedule="none")
    assert_twins(total(method, batch, END), total(plain, batch, END), batch)
