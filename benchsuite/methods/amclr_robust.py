"""AmCLR's pairings of originals and views, with iSogCLR's temperature for each sample."""

from collections.abc import Iterator

from benchsuite.methods.amclr import ACROSS
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.isogclr import ISogCLR
from benchsuite.objectives.global_estimator import Contrast
from benchsuite.objectives.pairwise import similarities
from benchsuite.registry import register_method


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
