import math

import pytest
import torch
from family import assert_twins, batch_of, gradients, total
from torch import Tensor

from benchsuite.errors import DivergedError, UsageError
from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.decorrelation import covariance, whitened
from benchsuite.torchvision_ops import make_importable

make_importable()

from lightly.loss import BarlowTwinsLoss, VICRegLoss  # noqa: E402
from lightly.loss.wmse_loss import WMSELoss  # noqa: E402


def views(size: int = 12, width: int = 4, seed: int = 0) -> PairBatch:
    batch = batch_of(size, width, seed)
    return PairBatch(image=batch.image, image_view=batch.image_view)


def naive_correlation(x: Tensor, y: Tensor, a: int, b: int, epsilon: float) -> Tensor:
    size = len(x)
    mean_x, mean_y = x[:, a].sum() / size, y[:, b].sum() / size
    var_x, var_y = ((x[:, a] - mean_x) ** 2).sum() / size, ((y[:, b] - mean_y) ** 2).sum() / size
    together = ((x[:, a] - mean_x) * (y[:, b] - mean_y)).sum() / size
    return together / torch.sqrt((var_x + epsilon) * (var_y + epsilon))


def naive_barlow(batch: PairBatch, weight: float) -> Tensor:
    x, y = batch.views
    whole = torch.zeros((), dtype=x.dtype)
    for a in range(x.shape[1]):
        for b in range(x.shape[1]):
            c = naive_correlation(x, y, a, b, 1e-5)
            whole = whole + ((1 - c) ** 2 if a == b else weight * c**2)
    return whole


def naive_vicreg(batch: PairBatch) -> Tensor:
    size, width = batch.views[0].shape
    whole = 25 * sum(((p - q) ** 2).sum() for p, q in zip(*batch.views, strict=True)) / (size * width)
    for view in batch.views:
        centred = view - view.sum(0) / size
        for a in range(width):
            spread = torch.sqrt((centred[:, a] ** 2).sum() / (size - 1) + 1e-4)
            whole = whole + 25 * torch.clamp(1 - spread, min=0) / (2 * width)
            for b in range(width):
                if a != b:
                    whole = whole + ((centred[:, a] * centred[:, b]).sum() / (size - 1)) ** 2 / width
    return whole


def test_barlow_twins_is_its_naive_twin_and_lightlys() -> None:
    batch = views()
    method = create_method("barlow-twins")
    assert_twins(total(method, batch), naive_barlow(batch, 5e-3), batch)
    assert_twins(total(method, batch), BarlowTwinsLoss()(*batch.views), batch, tolerance=1e-10)


def test_vicreg_is_its_naive_twin_and_lightlys() -> None:
    batch = views()
    method = create_method("vicreg")
    assert_twins(total(method, batch), naive_vicreg(batch), batch)
    assert_twins(total(method, batch), VICRegLoss()(*batch.views), batch, tolerance=1e-10)


def test_w_mse_is_lightlys() -> None:
    batch = views(16)
    theirs = WMSELoss(embedding_dim=4, w_size=16, track_running_stats=False).double()
    assert_twins(total(create_method("w-mse"), batch), theirs(torch.cat(batch.views)), batch, tolerance=1e-8)


def test_whitened_embeddings_have_the_identity_as_covariance() -> None:
    x = views(20).image
    torch.testing.assert_close(covariance(whitened(x, 0.0)), torch.eye(4, dtype=x.dtype))
    torch.testing.assert_close(whitened(x, 1.0), x - x.mean(0))


def test_any_invertible_map_of_a_view_leaves_cholesky_whitening_within_a_rotation() -> None:
    x = views(20).image.detach()
    stretched = x * torch.tensor([3.0, 0.5, 2.0, 1.0], dtype=x.dtype) + 7
    torch.testing.assert_close(whitened(stretched, 0.0), whitened(x, 0.0))


def test_equal_views_cost_nothing_but_redundancy() -> None:
    x = views(40).image.detach().requires_grad_()
    same = PairBatch(image=x, image_view=x)
    assert total(create_method("w-mse"), same).item() == pytest.approx(0, abs=1e-12)
    assert create_method("vicreg")(same, None).terms["invariance"].item() == 0
    assert create_method("barlow-twins")(same, None).terms["invariance"].item() == pytest.approx(0, abs=1e-8)


def test_a_collapse_is_the_worst_for_vicregs_variance() -> None:
    flat = torch.ones(6, 4, dtype=torch.float64)
    terms = create_method("vicreg")(PairBatch(image=flat, image_view=flat), None).terms
    assert terms["variance"].item() == pytest.approx(1 - math.sqrt(1e-4))
    assert terms["invariance"].item() == terms["covariance"].item() == 0


def test_fewer_samples_than_dimensions_are_refused_where_they_have_no_inverse() -> None:
    few = views(4, 6)
    with pytest.raises(
        UsageError, match=r"w-mse: 4 samples of 6 dimensions have a singular covariance; .* at least 12"
    ):
        total(create_method("w-mse"), few)
    assert torch.isfinite(gradients(total(create_method("w-mse", shrinkage=0.1), few), few)["image"]).all()


def test_a_collapse_without_shrinkage_is_a_divergence_that_says_what_helps() -> None:
    flat = torch.ones(12, 4, dtype=torch.float64)
    with pytest.raises(DivergedError, match=r"w-mse: at step 1 the covariance .* singular: .* shrinkage above 0"):
        total(create_method("w-mse"), PairBatch(image=flat, image_view=flat))


def test_one_sample_has_no_variance() -> None:
    with pytest.raises(ValueError, match="vicreg: one sample alone has no variance"):
        total(create_method("vicreg"), views(1))
