"""SogCLR: a global contrastive objective from small batches, and what its family shares."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from benchsuite.fields import Positive, Share, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.global_estimator import Contrast, MovingAverage, ReleasedEpsilon, contrast, surrogate
from benchsuite.objectives.pairwise import Pairwise, similarities
from benchsuite.registry import register_method


class GlobalMethod(Method):
    """What the family shares: the estimator's options, and the anchors of a batch."""

    relative: ClassVar[bool] = True
    """Whether exponents are S_ij - S_ii, or S_ij alone."""

    tau: Temperature = 0.01
    """The temperature."""
    gamma: Share = 0.8
    """Weight of the newest estimate in the moving average."""
    first_visit: Literal["g", "gamma-g", "first-epoch"] = "g"
    """A sample's first u: g; gamma g, as if u began at 0; or (released code) g in all of epoch 0, gamma g later."""
    positive_in_denominator: bool = False
    """Average over all j, the positive too, as one released code base does; the papers leave it out."""
    released_mean: bool = False
    """Divide the sum that has the positive inside by B - 1, as that code does, and not by B."""
    released_epsilon: Literal["none", "isogclr", "tempnet", "amclr"] = "none"
    """Divide by u and what a release adds: 1e-10, a least sum of 1e-14, 1e-8, in units of the largest exponent yet."""

    def setup(self) -> None:
        if self.gamma == 0:
            raise self.refuse("gamma 0.0 would never let the moving average move; it must be above 0.")
        if self.num_samples is None:
            raise self.refuse("it remembers each sample, so it needs num_samples, the size of the training set.")
        if self.released_mean and not self.positive_in_denominator:
            raise self.refuse("released_mean changes nothing unless positive_in_denominator is true.")

    def remember(self, *names: str) -> None:
        """Keep a moving average over all samples under each name."""
        samples = self.num_samples or 0
        self.u = nn.ModuleDict({name: MovingAverage(samples, self.gamma, self.first_visit) for name in names})
        if self.released_epsilon != "none":
            self.epsilon = nn.ModuleDict({name: ReleasedEpsilon(samples, self.released_epsilon) for name in names})

    @property
    def in_turn(self) -> bool:
        """Whether contrasts that keep their u in one place move it one after the other, or once by their mean."""
        return False

    def contrast(self, similarity: Pairwise, within: Pairwise | None = None) -> Contrast:
        """Anchors against candidates, as the options say."""
        positive, mean = self.positive_in_denominator, self.released_mean
        return contrast(similarity, within, relative=self.relative, positive=positive, released_mean=mean)

    def sides(self, batch: PairBatch) -> Iterator[tuple[str, str, list[Contrast]]]:
        """(term, side, contrasts): both directions of a pair, or one tower's two views, which anchor in turn."""
        if batch.is_pair:
            similarity = similarities(batch.image, batch.text)
            yield "i2t", "image", [self.contrast(similarity)]
            yield "t2i", "text", [self.contrast(similarity.T)]
        else:
            turns = (batch.views, batch.views[::-1])
            yield "views", batch.side, [self.contrast(similarities(a, b), similarities(a, a)) for a, b in turns]

    def estimate(
        self, names: list[str], contrasts: list[Contrast], tau: Tensor | float, index: Tensor, epoch: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """log g, log u after this step, and the log of what gradients are divided by, each [K, B].

        `names` say where each of the K contrasts keeps its u: all in one place, or each in its own.
        """
        if len(set(names)) > 1:
            rows = [self.estimate([n], [c], tau, index, epoch) for n, c in zip(names, contrasts, strict=True)]
            log_g, log_u, divisor = (torch.cat(column) for column in zip(*rows, strict=True))
            return log_g, log_u, divisor
        log_g = torch.stack([c.log_g(tau) for c in contrasts])
        log_u = self.u[names[0]](log_g, index, epoch, self.in_turn)
        if self.released_epsilon == "none":
            return log_g, log_u, log_u
        highest = torch.stack([c.highest(tau) for c in contrasts])
        return log_g, *self.epsilon[names[0]](log_u, highest, contrasts[0].size, index, self.in_turn)


class OneOrTwoTowers(GlobalMethod):
    """Methods of the family that train one tower, too."""

    u_per_view: bool = False
    """One tower: keep a u for each of the two views, as one released code base does, and not one for both."""

    def setup(self) -> None:
        super().setup()
        self.remember("image", "text", *(("image_view", "text_view") if self.u_per_view else ()))

    def states(self, side: str, contrasts: list[Contrast]) -> list[str]:
        """Where each contrast of a side keeps its u."""
        return [side, f"{side}_view"] if len(contrasts) == 2 and self.u_per_view else [side] * len(contrasts)


@register_method(
    "sogclr",
    title="SogCLR",
    paper="yuan2022",
    equation=r"\sum_i \tau \log \mathrm{mean}_{j \neq i} e^{(S_{ij} - S_{ii})/\tau},\ "
    r"u_i \leftarrow (1-\gamma) u_i + \gamma g_i",
    needs=("index",),
    serves=("pair", "image", "text"),
    unsearched=("loss_scale",),
    acts=(
        {
            "statement": "Memories differ from the batch's estimates",
            "gauge": "memory",
            "over": "mean",
            "at_least": 0.05,
        },
    ),
)
class SogCLR(OneOrTwoTowers):
    """A contrastive loss over the whole data set, estimated from small batches by a memory for each sample.

    F = mean_i tau log mean_{j != i} exp((S_ij - S_ii) / tau), both directions summed, the mean over all data. A batch
    gives g_i; u_i <- (1 - gamma) u_i + gamma g_i is kept for each sample and side, and the gradient is (tau / u_i) dg_i
    (Yuan et al., Section 4; AmCLR Eqs. 5-8). One tower: the two views of a sample anchor in turn, 2 (B - 1) negatives,
    and share one u_i, moved by the mean of both.

    Traps: the total is a surrogate. Its value is the batch's own objective, its gradient that of the estimator. The
    gradient is that of the value only at gamma = 1 and on first visits, and for one tower not even then unless
    `u_per_view`: both views are divided by the mean of their g. The gauge "objective" is tau log u, the estimate of the
    global one. Released code prints sum w (S_ij - S_ii) instead: compare gradients, not values.
    """

    loss_scale: Positive = 1.0
    """A factor on the loss. Released versions differ by 1/tau, 2 or (B-1)/2; under Adam that changes nothing."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        objective, memories = torch.zeros(()), []
        for term, side, contrasts in self.sides(batch):
            names = self.states(side, contrasts)
            log_g, log_u, divisor = self.estimate(names, contrasts, self.tau, batch.index, clock.epoch)
            terms[term] = self.loss_scale * surrogate(log_g, divisor, self.tau)
            objective = objective + self.tau * log_u.mean(1).sum()
            memories.append(memory(log_g, log_u))
        gauges = {"objective": objective, "memory": torch.stack(memories).mean()}
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)


@torch.no_grad()
def memory(log_g: Tensor, log_u: Tensor) -> Tensor:
    """By how much remembered estimates differ from the batch's, as logarithms; 0 where nothing is remembered."""
    return (log_u - log_g).abs().mean()


def spread(tau: Tensor) -> Tensor:
    """The standard deviation of the temperatures of a batch, as a share of their mean."""
    return tau.std(correction=0) / tau.mean()
