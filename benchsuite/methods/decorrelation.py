"""Losses without negatives that keep the dimensions of an embedding apart: Barlow Twins, VICReg, W-MSE."""

import math
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import mse_loss, normalize, relu

from benchsuite.errors import DivergedError
from benchsuite.fields import NonNegative, Positive, Share
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.registry import register_method


@register_method(
    "barlow-twins",
    title="Barlow Twins",
    paper="zbontar2021",
    equation=r"\sum_d (1 - C_{dd})^2 + \lambda \sum_{d \neq e} C_{de}^2",
    needs=("image_view",),
    serves=("image", "text"),
)
class BarlowTwins(Method):
    """The cross-correlation of two views' dimensions is driven to the identity.

    C is the [D, D] correlation between the dimensions of the views over the batch, each dimension centred and divided
    by its standard deviation (with B, not B - 1, as batch norm does). Equation 1 of the paper.

    Trap: embeddings are not normalised to length 1; a batch in which a dimension is constant has variance 0, so
    `epsilon` is added to each variance, as in batch norm.
    """

    normalizes = False

    weight: NonNegative = 5e-3
    """lambda: weight of the correlations between different dimensions."""
    epsilon: Positive = 1e-5
    """Added to the variances."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        first, second = (standardized(view, self.epsilon) for view in batch.views)
        correlation = first.T @ second / batch.size  # [D, D]
        invariance = (1 - correlation.diagonal()).square().sum()
        redundancy = off_diagonal(correlation).square().sum()
        return Loss(invariance + self.weight * redundancy, {"invariance": invariance, "redundancy": redundancy})


@register_method(
    "vicreg",
    title="VICReg",
    paper="bardes2022",
    defaults="the released code, which halves the variance term",
    equation=r"\lambda\,MSE(x, x') + \mu\,\frac12 \sum_v mean_d\,max(0, 1 - \sqrt{Var_d + \epsilon})"
    r" + \nu \sum_v \frac1D \sum_{d \neq e} Cov_{de}^2",
    needs=("image_view",),
    serves=("image", "text"),
)
class VICReg(Method):
    """Views agree, each dimension keeps a standard deviation of 1, and different dimensions do not covary.

    Invariance, variance and covariance with weights 25, 25, 1 (section 4.1). The released code takes half of each
    view's variance term and the mean over dimensions of the squared distance, while the paper sums both: the
    defaults belong to the released form, and so does this code.

    Trap: embeddings are not normalised to length 1, or their standard deviation could never reach 1.
    """

    normalizes = False

    invariance_weight: NonNegative = 25.0
    """lambda."""
    variance_weight: NonNegative = 25.0
    """mu."""
    covariance_weight: NonNegative = 1.0
    """nu."""
    epsilon: Positive = 1e-4
    """Added to the variances under the root."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        if batch.size < 2:
            raise ValueError(f"{self.card.name}: one sample alone has no variance.")
        too_narrow = [relu(1 - torch.sqrt(view.var(dim=0) + self.epsilon)).mean() for view in batch.views]
        covarying = [off_diagonal(covariance(view)).square().sum() / view.shape[1] for view in batch.views]
        terms = {
            "invariance": mse_loss(*batch.views),
            "variance": torch.stack(too_narrow).mean(),
            "covariance": torch.stack(covarying).sum(),
        }
        total = self.invariance_weight * terms["invariance"] + self.variance_weight * terms["variance"]
        return Loss(total + self.covariance_weight * terms["covariance"], terms)


@register_method(
    "w-mse",
    title="W-MSE",
    paper="ermolov2021",
    equation=r"2 - 2\,mean_i \cos(W z_i, W' z'_i),\ W = L^{-1},\ L L^\top = Cov",
    needs=("image_view",),
    serves=("image", "text"),
)
class WMSE(Method):
    """Views agree after whitening, which alone keeps embeddings from collapsing.

    Each view of the batch is centred and multiplied by the inverse Cholesky factor of its covariance; the loss is the
    squared distance of the L2-normalised results, 2 - 2 cos (section 3 of the paper). The paper whitens random slices
    of the batch, here the batch is one slice.

    Trap: the covariance of fewer samples than dimensions is singular, and of fewer than twice as many badly
    conditioned: `shrinkage` mixes it with the identity; 0 is the paper's.
    """

    normalizes = False
    miniature: ClassVar = {"shrinkage": 0.1}

    shrinkage: Share = 0.0
    """Weight of the identity in the covariance, as released (its eps)."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        size, width = batch.views[0].shape
        if size <= width and not self.shrinkage:
            raise self.refuse(
                f"{size} samples of {width} dimensions have a singular covariance; "
                f"take a batch of at least {2 * width}, narrower embeddings, or a shrinkage above 0."
            )
        try:
            first, second = (normalize(whitened(view, self.shrinkage), dim=1) for view in batch.views)
        except SingularError as error:
            raise DivergedError(
                f"{self.card.name}: at step {clock.step} the covariance of the batch is singular: embeddings have "
                "collapsed to fewer dimensions. A shrinkage above 0 or a lower learning rate keeps it regular."
            ) from error
        return Loss(2 - 2 * (first * second).sum(1).mean())


class SingularError(ArithmeticError):
    """A covariance has no Cholesky factor."""


def standardized(x: Tensor, epsilon: float) -> Tensor:
    """Each dimension with mean 0 and variance 1 over the batch."""
    return (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + epsilon)


def off_diagonal(matrix: Tensor) -> Tensor:
    """The entries beside the diagonal, as a vector."""
    return matrix[~torch.eye(len(matrix), dtype=torch.bool, device=matrix.device)]


def covariance(x: Tensor) -> Tensor:
    """Of the dimensions over the batch, [D, D], divided by B - 1."""
    centred = x - x.mean(0)
    return centred.T @ centred / (len(x) - 1)


def whitened(x: Tensor, shrinkage: float) -> Tensor:
    """The embeddings with the identity as their covariance. What holds no numbers stays so, and with it the loss."""
    identity = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    factor, failed = torch.linalg.cholesky_ex((1 - shrinkage) * covariance(x) + shrinkage * identity)
    if failed:
        if x.isfinite().all():
            raise SingularError
        return x * math.nan
    rows: Tensor = torch.linalg.solve_triangular(factor, (x - x.mean(0)).T, upper=False).T
    return rows
