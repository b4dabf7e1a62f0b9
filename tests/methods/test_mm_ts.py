import math
from typing import Any

import pytest
import torch
from family import NOW, assert_twins, batch_of, dot, given, minus_log_softmax, rows, total
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.fields import temperatures
from benchsuite.methods import create_method, method_class
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch

BOTH = ("mm-ts", "mm-ts-margin")
SIZES = (50, 7, 20)
DEFAULTS = {"mm-ts": (0.04, 0.05, 0.10), "mm-ts-margin": (0.20, 0.17, 0.30)}


def naive_value(
    size: int, sizes: tuple[int, ...], t: float, alpha: float, low: float, high: float, periods: float
) -> float:
    """Equations 6 to 8, for one pair."""
    seen = [k for k in sizes if k > 0]
    shift = (size - min(seen)) / (max(seen) - min(seen)) * (high - low) + low
    return alpha * math.cos(2 * math.pi * periods * t) / 2 + shift


def naive(name: str, batch: PairBatch, values: list[float]) -> Tensor:
    x, y = rows(batch.image), rows(batch.text)
    summed = torch.zeros((), dtype=torch.float64)
    for i in range(batch.size):
        if name == "mm-ts":
            summed = summed + minus_log_softmax([dot(x[i], other) / values[i] for other in y], i) / (2 * batch.size)
            summed = summed + minus_log_softmax([dot(y[i], other) / values[i] for other in x], i) / (2 * batch.size)
            continue
        for j in range(batch.size):
            for negative in [dot(x[i], y[j]), dot(x[j], y[i])] if i != j else []:
                short = values[i] - dot(x[i], y[i]) + negative
                summed = summed + (short if short > 0 else 0 * short) / (2 * batch.size * (batch.size - 1))
    return summed


@pytest.mark.parametrize("step", range(8))
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.06, "shift_min": 0.1, "shift_max": 0.4, "periods": 1.5}])
@pytest.mark.parametrize("name", BOTH)
def test_matches_the_naive_twin_in_value_and_gradient(name: str, settings: dict[str, float], step: int) -> None:
    batch = batch_of(5)
    alpha, low, high = settings.get("alpha"), settings.get("shift_min"), settings.get("shift_max")
    alpha, low, high = (a if a is not None else d for a, d in zip((alpha, low, high), DEFAULTS[name], strict=True))
    values = [
        naive_value(SIZES[c], SIZES, step / 7, alpha, low, high, settings.get("periods", 5))
        for c in batch.cluster.tolist()
    ]
    method = create_method(name, cluster_sizes=SIZES, **settings)
    assert_twins(total(method, batch, Clock(step=step, total_steps=7)), naive(name, batch, values), batch)


def levels(name: str, cluster: list[int], step: int = 0, total_steps: int = 10, **settings: Any) -> list[float]:
    """tau_i or m_i of pairs of these clusters."""
    parts = {part: torch.eye(len(cluster), dtype=torch.float64) for part in ("image", "text")}
    batch = PairBatch(**parts, cluster=torch.tensor(cluster))
    values: list[float] = (
        create_method(name, **settings).values(batch, Clock(step=step, total_steps=total_steps)).tolist()
    )
    return values


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("sizes", [(), (8, 8, 8), (8, 0, 8)])
def test_clusters_of_equal_size_are_all_at_the_midpoint(name: str, sizes: tuple[int, ...]) -> None:
    shifts = levels(name, [0, 2, 0], alpha=0, shift_min=0.1, shift_max=0.3, cluster_sizes=sizes)
    assert shifts == pytest.approx([0.2] * 3)


@pytest.mark.parametrize("name", BOTH)
def test_ids_without_pairs_do_not_count_as_the_smallest_cluster(name: str) -> None:
    shifts = levels(name, [1, 2, 3], alpha=0, shift_min=0.1, shift_max=0.3, cluster_sizes=(0, 10, 20, 30))
    assert shifts == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("cluster", [3, -1, 700])
def test_an_unseen_class_is_an_error_that_names_it(name: str, cluster: int) -> None:
    with pytest.raises(
        ValueError, match=rf"{name}: cluster {cluster} has no size; cluster_sizes has 3, for ids 0 to 2"
    ):
        levels(name, [0, cluster, 1], cluster_sizes=SIZES)


