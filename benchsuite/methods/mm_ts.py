"""MM-TS: temperature and margin schedules with a shift for each cluster, and the max-margin loss they move."""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge
from torch import Tensor

from benchsuite.fields import NonNegative, Positive, Temperature, TemperatureWidth
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Block
from benchsuite.objectives.pairwise import Pairwise, pairwise, similarities, total
from benchsuite.objectives.schedules import cosine
from benchsuite.objectives.softmax import cross_entropy_rows
from benchsuite.registry import register_method


class ClusterSchedule(Method):
    """A value for each pair, tau_i = alpha/2 cos(2 pi P t) + sh(c_i): a swing for all, a level for each cluster."""

    may_be_zero: ClassVar[bool] = False
    """Whether the lowest value may be 0: a margin may, what divides may not."""

    alpha: NonNegative = 0.2
    """Height of the swing, from its lowest to its highest point; 0 leaves the shifts alone."""
    shift_min: NonNegative = 0.17
    """Shift of the smallest cluster."""
    shift_max: NonNegative = 0.3
    """Shift of the largest cluster."""
    periods: Positive = 5.0
    """Full swings over the training."""
    cluster_sizes: tuple[Annotated[int, Ge(0)], ...] = ()
    """Training pairs in each cluster, by cluster id; 0 for an id that no pair has. Empty: all clusters are alike."""

    def setup(self) -> None:
        if self.shift_min > self.shift_max:
            raise self.refuse(f"shift_min {self.shift_min} is above shift_max {self.shift_max}.")
        lowest = self.shift_min - self.alpha / 2
        if lowest < 0 or (lowest == 0 and not self.may_be_zero):
            raise self.refuse(
                f"shift_min {self.shift_min} - alpha {self.alpha} / 2 = {lowest:g}: the smallest cluster's value must "
                f"stay {'at or above 0' if self.may_be_zero else 'above 0'} over the whole swing."
            )
        if self.cluster_sizes and not any(self.cluster_sizes):
            raise self.refuse("cluster_sizes are all 0: no cluster has a pair.")
        self.sizes: Tensor
        self.register_buffer("sizes", torch.tensor(self.cluster_sizes, dtype=torch.int64), persistent=False)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset() if self.shift_min == self.shift_max else frozenset({"cluster"})

    def levels(self, batch: PairBatch) -> Tensor:
        """sh(c_i) of each pair (Eq. 6), [B]; the midpoint where all sizes are equal."""
        if not self.needs:
            return torch.full((batch.size,), self.shift_min, dtype=torch.float64, device=batch.image.device)
        share = torch.full_like(batch.cluster, 0.5, dtype=torch.float64)
        if self.cluster_sizes:
            sizes = self.sizes_of(batch.cluster).double()
            low, high = min(filter(None, self.cluster_sizes)), max(self.cluster_sizes)
            share = (sizes - low) / (high - low) if high > low else share
        return self.shift_min + share * (self.shift_max - self.shift_min)

    def sizes_of(self, cluster: Tensor) -> Tensor:
        """K_c of each pair, [B]; a cluster without a size is refused."""
        known = len(self.cluster_sizes)
        ids = cluster.clamp(0, known - 1)
        sizes = self.sizes[ids]
        unseen = (ids != cluster) | (sizes == 0)
        if bool(unseen.any()):
            raise ValueError(
                f"{self.card.name}: cluster {cluster[unseen].min().item()} has no size; cluster_sizes has {known}, "
                f"for ids 0 to {known - 1}, and size 0 means that no training pair has this id."
            )
        return sizes

    def values(self, batch: PairBatch, clock: Clock) -> Tensor:
        """tau_i, or m_i, of each pair now (Eq. 8), [B]."""
        base = cosine(self.alpha / 2, -self.alpha / 2, self.periods * clock.progress)
        return (base + self.levels(batch)).to(batch.image)


