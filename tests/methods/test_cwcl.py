import math
from typing import Any

import pytest
import torch
from family import EXTRA, PARTS, assert_twins, batch_of, collapsed, dot, minus_log_softmax, rows, total
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.cwcl import closeness
from benchsuite.objectives.blocks import Sizes, sized

ALL = (*PARTS, *EXTRA)


def naive(batch: PairBatch, tau: float, weighing: tuple[str, ...], expert: bool) -> Tensor:
    unit = {side: rows(getattr(batch, side)) for side in ("image", "text")}
    summed = torch.zeros((), dtype=torch.float64)
    for side, other in (("image", "text"), ("text", "image")):
        judge = [row.detach() for row in (rows(getattr(batch, f"{side}_expert")) if expert else unit[side])]
        for i in range(batch.size):
            logits = [dot(unit[side][i], candidate) / tau for candidate in unit[other]]
            if side not in weighing:
                summed = summed + minus_log_softmax(logits, i)
                continue
            weights = [0.5 + 0.5 * dot(judge[i], judge[j]) for j in range(batch.size)]
            weighted = sum(w * minus_log_softmax(logits, j) for j, w in enumerate(weights))
            summed = summed + weighted / sum(weights)
    return summed / (2 * batch.size)


@pytest.mark.parametrize(
    ("settings", "weighing"),
    [({}, ("image",)), ({"modality": "text"}, ("text",)), ({"symmetric": True}, ("image", "text"))],
)
@pytest.mark.parametrize("weights", ["own", "expert"])
@pytest.mark.parametrize("tau", [0.01, 0.05, 0.3])
def test_matches_the_naive_twin_in_value_and_gradient(
    settings: dict[str, Any], weighing: tuple[str, ...], weights: str, tau: float
) -> None:
    batch = batch_of(4, parts=ALL)
    method = create_method("cwcl", tau=tau, weights=weights, **settings)
    assert_twins(total(method, batch), naive(batch, tau, weighing, weights == "expert"), batch)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_blocks_of_rows_give_what_the_whole_matrix_gives(rows: int) -> None:
    batch = batch_of(5, parts=ALL)
    twin = naive(batch, 0.2, ("image", "text"), False)
    with sized(Sizes(whole=0, rows=rows)):
        assert_twins(total(create_method("cwcl", tau=0.2, symmetric=True), batch), twin, batch)


def test_weights_are_cosines_mapped_to_the_unit_interval_with_one_on_the_diagonal() -> None:
    z = batch_of(6).normalized().image
    w = closeness(z).dense()
    assert not w.requires_grad
    assert w.diagonal().tolist() == pytest.approx([1.0] * 6)
    assert w[0, 1].item() == pytest.approx(0.5 + 0.5 * dot(z[0], z[1]).item())
    assert closeness(torch.tensor([[1.0, 0.0], [-1.0, 0.0]])).dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_cosine_that_rounding_moved_out_of_its_range_makes_no_weight_below_0_or_above_1() -> None:
    z = torch.tensor([[1.0001, 0.0], [-1.0001, 0.0]])
    assert closeness(z).dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        ({}, set()),
        ({"symmetric": True}, set()),
        ({"weights": "expert"}, {"image_expert"}),
        ({"weights": "expert", "modality": "text"}, {"text_expert"}),
        ({"weights": "expert", "symmetric": True}, {"image_expert", "text_expert"}),
    ],
)
def test_experts_are_needed_only_where_they_weigh(settings: dict[str, Any], needs: set[str]) -> None:
    method = create_method("cwcl", **settings)
    assert method.needs == needs
    assert torch.isfinite(total(method, batch_of(4, parts=("image", "text", *sorted(needs)))))
    if needs:
        with pytest.raises(ValueError, match=f'no "{min(needs)}"'):
            total(method, batch_of(4))


def test_a_collapsed_batch_costs_the_logarithm_of_its_size() -> None:
    assert total(create_method("cwcl"), collapsed()).item() == pytest.approx(math.log(6))