@pytest.mark.parametrize("name", BOTH)
def test_a_class_of_size_0_is_unseen_too(name: str) -> None:
    with pytest.raises(ValueError, match=r"cluster 1 has no size.*size 0 means"):
        levels(name, [0, 1], cluster_sizes=(5, 0, 9))


@pytest.mark.parametrize("name", BOTH)
def test_values_that_would_fall_below_0_are_refused_with_the_numbers(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: shift_min 0\.05 - alpha 0\.2 / 2 = -0\.05: .* above 0"):
        create_method(name, alpha=0.2, shift_min=0.05, shift_max=0.3)


def test_a_temperature_of_0_is_refused_and_a_margin_of_0_is_not() -> None:
    vast = {"alpha": 0.2, "shift_min": 0.1, "shift_max": 0.3}
    with pytest.raises(UsageError, match=r"mm-ts: shift_min 0\.1 - alpha 0\.2 / 2 = 0: .* must stay above 0"):
        create_method("mm-ts", **vast)
    half = {"step": 1, "total_steps": 2, "periods": 1, "cluster_sizes": (1000, 3)}
    assert levels("mm-ts-margin", [0, 1], **half, **vast) == pytest.approx([0.2, 0.0])
    assert levels("mm-ts-margin", [0, 1], alpha=0, shift_min=0, shift_max=0.1, cluster_sizes=(9, 3)) == [0.1, 0.0]


@pytest.mark.parametrize("name", BOTH)
def test_crossed_shifts_and_empty_clusters_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: shift_min 0\.4 is above shift_max 0\.3"):
        create_method(name, shift_min=0.4, shift_max=0.3)
    for sizes, message in (((0, 0), "cluster_sizes are all 0"), ((3, -1), "cluster_sizes = .* is not possible")):
        with pytest.raises(UsageError, match=message):
            create_method(name, cluster_sizes=sizes)


@pytest.mark.parametrize("name", BOTH)
def test_clusters_are_needed_unless_all_shifts_are_equal(name: str) -> None:
    assert create_method(name).needs == {"cluster"}
    alone = create_method(name, shift_min=0.2, shift_max=0.2)
    assert alone.needs == frozenset()
    bare = PairBatch(**{p: t for p, t in given(batch_of(4)).items() if p in ("image", "text")})
    assert torch.isfinite(total(alone, bare))
    with pytest.raises(ValueError, match='no "cluster"'):
        total(create_method(name), bare)


@pytest.mark.parametrize("name", BOTH)
def test_a_bare_call_treats_all_clusters_alike(name: str) -> None:
    values = levels(name, [0, 12, 7], 0)
    alpha, low, high = DEFAULTS[name]
    assert values == pytest.approx([alpha / 2 + (low + high) / 2] * 3)


@pytest.mark.parametrize("name", BOTH)
def test_sizes_may_come_as_a_list(name: str) -> None:
    assert create_method(name, cluster_sizes=list(SIZES)).options()["cluster_sizes"] == SIZES


def test_a_recipes_factor_moves_temperatures_and_no_margins() -> None:
    assert temperatures(method_class("mm-ts")) == ["alpha", "shift_min", "shift_max"]
    assert temperatures(method_class("mm-ts-margin")) == []
    assert temperatures(method_class("max-margin")) == []


@pytest.mark.parametrize(("name", "gauge"), [("mm-ts", "temperature"), ("mm-ts-margin", "margin")])
def test_gauges_tell_the_mean_and_both_ends(name: str, gauge: str) -> None:
    batch = batch_of(6)
    gauges = create_method(name, alpha=0, shift_min=0.1, shift_max=0.3, cluster_sizes=(3, 5, 4))(batch, NOW).gauges
    ends = [float(gauges[f"{gauge}{end}"]) for end in ("", "_min", "_max")]
    assert ends == pytest.approx([0.2, 0.1, 0.3])


def test_max_margin_is_the_naive_twin_at_one_margin() -> None:
    batch = batch_of(5)
    for margin in (0.2, 0.05, 0.9):
        loss = total(create_method("max-margin", margin=margin), batch)
        assert_twins(loss, naive("max-margin", batch, [margin] * 5), batch)


@pytest.mark.parametrize("name", BOTH)
def test_there_is_no_state_to_lose_in_a_checkpoint_or_in_half_precision(name: str) -> None:
    method = create_method(name, cluster_sizes=(123457, 3, 1001))
    batch = batch_of(4)
    before = total(method, batch).item()
    assert method.state_dict() == {}
    assert total(method.half(), batch).item() == before
