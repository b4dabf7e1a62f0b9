"""Temperature schedules (Kukleva et al., 2023)."""

from benchsuite.fields import Positive, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.nt_xent import Candidates, nt_xent
from benchsuite.objectives.pairwise import similarities
from benchsuite.objectives.schedules import cosine
from benchsuite.objectives.softmax import info_nce
from benchsuite.registry import register_method


@register_method(
    "ts",
    title="TS",
    paper="kukleva2023",
    equation=r"\tau(t) = \tau_- + \frac12(\tau_+ - \tau_-)(1 + \cos 2\pi P t)",
    serves=("pair", "image", "text"),
    acts=({"statement": "The temperature swings", "gauge": "temperature", "over": "swing", "at_least": 1.1},),
    contains={"infonce": {"tau_min": "tau", "tau_max": "tau"}, "simclr": {"tau_min": "tau", "tau_max": "tau"}},
)
class TemperatureSchedule(Method):
    """InfoNCE whose one temperature swings between tau_max and tau_min over the training.

    tau(t) = tau_min + 1/2 (tau_max - tau_min)(1 + cos(2 pi P t)), starting at tau_max. Low: instances are told apart.
    High: groups form. Section 3 of the paper; TeMo's tables use five periods between 0.01 and 0.05, moved at every
    step. The original is unimodal, in [0.1, 1], with a period of 400 epochs: one tower has NT-Xent over two views.
    """

    tau_min: Temperature = 0.01
    """Lowest temperature, half a period after the start."""
    tau_max: Temperature = 0.05
    """Highest temperature, where the schedule starts."""
    periods: Positive = 5.0
    """Full swings over the training."""

    def setup(self) -> None:
        if self.tau_min > self.tau_max:
            raise self.refuse(f"tau_min {self.tau_min} is above tau_max {self.tau_max}.")

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = cosine(self.tau_max, self.tau_min, self.periods * clock.progress)
        if batch.is_pair:
            total = info_nce(similarities(batch.image, batch.text), tau)
        else:
            total = nt_xent(Candidates(*batch.views) / tau)
        return Loss(total, gauges={"temperature": tau})
