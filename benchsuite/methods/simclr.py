"""SimCLR and its descendants on two views: DCL, DCLW and MACL."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from benchsuite.fields import Positive, Real, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.nt_xent import Candidates, nt_xent
from benchsuite.objectives.pairwise import by_rows
from benchsuite.registry import register_method


@register_method(
    "simclr",
    title="SimCLR",
    paper="chen2020",
    equation=r"-\frac{1}{2B}\sum_i \log\frac{e^{s_{i+}/\tau}}{e^{s_{i+}/\tau} + \sum_{2(B-1)} e^{s_{ij}/\tau}}",
    needs=("image_view",),
    serves=("image", "text"),
)
class SimCLR(Method):
    """NT-Xent: of all other views in the batch, each view must pick its own sample's.

    Equation 1 of the paper, mean over the 2B anchors, 2(B-1) negatives each. The projector belongs to the towers. Given
    a full pair it trains on the image and its view. tau 0.1 is the paper's best with L2-normalised embeddings on
    ImageNet (its Table 5); on CIFAR-10 it takes 0.5.
    """

    tau: Temperature = 0.1
    """The temperature."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(nt_xent(Candidates(*batch.views) / self.tau), gauges={"temperature": self.tau})


@register_method(
    "dcl",
    title="DCL",
    paper="yeh2022",
    equation=r"-s_{i+}/\tau + \log \sum_{2(B-1)} e^{s_{ij}/\tau}",
    needs=("image_view",),
    serves=("image", "text"),
)
class DCL(Method):
    """Decoupled contrastive loss: NT-Xent with the positive taken out of the denominator.

    -s_i+/tau + log of the sum of exp(s_ij/tau) over the 2(B-1) negatives; 0 is no lower bound. The paper sums over
    anchors; this is their mean, as in NT-Xent. A batch needs two samples, or there are no negatives.
    """

    tau: Temperature = 0.1
    """The temperature."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        if batch.size < 2:
            raise ValueError(f"{self.card.name}: one sample alone has no negatives.")
        s = Candidates(*batch.views)
        positive = s.positives()
        negatives = by_rows(lambda block: torch.logsumexp(s.at(block)[:, 1:] / self.tau, 1), s)
        total = (negatives - self.positive_weights(positive) * positive / self.tau).mean()
        return Loss(total, gauges={"temperature": self.tau})

    def positive_weights(self, positive: Tensor) -> Tensor | float:
        """What each positive counts, given the cosines of all 2B."""
        return 1.0


@register_method(
    "dclw",
    title="DCLW",
    paper="yeh2022",
    equation=r"-w_i s_{i+}/\tau + \log \sum_{2(B-1)} e^{s_{ij}/\tau},"
    r"\ w_i = 2 - \frac{e^{s_{i+}/\sigma}}{mean_k e^{s_{k+}/\sigma}}",
    needs=("image_view",),
    serves=("image", "text"),
)
class DCLW(DCL):
    """DCL that weighs positives: the further apart the two views, the more they count.

    w_i = 2 - exp(s_i+/sigma) / mean_k exp(s_k+/sigma), a negative von Mises-Fisher weight with mean 1. A gradient flows
    through it: no stop-gradient is written. `detach_weight` stops it, as lightly's version does.
    """

    sigma: Positive = 0.5
    """Concentration of the weight; large values bring all weights to 1."""
    detach_weight: bool = False
    """Stop the gradient through the weight."""

    def positive_weights(self, positive: Tensor) -> Tensor:
        s = positive.detach() if self.detach_weight else positive
        return 2 - len(s) * torch.softmax(s / self.sigma, dim=0)


@register_method(
    "macl",
    title="MACL",
    paper="huang2023",
    equation=r"\tau = \tau_0 (1 + \alpha (A - A_0)),\ A = mean_i s_{i+}; -\frac{1}{1 - P_{i+}} \log P_{i+}",
    needs=("image_view",),
    serves=("image", "text"),
    acts=(
        {
            "statement": "The temperature follows the alignment",
            "gauge": "temperature",
            "over": "swing",
            "at_least": 1.1,
        },
    ),
)
class MACL(Method):
    """NT-Xent whose temperature rises with the alignment, and whose anchors are weighed against vanishing gradients.

    tau = tau_0 (1 + alpha (A - A_0)), A the batch's mean positive similarity, without gradient. Each anchor's -log P is
    multiplied by 1 / (1 - P), without gradient too (`reweight`).

    Traps: 1 / (1 - P) overflows where the positive has won. With the log-odds x = log((1 - P) / P) the weighed loss is
    (1 + exp(-x)) log(1 + exp(x)), which tends to 1, and its gradient is that of x; both are computed so. Where
    alpha (1 + a_0) is 1 or more, tau could fall to 0 for a bad alignment: `tau_min` is its floor. The authors' released
    file has this rule with alpha 1 and a_0 0, and another, tau_0 alpha^A; DySTreSS's code trains sentences with tau
    0.05, alpha 2, a_0 0.8.
    """

    tau: Temperature = 0.1
    """tau_0: the temperature at the alignment a_0."""
    alpha: Positive = 0.5
    """How far the temperature follows the alignment."""
    a_0: Real = 0.0
    """Alignment at which the temperature is tau_0."""
    tau_min: Temperature = 0.005
    """Floor of the temperature."""
    reweight: bool = True
    """Multiply each anchor's loss by 1 / (1 - P)."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        if batch.size < 2:
            raise ValueError(f"{self.card.name}: one sample alone has no negatives.")
        s = Candidates(*batch.views)
        positive = s.positives()
        alignment = positive.detach().mean()
        tau = (self.tau * (1 + self.alpha * (alignment - self.a_0))).clamp_min(self.tau_min)
        log_odds = by_rows(lambda block: torch.logsumexp(s.at(block)[:, 1:] / tau, dim=1), s) - positive / tau
        each = odds_weighed(log_odds) if self.reweight else -logsigmoid(-log_odds)
        return Loss(each.mean(), gauges={"temperature": tau, "alignment": alignment})


def odds_weighed(x: Tensor) -> Tensor:
    """(1 + exp(-x)) log(1 + exp(x)) with the slope the left factor has as a constant, which is 1."""
    e = torch.exp(-x.detach().abs()).clamp_min(torch.finfo(x.dtype).tiny)
    value = torch.where(x > 0, (x.detach() + torch.log1p(e)) * (1 + e), torch.log1p(e) * (1 + e) / e)
    return x + (value - x.detach())
