"""Closing the modality gap by the temperature (Yaras et al.): schedules, other parameterisations, no normalisation."""

import math
from abc import abstractmethod
from dataclasses import replace

import torch
from torch import Tensor, nn

from benchsuite.fields import NonNegative, Positive, Temperature
from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup, clamp_
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCE, InfoNCELearnable
from benchsuite.objectives.pairwise import similarities
from benchsuite.objectives.schedules import cosine, linear
from benchsuite.objectives.softmax import info_nce
from benchsuite.registry import register_method


@register_method("gap-flt", title="FLT", paper="modality-gap", equation=r"\tau = const", contains={"infonce": {}})
class FixedLargeTemperature(InfoNCE):
    """InfoNCE at one fixed, large temperature.

    Appendix D.1 tries 0.01 to 0.4; Table 2 has 0.04. Above 0.1 the gap is all but gone and so is retrieval (Table 3).
    """

    tau: Temperature = 0.04
    """The temperature."""


@register_method(
    "gap-ts",
    title="TS, linear",
    paper="modality-gap",
    equation=r"\tau(t) = (1-t)\,\tau_{start} + t\,\tau_{end}",
    acts=({"statement": "The temperature is raised", "gauge": "temperature", "over": "swing", "at_least": 1.1},),
    contains={"infonce": {"tau_start": "tau", "tau_end": "tau"}},
)
class LinearTemperature(Method):
    """InfoNCE whose temperature is not learned but raised in a straight line.

    tau(t) = (1-t) tau_start + t tau_end. From 0.01 to 0.02, 0.03, 0.04, 0.05: the paper's S0 to S3; Table 2 has S3.
    The paper moves tau "according to the training epochs"; here it moves at every step.
    """

    tau_start: Temperature = 0.01
    """Temperature at the start."""
    tau_end: Temperature = 0.05
    """Temperature at the end."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = linear(self.tau_start, self.tau_end, clock.progress)
        return Loss(info_nce(similarities(batch.image, batch.text), tau), gauges={"temperature": tau})


@register_method(
    "gap-ts-cosine",
    title="TS, alternating",
    paper="modality-gap",
    equation=r"\tau(t) = \tau_{end} + \frac12(\tau_{start} - \tau_{end})(1 + \cos 2\pi P t)",
    acts=({"statement": "The temperature alternates", "gauge": "temperature", "over": "swing", "at_least": 1.1},),
    contains={"infonce": {"tau_start": "tau", "tau_end": "tau"}},
)
class AlternatingTemperature(Method):
    """InfoNCE whose temperature goes back and forth between two values along a cosine.

    From 0.01 to 0.02 and back, or to 0.04: Table 4's A0 and A1 (A1 and A2 in its text). The paper says neither how
    often nor where it starts: here at tau_start, and five times over the training as the schedules of other papers.
    """

    tau_start: Temperature = 0.01
    """Temperature at the start and after each whole swing."""
    tau_end: Temperature = 0.04
    """Temperature half a swing later."""
    periods: Positive = 5.0
    """Full swings over the training."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = cosine(self.tau_start, self.tau_end, self.periods * clock.progress)
        return Loss(info_nce(similarities(batch.image, batch.text), tau), gauges={"temperature": tau})


class ReparameterizedTemperature(Method):
    """InfoNCE at 1/tau = beta(nu) with nu learned; a subclass says what beta is.

    As in the baseline, 1/tau stays within [1, max_scale] after each step and nu does not decay. Trap: nu starts where
    1/tau is the baseline's. A code that keeps the baseline's first nu, ln(1/0.07), starts at another temperature
    (0.37 with softplus, 0.26 and 0.77 with s = 2 and 10), which is `tau` here; one that also keeps its bounds on nu,
    [0, ln 100], never leaves the high temperatures. The paper says neither.
    """

    tau: Temperature = 0.07
    """Where the temperature starts."""
    max_scale: NonNegative = 100.0
    """Largest 1/tau."""

    def setup(self) -> None:
        if self.max_scale < 1:
            raise self.refuse(f"max_scale {self.max_scale} is below 1, the smallest 1/tau.")
        self.learned = nn.Parameter(torch.tensor(self.nu_at(1 / self.tau)))

    @abstractmethod
    def scale(self, nu: Tensor) -> Tensor:
        """beta(nu), which is 1/tau."""

    @abstractmethod
    def nu_at(self, scale: float) -> float:
        """The nu whose beta is `scale`."""

    @property
    def temperature(self) -> Tensor:
        return 1 / self.scale(self.learned)

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        tau = self.temperature
        return Loss(info_nce(similarities(batch.image, batch.text), tau), gauges={"temperature": tau})

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup((self.learned,), weight_decay=0.0)]

    def after_step(self) -> None:
        clamp_(self.learned, self.nu_at(1.0), self.nu_at(self.max_scale))


@register_method("gap-tr-softplus", title="TR, softplus", paper="modality-gap", equation=r"1/\tau = \log(1 + e^\nu)")
class SoftplusTemperature(ReparameterizedTemperature):
    """InfoNCE with a learned temperature that falls slowly, because 1/tau grows with nu and not with its exponential.

    1/tau = log(1 + exp(nu)) (appendix D.1, Table 2).
    """

    def scale(self, nu: Tensor) -> Tensor:
        return torch.logaddexp(nu, torch.zeros_like(nu))

    def nu_at(self, scale: float) -> float:
        return scale + math.log(-math.expm1(-scale))


@register_method("gap-tr-scale", title="TR, scaled", paper="modality-gap", equation=r"1/\tau = e^{\nu / s}")
class ScaledTemperature(ReparameterizedTemperature):
    """InfoNCE with a learned temperature that falls slowly, because nu is divided.

    1/tau = exp(nu / s), s > 1; 2 and 10 in Table 5. Appendix F writes tau = exp(nu / s) instead: a slip, D.1 has 1/tau.
    """

    s: Positive = 2.0
    """What divides nu; 1 is the baseline."""

    def scale(self, nu: Tensor) -> Tensor:
        return torch.exp(nu / self.s)

    def nu_at(self, scale: float) -> float:
        return self.s * math.log(scale)


@register_method("gap-slrt", title="SLRT", paper="modality-gap", equation=r"1/\tau = e^{\nu},\ \eta_\nu = 0.1\,\eta")
class SlowTemperature(InfoNCELearnable):
    """The baseline with a smaller learning rate for its temperature: a tenth, as in appendix D.1 and Table 2."""

    lr_factor: Positive = 0.1
    """The temperature's learning rate as a multiple of the towers'."""

    def parameter_groups(self) -> list[ParameterGroup]:
        return [replace(group, lr_factor=self.lr_factor) for group in super().parameter_groups()]


@register_method(
    "gap-no-normalization", title="Remove normalization", paper="modality-gap", equation=r"\langle x, y\rangle / \tau"
)
class NoNormalization(InfoNCE):
    """InfoNCE on inner products of the towers' raw outputs, whose lengths take the place of temperatures.

    Table 5: it widens the gap. The paper freezes tau and does not say where: 0.07, where the baseline starts.
    """

    normalizes = False

    tau: Temperature = 0.07
    """The temperature."""