@register_method(
    "mm-ts",
    title="MM-TS",
    paper="mm-ts",
    equation=r"\tau_i = \frac\alpha2 \cos(2\pi P t) + sh(c_i)",
    needs=("cluster",),
    centre="shift_min",
    acts=(
        {
            "statement": "The temperature swings",
            "gauge": "temperature",
            "over": "swing",
            "at_least": 1.1,
            "off": ({"alpha": 0},),
        },
        {
            "statement": "Clusters of other sizes differ",
            "gauge": "temperature_max",
            "per": "temperature_min",
            "at_least": 1.1,
            "off": ({"shift_min": "shift_max"},),
        },
    ),
    contains={"infonce": {"alpha": 0, "shift_min": "tau", "shift_max": "tau"}},
)
class MMTS(ClusterSchedule):
    """InfoNCE whose temperature swings over the training and is higher for pairs of large clusters.

    tau_i = alpha/2 cos(2 pi P t) + sh(c_i), sh(c) = shift_min + (K_c - min K)/(max K - min K)(shift_max - shift_min)
    for a cluster of K_c pairs (Eqs. 6 to 8), clusters by K-means on caption embeddings or given classes. The same
    tau_i divides row i in both directions: the anchor image's and the anchor text's. Defaults: the paper's for CC3M;
    AVION alpha 0.08, 0.05 to 0.20; VAST 0.06, 0.06 to 0.09 (section 7). alpha = 0 is the shifts alone (ICS), equal
    shifts the schedule alone (TS).

    Traps: equal sizes divide 0 by 0 in Eq. 6; the shift is then the midpoint. That is also what an empty
    `cluster_sizes` gives, TS around the midpoint: not the paper's method, which needs the sizes.
    """

    alpha: TemperatureWidth = 0.04
    """Height of the swing, from its lowest to its highest point; 0 leaves the shifts alone."""
    shift_min: Temperature = 0.05
    """Shift of the smallest cluster."""
    shift_max: Temperature = 0.1
    """Shift of the largest cluster."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        s, tau = similarities(batch.image, batch.text), self.values(batch, clock)
        terms = {"i2t": cross_entropy_rows(s / tau[:, None]), "t2i": cross_entropy_rows(s.T / tau[:, None])}
        gauges = {"temperature": tau.mean(), "temperature_min": tau.min(), "temperature_max": tau.max()}
        return Loss(0.5 * (terms["i2t"] + terms["t2i"]), terms, gauges)


@register_method(
    "mm-ts-margin",
    title="MM-TS, max-margin",
    paper="mm-ts",
    equation=r"m_i = \frac\alpha2 \cos(2\pi P t) + sh(c_i)",
    needs=("cluster",),
    acts=(
        {"statement": "The margin swings", "gauge": "margin", "over": "swing", "at_least": 1.1, "off": ({"alpha": 0},)},
        {
            "statement": "Clusters of other sizes differ",
            "gauge": "margin_max",
            "per": "margin_min",
            "at_least": 1.1,
            "off": ({"shift_min": "shift_max"},),
        },
    ),
    contains={"max-margin": {"alpha": 0, "shift_min": "margin", "shift_max": "margin"}},
)
class MMTSMargin(ClusterSchedule):
    """The max-margin loss whose margin swings over the training and is wider for pairs of large clusters.

    The mean over i != j of relu(m_i - S_ii + S_ij) + relu(m_i - S_ii + S_ji), with m_i as tau_i of `mm-ts` (section
    3.2). Defaults: the paper's for AVION; VAST has 0.10 to 0.30 (section 7), so that the smallest cluster's margin
    touches 0. A margin is no temperature: a recipe's factor leaves it alone. Traps: see `mm-ts`.
    """

    may_be_zero: ClassVar = True

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        margin = self.values(batch, clock)
        total = max_margin(similarities(batch.image, batch.text), margin)
        return Loss(total, gauges={"margin": margin.mean(), "margin_min": margin.min(), "margin_max": margin.max()})


@register_method(
    "max-margin",
    title="Max-margin (MI-MM)",
    paper="mm-ts",
    equation=r"mean_{i \ne j}\ [m - S_{ii} + S_{ij}]_+ + [m - S_{ii} + S_{ji}]_+",
)
class MaxMargin(Method):
    """Every negative must stay a margin below the positive, in both directions.

    The mean over i != j of relu(m - S_ii + S_ij) + relu(m - S_ii + S_ji), over 2B(B-1) terms: MI-MM, the baseline of
    MM-TS on EPIC-KITCHENS-100 (its Eq. 3).
    """

    margin: NonNegative = 0.2
    """The margin m."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(max_margin(similarities(batch.image, batch.text), self.margin), gauges={"margin": self.margin})


def max_margin(similarity: Pairwise | Tensor, margin: Tensor | float) -> Tensor:
    """Mean over i != j of relu(m_i - S_ii + S_ij) + relu(m_i - S_ii + S_ji), counted as 2B(B-1) terms.

    `margin` is one number, or [B] with a margin for each pair; it belongs to the pair whose positive is compared,
    as an anchor image (its row) and as an anchor text (its column). One pair alone costs nothing.
    """
    s = pairwise(similarity)
    size = len(s)
    gap = margin - s.positives()

    def each(block: Block) -> Tensor:
        entries = s.at(block)
        others = ~block.own(size, entries.device)
        if block.everything:
            return (torch.relu(gap[:, None] + entries) + torch.relu(gap[:, None] + entries.T)) * others
        return (torch.relu(block.of(gap)[:, None] + entries) + torch.relu(gap + entries)) * others

    return total(each, s) / max(2 * size * (size - 1), 1)
