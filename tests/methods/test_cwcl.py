import math
from typing import Any

import pytest
import torch
from family import EXTRA, NOW, PARTS, assert_twins, batch_of, collapsed, dot, gradients, minus_log_softmax, rows, total
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.cwcl import closeness, weighted_cross_entropy_rows
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.objectives.softmax import cross_entropy_rows

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


def logits(size: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return 5 * torch.randn(size, size, generator=generator, dtype=torch.float64)


def test_identity_weights_are_infonce_in_that_direction() -> None:
    eye = torch.eye(5, dtype=torch.float64)
    loss = weighted_cross_entropy_rows(logits(), eye)
    assert loss.item() == pytest.approx(cross_entropy_rows(logits()).item(), abs=1e-12)


def test_orthogonal_anchors_make_the_method_half_smoothed_and_opposite_ones_infonce() -> None:
    opposite = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)  # w = identity
    text = torch.tensor([[0.8, 0.6], [0.1, -1.0]], dtype=torch.float64)
    batch = PairBatch(image=opposite, text=text)
    loss, plain = (total(create_method(name, tau=0.3), batch).item() for name in ("cwcl", "infonce"))
    assert loss == pytest.approx(plain, abs=1e-12)


def test_equal_weights_are_the_mean_over_candidates_of_the_log_softmax() -> None:
    loss = weighted_cross_entropy_rows(logits(), torch.ones(5, 5, dtype=torch.float64))
    assert loss.item() == pytest.approx(-torch.log_softmax(logits(), dim=1).mean().item(), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_never_falls_below_the_entropy_of_the_normalised_weights(seed: int) -> None:
    batch = batch_of(5, seed=seed).normalized()
    w = closeness(batch.image).dense()
    share = w / w.sum(dim=1, keepdim=True)
    entropy = -(share * share.log()).sum(dim=1).mean()
    assert weighted_cross_entropy_rows(batch.image @ batch.text.T / 0.1, w).item() >= entropy.item()
    assert weighted_cross_entropy_rows(share.log(), w).item() == pytest.approx(entropy.item(), abs=1e-12)


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


def test_no_gradient_flows_through_the_weights() -> None:
    batch = batch_of(4)
    held = batch_of(4, parts=ALL)
    same = PairBatch(image=held.image, text=held.text, image_expert=held.image.detach())
    own = gradients(total(create_method("cwcl", tau=0.1), batch), batch)
    expert = gradients(total(create_method("cwcl", tau=0.1, weights="expert"), same), held)
    torch.testing.assert_close(own["image"], expert["image"])
    assert expert["image_expert"].abs().max().item() == 0


def test_terms_are_the_two_directions_and_their_mean_the_total() -> None:
    loss = create_method("cwcl", tau=0.2)(batch_of(4), NOW)
    assert list(loss.terms) == ["i2t", "t2i"]
    assert loss.total.item() == pytest.approx(0.5 * sum(term.item() for term in loss.terms.values()))
    plain = create_method("cwcl", tau=0.2, modality="text")(batch_of(4), NOW)
    assert loss.terms["t2i"].item() != pytest.approx(plain.terms["t2i"].item())


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
