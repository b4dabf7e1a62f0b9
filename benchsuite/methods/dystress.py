"""DySTreSS: a temperature for each pair that follows its cosine (Manna et al.)."""

import math
from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor

from benchsuite.fields import Positive, Real, Temperature
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.nt_xent import Candidates, nt_xent
from benchsuite.objectives.pairwise import similarities
from benchsuite.objectives.softmax import info_nce
from benchsuite.registry import register_method


class SimilarityTemperature(Method):
    """A contrastive loss in which every pair is divided by a temperature that depends on its own cosine."""

    tau_min: Temperature = 0.07
    """Lowest temperature."""
    tau_max: Temperature = 0.2
    """Highest temperature."""
    detach_temperature: bool = True
    """Stop the gradient through the temperature, as Algorithm 3 does; some released files let it flow."""

    def setup(self) -> None:
        if self.tau_min > self.tau_max:
            raise self.refuse(f"tau_min {self.tau_min} is above tau_max {self.tau_max}.")

    @abstractmethod
    def profile_of(self, similarity: Tensor) -> Tensor:
        """The temperature of each pair."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        s = similarities(batch.image, batch.text) if batch.is_pair else Candidates(*batch.views)
        tau = (s.detach() if self.detach_temperature else s).map(self.profile_of)
        total = info_nce(s, tau) if batch.is_pair else nt_xent(s / tau)
        gauges = {"temperature": tau.mean(), "temperature_positive": tau.positives().mean().detach()}
        return Loss(total, gauges=gauges)


@register_method(
    "dystress",
    title="DySTreSS",
    paper="dystress",
    equation=r"\tau(s) = \tau_{min} + \frac12(\tau_{max} - \tau_{min})(1 + \cos(\pi(1 + s)))",
    serves=("pair", "image", "text"),
    acts=(
        {
            "statement": "Like pairs are warmer than all pairs",
            "gauge": "temperature_positive",
            "per": "temperature",
            "at_least": 1.05,
        },
    ),
    contains={"infonce": {"tau_min": "tau", "tau_max": "tau"}, "simclr": {"tau_min": "tau", "tau_max": "tau"}},
)
class DySTreSS(SimilarityTemperature):
    """NT-Xent, or InfoNCE, in which like and opposite pairs are warm and orthogonal ones cold.

    tau(s) = tau_min + 1/2 (tau_max - tau_min)(1 + cos(pi (1 + s))) (Algorithm 1), element by element, the positive
    included. One tower: NT-Xent over two views with 2(B-1) negatives (Algorithm 3). Pairs: InfoNCE with tau(S_ij) in
    both directions, the adaptation of TeMo's tables (DySTreSS*).

    The defaults are the paper's for CIFAR (section 6.3); it takes 0.1 to 0.2 for ImageNet and 0.03 to 0.05 for
    sentences. TeMo's tables give no range for theirs; 0.01 to 0.05 is that of the other methods there.

    Trap: of the profiles of Tables 13 and 14 only the cosine has an equation. The others are read from the text:
    "linear" and "exponential" are at tau_min at s = 0 and at tau_max at both ends (tau_min + (tau_max - tau_min)|s| and
    tau_min (tau_max / tau_min)^|s|); "monotone" is half a cosine wave from tau_min at s = -1 to tau_max at s = 1.
    """

    profile: Literal["cosine", "linear", "exponential", "monotone"] = "cosine"
    """The temperature as a function of the cosine: Algorithm 1, Table 13 or Table 14."""

    def profile_of(self, similarity: Tensor) -> Tensor:
        return PROFILES[self.profile](similarity, self.tau_min, self.tau_max)


@register_method(
    "dystress-shifted",
    title="DySTreSS, shifted",
    paper="dystress",
    equation=r"\tau(s) = \tau_{min} + \frac12(\tau_{max} - \tau_{min})(1 + \cos\frac{\pi}{k}(\Delta s + s)),"
    r"\ \tau_{max}\ \text{beyond}\ -\Delta s",
    serves=("pair", "image", "text"),
    acts=(
        {
            "statement": "Like pairs have another temperature than all pairs",
            "gauge": "temperature_positive",
            "per": "temperature",
            "apart": 0.05,
        },
    ),
    contains={"infonce": {"tau_min": "tau", "tau_max": "tau"}, "simclr": {"tau_min": "tau", "tau_max": "tau"}},
)
class DySTreSSShifted(SimilarityTemperature):
    """DySTreSS whose coldest similarity is moved away from 0, with a constant tau_max beyond the wave.

    tau(s) = tau_min + 1/2 (tau_max - tau_min)(1 + cos(pi (shift + s) / scale)) where s <= -shift (shift negative) or
    s >= -shift (shift positive), tau_max elsewhere (Algorithm 2, section 6.5.2, Table 7). The defaults are its best
    configuration, DySTreSS* of Table 1, with the minimum at s = -0.3.

    Trap: `shift` is not where the minimum lies but minus the place where the wave begins, at tau_max; the minimum is
    `scale` away from there. scale = (1 + |shift|) / 2 puts the far end at tau_max too, as all of Table 7's do; with
    Table 7's first row, shift 0 and scale 0.5, tau is highest at s = 0, and Algorithm 2 and the text disagree
    (`one_sided`).
    """

    tau_min: Temperature = 0.1
    """Lowest temperature."""
    shift: Real = -0.4
    """Delta s: minus the similarity at which the wave begins."""
    scale: Positive = 0.7
    """k: the distance from there to the minimum."""
    one_sided: bool = False
    """At shift 0: tau_max for s > 0, as section 6.5.2 and released code have it; Algorithm 2 has the wave there too."""

    def setup(self) -> None:
        super().setup()
        if self.one_sided and self.shift:
            raise self.refuse(f"one_sided is for shift 0; with shift {self.shift} the wave has one side anyway.")

    def profile_of(self, similarity: Tensor) -> Tensor:
        return shifted_profile(similarity, self.tau_min, self.tau_max, self.shift, self.scale, self.one_sided)


def cosine_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + 1/2 (high - low)(1 + cos(pi (1 + s))): low at s = 0, high at s = -1 and 1."""
    return low + 0.5 * (high - low) * (1 + torch.cos(math.pi * (1 + s)))


