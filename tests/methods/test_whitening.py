from typing import Any

import numpy as np
import pytest
import torch
from family import assert_twins, batch_of, gradients, one_sided, total
from scipy.linalg import fractional_matrix_power
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.decorrelation import covariance, standardized
from benchsuite.methods.whitening import VARIANCE, whitened

NAMES = ("zero-fcl", "zero-cl", "arb")
EXACT: dict[str, Any] = {"epsilon": 1e-9, "shrinkage": 0.0}


def views(size: int = 12, width: int = 4, seed: int = 0) -> PairBatch:
    return one_sided(batch_of(size, width, seed), "image")


def naive_standardized(z: Tensor) -> Tensor:
    columns = []
    for d in range(z.shape[1]):
        centred = z[:, d] - z[:, d].sum() / len(z)
        columns.append(centred / torch.sqrt((centred**2).sum() / len(z) + VARIANCE))
    return torch.stack(columns, dim=1)


def naive_whitened(z: Tensor, epsilon: float, shrinkage: float) -> Tensor:
    """z ((1 - s) C + (s + e) I)^(-1/2), the power by scipy, which uses no symmetry."""
    x = z.detach().numpy()
    mixed = (1 - shrinkage) * x.T @ x / len(x) + (shrinkage + epsilon) * np.eye(x.shape[1])
    return z @ torch.from_numpy(np.real(fractional_matrix_power(mixed, -0.5)))


def naive_agreement(x: Tensor, y: Tensor) -> Tensor:
    return sum((1 - (x[:, d] * y[:, d]).sum() / len(x)) ** 2 for d in range(x.shape[1]))


def naive_zero(x: Tensor, y: Tensor, epsilon: float, shrinkage: float) -> Tensor:
    return naive_agreement(*(naive_whitened(naive_standardized(z), epsilon, shrinkage) for z in (x, y)))


@pytest.mark.parametrize("size", [12, 3])
@pytest.mark.parametrize(("epsilon", "shrinkage"), [(0.01, 0.0), (1e-5, 0.1)])
def test_zero_cl_and_its_features_are_their_naive_twins(epsilon: float, shrinkage: float, size: int) -> None:
    batch = views(size)
    x, y = batch.views
    settings: dict[str, Any] = {"epsilon": epsilon, "shrinkage": shrinkage}

    def naive(instances: float, features: float) -> Tensor:
        return instances * naive_zero(x.T, y.T, **settings) + features * naive_zero(x, y, **settings)

    assert_twins(total(create_method("zero-fcl", **settings), batch), naive(0, 1), batch)
    assert_twins(total(create_method("zero-cl", **settings), batch), naive(1, 1), batch)
    weighed = create_method("zero-cl", **settings, instance_weight=2.0, feature_weight=0.5)
    assert_twins(total(weighed, batch), naive(2, 0.5), batch)


@pytest.mark.parametrize("size", [12, 3])
def test_arb_is_its_naive_twin(size: int) -> None:
    batch = views(size)
    x, y = (naive_standardized(z) for z in batch.views)
    bases = [naive_whitened(z, 1e-5, 1e-4).detach() for z in (x, y)]
    naive = naive_agreement(x, bases[1]) + naive_agreement(y, bases[0])
    assert_twins(total(create_method("arb"), batch), naive, batch, tolerance=1e-7)


def test_whitened_embeddings_are_uncorrelated_and_the_nearest_such() -> None:
    z = standardized(views(20).image.detach(), VARIANCE)
    white = whitened(z, 1e-12, 0.0)
    torch.testing.assert_close(white.T @ white / 20, torch.eye(4, dtype=z.dtype))
    u, _, vt = torch.linalg.svd(z, full_matrices=False)
    torch.testing.assert_close(white, 20**0.5 * u @ vt)
    for seed in range(5):
        turn, _ = torch.linalg.qr(torch.randn(4, 4, dtype=z.dtype, generator=torch.Generator().manual_seed(seed)))
        assert (z - white).norm() < (z - white @ turn).norm()
    torch.testing.assert_close(whitened(z, 0.5, 1.0), z / 1.5**0.5)


@pytest.mark.parametrize("name", NAMES)
def test_equal_views_that_are_white_cost_nothing(name: str) -> None:
    x = views(20).image.detach()
    centred = x - x.mean(0)
    white = centred @ torch.linalg.inv(torch.linalg.cholesky(covariance(x))).T
    same = PairBatch(image=white, image_view=white)
    settings = {**EXACT, "instance_weight": 0.0} if name == "zero-cl" else EXACT
    assert total(create_method(name, **settings), same).item() == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("name", ["zero-fcl", "arb"])
def test_each_dimension_has_a_scale_and_an_origin_of_its_own(name: str) -> None:
    batch = views()
    scale = torch.tensor([3.0, 0.5, 200.0, 1.0], dtype=torch.float64)
    moved = PairBatch(image=batch.image * scale + 7, image_view=batch.image_view)
    method = create_method(name)
    assert total(method, moved).item() == pytest.approx(total(method, batch).item(), rel=1e-4)


def test_instances_have_no_scale_of_their_own() -> None:
    batch = views(5, 12)
    scaled = PairBatch(image=batch.image * torch.arange(1, 6)[:, None] + 2, image_view=batch.image_view)
    method = create_method("zero-cl", feature_weight=0.0)
    assert total(method, scaled).item() == pytest.approx(total(method, batch).item(), rel=1e-4)


@pytest.mark.parametrize(("name", "cost"), [("zero-fcl", 4), ("arb", 8)])
def test_a_collapse_costs_one_for_each_dimension_and_has_no_gradient(name: str, cost: int) -> None:
    flat = torch.ones(6, 4, dtype=torch.float64).requires_grad_()
    batch = PairBatch(image=flat, image_view=flat.detach().clone().requires_grad_())
    loss = total(create_method(name), batch)
    assert loss.item() == pytest.approx(cost)
    assert all((slope == 0).all() for slope in gradients(loss, batch).values())


def test_of_few_samples_only_as_many_dimensions_less_one_agree() -> None:
    x = views(4, 6).image.detach()
    same = PairBatch(image=x, image_view=x)
    white = whitened(standardized(x, VARIANCE), *EXACT.values())
    assert (white * white).mean(0).sum().item() == pytest.approx(3, rel=1e-6)
    assert total(create_method("zero-fcl", **EXACT), same).item() >= 6 * (1 - 3 / 6) ** 2 - 1e-6
