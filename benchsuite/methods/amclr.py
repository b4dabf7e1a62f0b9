"""AmCLR and xAmCLR: SogCLR over every pairing of originals and views; and with a temperature for each sample."""

from collections.abc import Iterator
from itertools import product
from typing import ClassVar, Literal

import torch
from torch import Tensor

from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.isogclr import ISogCLR
from benchsuite.methods.sogclr import GlobalMethod, memory
from benchsuite.objectives.global_estimator import Contrast, surrogate
from benchsuite.objectives.pairwise import similarities
from benchsuite.registry import register_method

IMAGES, TEXTS = ("image", "image_view"), ("text", "text_view")
ACROSS = (*product(IMAGES, TEXTS), *product(TEXTS, IMAGES))
WITHIN = (IMAGES, IMAGES[::-1], TEXTS, TEXTS[::-1])


@register_method(
    "amclr",
    title="AmCLR",
    paper="amclr",
    equation=r"\sum_{k=1}^{8} F_k,\ "
    r"F_k = \frac{\tau}{m}\sum_i \log \mathrm{mean}_{j \neq i} e^{(S_{ij} - S_{ii})/\tau}",
    needs=("index", "image_view", "text_view"),
    acts=(
        {
            "statement": "Memories differ from the batch's estimates",
            "gauge": "memory",
            "over": "mean",
            "at_least": 0.05,
        },
    ),
)
class AmCLR(GlobalMethod):
    """SogCLR's loss of the pairings of {image, its augmentation} with {caption, its paraphrase}: eight terms, summed.

    F = sum_k F_k (Eq. 15), with (x, y), (x, y~), (x~, y), (x~, y~) in both directions (Eqs. 24-31, omega = 1); each
    F_k contrasts its anchors with the candidates of the same kind, the positive left out.

    The paper keeps one u a sample and modality and "accumulates" g over the pairings (Eqs. 21, 22): one update a step
    with the mean of g over that modality's pairings (`state="accumulated"`). Released code writes the same slot for
    each pairing in turn, which reads the previous one's estimate ("sequential", in the order of the equations); a
    state for each pairing is "per-pairing".

    Traps: the paper's sums differ from these means by a constant, tau log(B-1), and Eq. 20 writes one pairing's
    gradient only. Augment before pixel values are normalised. The total is a surrogate, as for sogclr: at gamma = 1 and
    on first visits its gradient is that of Eq. 15 with "per-pairing", but not with "accumulated", unless all pairings
    of a sample are alike.
    """

    state: Literal["accumulated", "sequential", "per-pairing"] = "accumulated"
    """What a sample remembers: one u a modality, moved once a step or by each pairing; or one u for each pairing."""
    pairings: ClassVar[tuple[tuple[str, str], ...]] = ACROSS

    def setup(self) -> None:
        super().setup()
        self.remember(*(map(term_name, self.pairings) if self.state == "per-pairing" else ("image", "text")))

    @property
    def in_turn(self) -> bool:
        return self.state == "sequential"

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        terms: dict[str, Tensor] = {}
        objective, memories = torch.zeros(()), []
        for side in ("image", "text"):
            pairings = [pairing for pairing in self.pairings if pairing[0].startswith(side)]
            names = [term_name(pairing) if self.state == "per-pairing" else side for pairing in pairings]
            contrasts = [self.contrast(similarities(getattr(batch, a), getattr(batch, c))) for a, c in pairings]
            log_g, log_u, divisor = self.estimate(names, contrasts, self.tau, batch.index, clock.epoch)
            for pairing, g, d in zip(pairings, log_g, divisor, strict=True):
                terms[term_name(pairing)] = surrogate(g, d, self.tau)
            objective = objective + self.tau * log_u.mean(1).sum()
            memories.append(memory(log_g, log_u))
        gauges = {"objective": objective, "memory": torch.stack(memories).mean()}
        return Loss(torch.stack([*terms.values()]).sum(), terms, gauges)


@register_method(
    "xamclr",
    title="xAmCLR",
    paper="amclr",
    equation=r"\sum_{k=1}^{12} F_k",
    needs=("index", "image_view", "text_view"),
    acts=(
        {
            "statement": "Memories differ from the batch's estimates",
            "gauge": "memory",
            "over": "mean",
            "at_least": 0.05,
        },
    ),
)
class XAmCLR(AmCLR):
    """AmCLR with the pairings inside of each modality, (x, x~), (x~, x), (y, y~), (y~, y): twelve terms (Eqs. 50-61).

    An original is contrasted with the views of the others, and a view with their originals. Anchors of a modality share
    its u with the cross-modal pairings, so that "accumulated" takes the mean over six.
    """

    pairings: ClassVar[tuple[tuple[str, str], ...]] = ACROSS + WITHIN


def term_name(pairing: tuple[str, str]) -> str:
    """The curve's name of a pairing."""
    return "-".join(pairing)


@register_method(
    "amclr-robust",
    title="AmCLR with individual temperatures",
    defaults="isogclr",
    equation=r"\sum_i \min_{\tau_i} \sum_{k=1}^{8} \tau_i \log \mathrm{mean}_{j \neq i}"
    r" e^{(S^k_{ij} - S^k_{ii})/\tau_i} + \tau_i \rho",
    needs=("index", "image_view", "text_view"),
    acts=({"statement": "Samples have temperatures of their own", "gauge": "temperature_spread", "at_least": 0.05},),
    contains={"amclr": {"eta": 0, "rho": 0, "tau_min": "tau", "tau_max": "tau"}},
)
class AmCLRRobust(ISogCLR):
    """AmCLR's eight pairings, in which each sample and side learns a temperature by iSogCLR's robust objective.

    Our own combination; no paper has it. The terms are those of `amclr`, Eq. 15, the temperatures and their steps those
    of `isogclr`. The four pairings that a modality anchors share one u and one tau_i: u moves once a step by the mean
    of their g, as with AmCLR's state "accumulated", and tau_i by the mean of their slopes. rho counts once a pairing.

    Traps: the total is a surrogate, as for sogclr. `isogclr-robust` is something else: its positives are weighed
    robustly, and its pairs have no views.
    """

    def setup(self) -> None:
        super().setup()
        if self.u_per_view:
            raise self.refuse("u_per_view is for one tower, and it trains pairs; its pairings share a u a modality.")

    def sides(self, batch: PairBatch) -> Iterator[tuple[str, str, list[Contrast]]]:
        for side in ("image", "text"):
            anchored = [pairing for pairing in ACROSS if pairing[0].startswith(side)]
            yield side, side, [self.contrast(similarities(getattr(batch, a), getattr(batch, c))) for a, c in anchored]