def linear_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + (high - low) |s|."""
    return low + (high - low) * s.abs()


def exponential_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low (high / low)^|s|: the temperature grows by the same ratio with each step away from 0."""
    return low * torch.exp(math.log(high / low) * s.abs())


def monotone_profile(s: Tensor, low: float, high: float) -> Tensor:
    """low + 1/2 (high - low)(1 - cos(pi (1 + s) / 2)): half a cosine wave from low at s = -1 to high at s = 1."""
    return low + 0.5 * (high - low) * (1 - torch.cos(0.5 * math.pi * (1 + s)))


def shifted_profile(s: Tensor, low: float, high: float, shift: float, scale: float, one_sided: bool = False) -> Tensor:
    """low + 1/2 (high - low)(1 + cos(pi (shift + s) / scale)) on the side of -shift where 0 lies, high beyond it.

    The wave is at high where it begins, s = -shift, and at low `scale` away from there. With shift = 0 it covers both
    sides, or the left one alone if `one_sided`.
    """
    wave = low + 0.5 * (high - low) * (1 + torch.cos(math.pi / scale * (shift + s)))
    left, right = shift <= 0, shift > 0 or (shift == 0 and not one_sided)
    inside = (s <= -shift) & left | (s >= -shift) & right
    return torch.where(inside, wave, high)


PROFILES = {
    "cosine": cosine_profile,
    "linear": linear_profile,
    "exponential": exponential_profile,
    "monotone": monotone_profile,
}
