import math
from collections.abc import Callable

import pytest
import torch
from family import NOW, assert_twins, batch_of, dot, minus_log_softmax, one_sided, rows, total
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch

LOW, HIGH = 0.07, 0.2
PROFILES: dict[str, Callable[[Tensor], Tensor]] = {
    "cosine": lambda s: LOW + 0.5 * (HIGH - LOW) * (1 + torch.cos(math.pi * (1 + s))),
    "linear": lambda s: LOW + (HIGH - LOW) * (s if s > 0 else -s),
    "exponential": lambda s: LOW * (HIGH / LOW) ** (s if s > 0 else -s),
    "monotone": lambda s: LOW + 0.5 * (HIGH - LOW) * (1 - torch.cos(math.pi * (1 + s) / 2)),
}


def algorithm_2(s: Tensor, low: float = 0.1, shift: float = -0.4, scale: float = 0.7) -> Tensor:
    if (shift <= 0 and s <= -shift) or (shift >= 0 and s >= -shift):
        return low + 0.5 * (HIGH - low) * (1 + torch.cos(math.pi / scale * (shift + s)))
    return torch.full_like(s, HIGH)


def naive_pair(batch: PairBatch, profile: Callable[[Tensor], Tensor], detach: bool) -> Tensor:
    """InfoNCE with tau(S_ij), both directions."""
    x, y, summed = rows(batch.image), rows(batch.text), torch.zeros((), dtype=torch.float64)
    for i in range(batch.size):
        for anchor, others in ((x[i], y), (y[i], x)):
            cosines = [dot(anchor, other) for other in others]
            logits = [s / profile(s.detach() if detach else s) for s in cosines]
            summed = summed + minus_log_softmax(logits, i)
    return summed / (2 * batch.size)


def naive_one(batch: PairBatch, profile: Callable[[Tensor], Tensor], detach: bool) -> Tensor:
    """Algorithm 3: NT-Xent over two views, a temperature for each candidate."""
    z = [row for view in batch.views for row in rows(view)]
    summed = torch.zeros((), dtype=torch.float64)
    for i in range(len(z)):
        partner = (i + batch.size) % len(z)
        cosines = [dot(z[i], z[k]) for k in (partner, *(k for k in range(len(z)) if k not in (i, partner)))]
        summed = summed + minus_log_softmax([s / profile(s.detach() if detach else s) for s in cosines], 0)
    return summed / len(z)


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("profile", PROFILES)
def test_pairs_match_the_naive_twin_in_value_and_gradient(profile: str, detach: bool) -> None:
    batch = batch_of(4)
    ours = total(create_method("dystress", profile=profile, detach_temperature=detach), batch)
    assert_twins(ours, naive_pair(batch, PROFILES[profile], detach), batch)


@pytest.mark.parametrize("side", ["image", "text"])
@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("profile", PROFILES)
def test_one_tower_matches_the_naive_twin_in_value_and_gradient(profile: str, detach: bool, side: str) -> None:
    batch = one_sided(batch_of(4), side)
    ours = total(create_method("dystress", profile=profile, detach_temperature=detach), batch)
    assert_twins(ours, naive_one(batch, PROFILES[profile], detach), batch)


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize(("shift", "scale"), [(-0.4, 0.7), (0.4, 0.7), (0.0, 0.5), (-0.2, 0.6), (0.3, 0.9)])
def test_shifted_matches_the_naive_twin_for_pairs_and_for_one_tower(shift: float, scale: float, detach: bool) -> None:
    method = create_method("dystress-shifted", shift=shift, scale=scale, detach_temperature=detach)
    batch = batch_of(4)
    single = one_sided(batch, "image")

    def profile(s: Tensor) -> Tensor:
        return algorithm_2(s, shift=shift, scale=scale)

    assert_twins(total(method, batch), naive_pair(batch, profile, detach), batch)
    assert_twins(total(method, single), naive_one(single, profile, detach), single)


def test_one_sided_matches_the_naive_twin_and_is_refused_where_it_has_no_use() -> None:
    batch = batch_of(4)
    method = create_method("dystress-shifted", shift=0.0, scale=0.5, one_sided=True)

    def profile(s: Tensor) -> Tensor:
        return torch.where(s <= 0, algorithm_2(s, shift=0.0, scale=0.5), 0.2)

    assert_twins(total(method, batch), naive_pair(batch, profile, True), batch)
    with pytest.raises(UsageError, match=r"dystress-shifted: one_sided is for shift 0; with shift -0\.4"):
        create_method("dystress-shifted", one_sided=True)


def angle(cosine: float) -> PairBatch:
    image = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    return PairBatch(image=image, text=torch.tensor([[cosine, math.sqrt(1 - cosine**2)]], dtype=torch.float64))


@pytest.mark.parametrize(("cosine", "tau"), [(-1, 0.05), (-0.5, 0.03), (0, 0.01), (0.5, 0.03), (1, 0.05)])
def test_the_temperature_is_lowest_at_zero_highest_at_both_ends_and_even(cosine: float, tau: float) -> None:
    gauges = create_method("dystress", tau_min=0.01, tau_max=0.05)(angle(cosine), NOW).gauges
    assert float(gauges["temperature_positive"]) == pytest.approx(tau, abs=1e-9)


def test_gauges_tell_the_mean_of_all_pairs_and_of_positives() -> None:
    eye = torch.eye(2, dtype=torch.float64)
    for batch, mean in ((PairBatch(image=eye, text=eye), 0.135), (PairBatch(image=eye, image_view=eye), 0.34 / 3)):
        gauges = create_method("dystress")(batch, NOW).gauges
        assert float(gauges["temperature_positive"]) == pytest.approx(0.2)
        assert float(gauges["temperature"]) == pytest.approx(mean)


@pytest.mark.parametrize("name", ["dystress", "dystress-shifted"])
def test_crossed_bounds_are_refused_with_both_numbers(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: tau_min 0\.3 is above tau_max 0\.2"):
        create_method(name, tau_min=0.3)
