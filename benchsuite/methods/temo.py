"""TeMo: temperature modulation for multimodal contrastive learning."""

from typing import Literal

import torch
from torch import Tensor

from benchsuite.fields import Temperature, TemperatureWidth
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.pairwise import Pairwise, combined, similarities
from benchsuite.objectives.softmax import cross_entropy_rows, info_nce
from benchsuite.registry import register_method


@register_method(
    "temo",
    title="TeMo",
    paper="temo",
    equation=r"\alpha L_{MM} + \beta (L_{M-MM} + L_{M-I2I} + L_{M-T2T}),\ "
    r"\lambda(s) = \tau_{min} + \tau_\alpha \sqrt{s}",
    needs=("image_view", "text_view"),
    acts=(
        {
            "statement": "Positives have a higher lambda than all pairs",
            "gauge": "temperature_positive",
            "per": "temperature",
            "at_least": 1.05,
            "off": ({"modulated": False, "unimodal": "none"}, {"modulated": False, "unimodal": "plain"}),
        },
    ),
    contains={"infonce": {"modulated": False, "unimodal": "none", "schedule": "none"}},
)
class TeMo(Method):
    """InfoNCE that gives way to losses whose temperature grows with the similarity of each pair.

    L = a(t) L_MM + b(t) (L_M-MM + L_M-I2I + L_M-T2T), a = (1-t)^2, b = t^2 (Eq. 8). L_MM is InfoNCE at a fixed tau;
    in the modulated losses every pair has its own temperature, the positive included: lambda(s) = tau_min +
    tau_alpha sqrt(s) (Eq. 4). L_M-MM is the mean of both directions (Eq. 7); the unimodal losses go one way, originals
    anchor and views are candidates, and are not halved (Eq. 5, Algorithm 1).

    Traps: the paper does not say how a cosine becomes the similarity in [0, 1] of Eq. 4 (`similarity_map`), nor whether
    a gradient flows through lambda (`detach_temperature`). The root's gradient is infinite at 0: see `gentle_sqrt`.
    Eq. 3 sums where Algorithm 1 takes a mean; the mean is used. Under `expert` (appendix F) lambda comes from a frozen
    encoder's similarities of the originals, for all modulated losses alike; the paper does not say how two
    experts are joined, here their similarities are averaged before the root.

    The rows of Table 3: a) modulated off, unimodal "none"; b) base off, unimodal "none"; c) modulated off, unimodal
    "plain"; all three with schedule "none"; d) unimodal "none", schedule "fixed"; e) unimodal "none"; f) schedule
    "fixed"; g) the defaults.
    """

    tau: Temperature = 0.01
    """Fixed temperature of the standard loss."""
    tau_min: Temperature = 0.01
    """Temperature of a pair with similarity 0."""
    tau_alpha: TemperatureWidth = 0.04
    """What a pair with similarity 1 has on top."""
    schedule: Literal["quadratic", "linear", "fixed", "step", "reversed", "none"] = "quadratic"
    """How a and b move: the paper's; 1-t and t; half each; a switch at half time; b first; 1 each (the plain sum)."""
    similarity_map: Literal["rescale", "clamp"] = "rescale"
    """From cosine to [0, 1]: (s+1)/2, as the one public code does, or max(s, 0)."""
    detach_temperature: bool = False
    """Stop the gradient through lambda."""
    base: bool = True
    """Have L_MM ("Base" in Table 3)."""
    modulated: bool = True
    """Have L_M-MM ("Mod.")."""
    unimodal: Literal["modulated", "plain", "none"] = "modulated"
    """The unimodal losses ("U.L."): modulated, at the fixed tau ("NM"), or left out."""
    expert: Literal["none", "image", "text", "both"] = "none"
    """Whose similarities set lambda: the towers' own, or a frozen expert's (Tables 9 and 10)."""

    def setup(self) -> None:
        if not (self.base or self.modulated or self.unimodal != "none"):
            raise self.refuse("base, modulated and unimodal are all off: nothing is left to train on.")
        if self.expert != "none" and not self.modulated and self.unimodal != "modulated":
            raise self.refuse(
                f'expert "{self.expert}" has no use: neither "modulated" nor the unimodal losses modulate.'
            )

    @property
    def needs(self) -> frozenset[str]:
        views = frozenset() if self.unimodal == "none" else super().needs
        return views | {f"{side}_expert" for side in self.experts}

    @property
    def experts(self) -> tuple[str, ...]:
        """The sides whose frozen expert sets lambda."""
        return {"none": (), "both": ("image", "text")}.get(self.expert, (self.expert,))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        s_it = similarities(batch.image, batch.text)
        expert = self.expert_similarity(batch)
        lambda_it = (s_it if expert is None else expert).map(self.modulate)
        positive = lambda_it.positives().mean().detach()
        terms: dict[str, Tensor] = {}
        if self.base:
            terms["mm"] = info_nce(s_it, self.tau)
        if self.modulated:
            terms["m_mm"] = info_nce(s_it, lambda_it)
        if self.unimodal != "none":
            terms["i2i"] = self.unimodal_loss(similarities(batch.image, batch.image_view), expert)
            terms["t2t"] = self.unimodal_loss(similarities(batch.text, batch.text_view), expert)
        a, b = blend(self.schedule, clock.progress)
        total = sum(((a if name == "mm" else b) * term for name, term in terms.items()), batch.image.new_zeros(()))
        gauges: dict[str, float | Tensor] = {"temperature": lambda_it.mean()}
        gauges |= {"temperature_positive": positive, "alpha": a, "beta": b}
        return Loss(total, terms, gauges)

    def unimodal_loss(self, similarity: Pairwise, expert: Pairwise | None) -> Tensor:
        """Originals pick their own views."""
        modulating = similarity if expert is None else expert
        tau = modulating.map(self.modulate) if self.unimodal == "modulated" else self.tau
        return cross_entropy_rows(similarity / tau)

    def expert_similarity(self, batch: PairBatch) -> Pairwise | None:
        """The experts' similarities of all originals, [B, B], their mean where there are two; None without experts."""
        embeddings = [getattr(batch, f"{side}_expert").detach().to(batch.image) for side in self.experts]
        return combined(mean, *(similarities(z, z) for z in embeddings)) if embeddings else None

    def modulate(self, similarity: Tensor) -> Tensor:
        """lambda(s), element by element (Eq. 4)."""
        s = similarity.detach() if self.detach_temperature else similarity
        closeness = (s + 1) / 2 if self.similarity_map == "rescale" else s
        return self.tau_min + self.tau_alpha * gentle_sqrt(closeness.clamp(0, 1))


def mean(*matrices: Tensor) -> Tensor:
    """The mean of several matrices, entry by entry."""
    return torch.stack(matrices).mean(dim=0)


def gentle_sqrt(x: Tensor) -> Tensor:
    """sqrt(x) on [0, 1], exact from the float's epsilon on and straight below, so that the slope at 0 is finite."""
    return x / x.clamp_min(torch.finfo(x.dtype).eps).sqrt()


def blend(schedule: str, t: float) -> tuple[float, float]:
    """(a, b): the weights of the standard loss and of the others when the progress is t."""
    match schedule:
        case "quadratic":
            return (1 - t) ** 2, t**2
        case "linear":
            return 1 - t, t
        case "step":
            return (1.0, 0.0) if t < 0.5 else (0.0, 1.0)
        case "reversed":
            return t**2, (1 - t) ** 2
        case "none":
            return 1.0, 1.0
        case _:
            return 0.5, 0.5
