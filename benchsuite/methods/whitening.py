"""Losses without negatives that align ZCA-whitened embeddings: Zero-FCL, Zero-CL, ARB."""

import math

import torch
from torch import Tensor

from benchsuite.fields import NonNegative, Positive, Share
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.decorrelation import standardized
from benchsuite.registry import register_method

VARIANCE = 1e-5
"""Added to variances, as in batch norm: a constant dimension has variance 0."""


@register_method(
    "zero-fcl",
    title="Zero-FCL",
    paper="zhang2022b",
    equation=r"\sum_d (1 - \frac1B \langle h_d, h'_d \rangle)^2,\ H = Z E (\Lambda + \epsilon)^{-1/2} E^\top,"
    r"\ \frac1B Z^\top Z = E \Lambda E^\top",
    needs=("image_view",),
    serves=("image", "text"),
)
class ZeroFCL(Method):
    """Feature-wise: each dimension agrees between two views, after whitening has decorrelated the dimensions.

    Z, [B, D], has dimensions of mean 0 and variance 1. ZCA whitening stays nearest to Z among all whitenings.
    Only the diagonal of the views' cross-correlation is in the loss, so that it costs no square of D.

    Not checked against the paper's text, only against its public code: that the whitening matrix is a constant in the
    gradient, and the epsilon of its code for ImageNet-100. Its code for CIFAR has shrinkage 0.1 and epsilon 1e-5, a
    covariance divided by B - 1, and no whitening at all unless it is asked for. It also standardizes by the unbiased
    deviation, with epsilon added to the deviation and not to the variance. No option does these divisions: at B = 256
    they scale Z and Lambda by at most .4 %.

    Traps: embeddings are not normalised to length 1. Of fewer samples than dimensions only B - 1 dimensions can be
    white: the loss stays above 0, but finite. A collapsed batch costs 1 for each dimension and gives no gradient.
    """

    normalizes = False

    epsilon: Positive = 0.01
    """Added to the eigenvalues."""
    shrinkage: Share = 0.0
    """Weight of the identity in the correlation matrix, as released for CIFAR."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.disagreement(*batch.views))

    def disagreement(self, first: Tensor, second: Tensor) -> Tensor:
        """How far the whitened columns of two views are from agreeing, summed over columns."""
        white = [whitened(standardized(view, VARIANCE), self.epsilon, self.shrinkage) for view in (first, second)]
        return (1 - (white[0] * white[1]).mean(0)).square().sum()


@register_method(
    "zero-cl",
    title="Zero-CL",
    paper="zhang2022b",
    equation=r"\alpha \sum_i (1 - \frac1D \langle h_i, h'_i \rangle)^2 + \beta\,FCL",
    needs=("image_view",),
    serves=("image", "text"),
)
class ZeroCL(ZeroFCL):
    """Zero-FCL, plus the same instance-wise: each sample agrees between two views, after samples are decorrelated.

    For the instances' term (ICL) the transposed embeddings, [D, B], are standardized and whitened: each sample over its
    D dimensions, the whitening matrix [B, B]. Samples are made uncorrelated instead of being used as negatives.

    The abstract says that both are combined. How they are weighed could not be checked: public code has one term or the
    other, and the defaults here add both. ICL alone is `feature_weight=0`.

    Trap: the terms sum over B and over D, so that a larger batch weighs the instances more.
    """

    instance_weight: NonNegative = 1.0
    """alpha: weight of the instances' term."""
    feature_weight: NonNegative = 1.0
    """beta: weight of the dimensions' term."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        first, second = batch.views
        instances, features = self.disagreement(first.T, second.T), self.disagreement(first, second)
        total = self.instance_weight * instances + self.feature_weight * features
        return Loss(total, {"instances": instances, "features": features})


@register_method(
    "arb",
    title="ARB",
    paper="zhang2022a",
    equation=r"\sum_d (1 - \frac1B \langle z_d, b'_d \rangle)^2 + (1 - \frac1B \langle z'_d, b_d \rangle)^2,"
    r"\ b = argmin_{b^\top b = B I} \|Z - b\|",
    needs=("image_view",),
    serves=("image", "text"),
)
class ARB(Method):
    """Align representations with base: each view's dimensions agree with the other view's nearest orthogonal base.

    Z, [B, D], has dimensions of mean 0 and variance 1. The nearest base is its polar factor, Z (Z^T Z / B)^(-1/2), the
    same matrix as ZCA whitening gives. No gradient flows through it, in both directions alike.

    Not checked against the paper's text, only against the authors' public code: the squares, the constant base, and
    its handling of matrices without full rank: shrinkage 1e-4, then 1e-5 on the eigenvalues. That code can also split
    the dimensions at random into groups with a base each, one group by default; groups are not implemented. It divides
    the correlation by B - 1 and standardizes as the code of Zero-CL does; for CIFAR it divides the loss by the width of
    the projector. Neither is an option: the first scales by .4 % at B = 256, the second is a factor of the rate.

    Traps: embeddings are not normalised to length 1. Of fewer samples than dimensions no base exists, the spectral form
    gives one of rank B - 1, and the loss stays above 0.
    """

    normalizes = False

    epsilon: Positive = 1e-5
    """Added to the eigenvalues."""
    shrinkage: Share = 1e-4
    """Weight of the identity in the correlation matrix, as released."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        first, second = (standardized(view, VARIANCE) for view in batch.views)
        terms = {"to_second": self.to_base_of(first, second), "to_first": self.to_base_of(second, first)}
        return Loss(terms["to_second"] + terms["to_first"], terms)

    def to_base_of(self, view: Tensor, other: Tensor) -> Tensor:
        """How far a view's dimensions are from agreeing with the base nearest to the other view."""
        base = whitened(other, self.epsilon, self.shrinkage).detach()
        return (1 - (view * base).mean(0)).square().sum()


def whitened(z: Tensor, epsilon: float, shrinkage: float) -> Tensor:
    """Standardized columns, [N, M], made uncorrelated by ZCA; the matrix, [M, M], is a constant in the gradient.

    The derivative of eigenvectors is infinite where eigenvalues are equal, as they are after a collapse. What holds no
    numbers stays so, and with it the loss: there are no eigenvalues then.
    """
    with torch.no_grad():
        correlation = z.T @ z / len(z)
        if not correlation.isfinite().all():
            return z * math.nan
        values, vectors = torch.linalg.eigh(correlation)
        values = (1 - shrinkage) * values.clamp(min=0) + shrinkage + epsilon
        matrix = (vectors * values.rsqrt()) @ vectors.T
    rows: Tensor = z @ matrix
    return rows
