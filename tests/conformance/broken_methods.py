"""Methods that each break one rule, for the kit to find; loaded as a plugin, never by the suite."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite import Clock, Head, Loss, Method, PairBatch, ParameterGroup, Queue, register_method
from benchsuite.errors import UsageError
from benchsuite.fields import NonNegative, Real, Temperature
from benchsuite.methods.infonce import InfoNCE
from benchsuite.objectives.softmax import info_nce


class Contrast(Method):
    """InfoNCE, with a place to break it."""

    tau: Temperature = 0.1

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(batch.image, batch.text))

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return info_nce(image @ text.T, self.tau)


@register_method("whole")
class Whole(Contrast):
    """Breaks nothing."""


@register_method("decays")
class Decays(Contrast):
    """Breaks nothing, but one of its single numbers decays."""

    def setup(self) -> None:
        self.scale = torch.nn.Parameter(torch.tensor(1.0))
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.free = torch.nn.Parameter(torch.tensor(0.0))

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(self.scale * self.weight.sum() * image, text) + self.free

    def parameter_groups(self) -> list[ParameterGroup]:
        return [ParameterGroup((self.scale, self.weight), weight_decay=0.02), ParameterGroup((self.free,))]


@register_method("centred")
class Centred(Contrast):
    """Breaks nothing: the gradient of a bias in front of it is 0, up to rounding, which differs between processes."""

    normalizes: ClassVar = False

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        image, text = (normalize(side - side.mean(0), dim=-1) for side in (image, text))
        return super().contrast(image, text)


@register_method("overflows")
class Overflows(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        similarity = image @ text.T / self.tau
        return (similarity.exp().sum(1).log() - similarity.diagonal()).mean()


@register_method("infinite-slope")
class InfiniteSlope(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return (2 - 2 * (image * text).sum(1)).clamp_min(0).sqrt().mean()


@register_method("bad-gauge")
class BadGauge(Contrast):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(super().loss(batch, clock).total, gauges={"share": 0.0 if clock.step < 3 else float("nan")})


@register_method("shows-nothing", acts=({"statement": "It acts", "gauge": "tau", "at_least": 1},))
class ShowsNothing(Contrast):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(super().loss(batch, clock).total, gauges={"temperature": 1.0})


@register_method("nearly-infonce", contains={"infonce": {"weight": 1}})
class NearlyInfoNCE(InfoNCE):
    weight: Real = 1.0

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(super().loss(batch, clock).total * (1 + 1e-6 * (clock.step == 3)))


@register_method("pulls-more", contains={"infonce": {}})
class PullsMore(InfoNCE):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        pull = batch.text[:, 0].sum() * 1e-3
        return Loss(super().loss(batch, clock).total + pull - pull.detach())


@register_method("raw-error")
class RawError(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image, text) + torch.linalg.eigvalsh(image.T @ image).sum()


@register_method("hides-nan")
class HidesNaN(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image, text).nan_to_num()


@register_method("only-in-miniature")
class OnlyInMiniature(Contrast):
    """Its default divides by the spread of the batch, and the kit was to see another value."""

    miniature: ClassVar[Mapping[str, Any]] = {"floor": 1.0}
    floor: NonNegative = 0.0

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image, text) / (image.var(0).sum() + self.floor)


@register_method("extra-column")
class ExtraColumn(Contrast):
    """Breaks nothing; its dense matrix is no square."""

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        logits = torch.cat([image @ text.T, image @ text.mean(0, keepdim=True).T], dim=1) / self.tau
        return (logits.logsumexp(1) - logits.diagonal()).mean()


@register_method("rows")
class Rows(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return (image * text).sum(1)


@register_method("detached")
class Detached(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image.detach(), text.detach())


@register_method("single-only")
class SingleOnly(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image.float(), text.float())


@register_method("coarse")
class Coarse(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        rough = image.bfloat16().float() if image.dtype == torch.float32 else image
        return 1 + 30 * super().contrast(rough, text)


@register_method("coarse-gradient")
class CoarseGradient(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        loss = super().contrast(image, text)
        return loss.detach() + (loss - loss.detach()) * (1.05 if loss.dtype == torch.float32 else 1)


@register_method("by-position")
class ByPosition(Contrast):
    def setup(self) -> None:
        self.register_buffer("mean", torch.zeros(self.num_samples or 0))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        if self.training:
            self.mean[: batch.size] += (batch.image * batch.text).sum(1).detach()
        return super().loss(batch, clock)


@register_method("weighs-positions")
class WeighsPositions(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        return super().contrast(image * torch.arange(1, len(image) + 1)[:, None], text)


@register_method("local-rows")
class LocalRows(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        mine = len(image) // (dist.get_world_size() if dist.is_initialized() else 1)
        return super().contrast(image[:mine], text[:mine])


@register_method("counts-processes")
class CountsProcesses(Contrast):
    """The loss is right, its gradient is not."""

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        loss = super().contrast(image, text)
        return loss.detach() + (loss - loss.detach()) * (dist.get_world_size() if dist.is_initialized() else 1)


@register_method("fails-on-one")
class FailsOnOne(Contrast):
    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        if dist.is_initialized() and dist.get_rank() == 1:
            raise ZeroDivisionError("only here")
        return super().contrast(image, text)


@register_method("listed-state")
class ListedState(Contrast):
    def setup(self) -> None:
        self.history = [1.0]

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        loss = super().contrast(image, text)
        if self.training:
            self.history.append(loss.item())
        return loss * self.history[-2]


@register_method("unsaved-buffer")
class UnsavedBuffer(Contrast):
    def setup(self) -> None:
        self.register_buffer("visits", torch.ones(()), persistent=False)

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        if self.training:
            self.visits += 1
        return super().contrast(image, text) * self.visits


@register_method("restless")
class Restless(Contrast):
    def setup(self) -> None:
        self.register_buffer("visits", torch.ones(()))

    def contrast(self, image: Tensor, text: Tensor) -> Tensor:
        self.visits += 1
        return super().contrast(image, text) * self.visits


@register_method("reads-undeclared")
class ReadsUndeclared(Contrast):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(batch.image, batch.text_view))


@register_method("two-towers", serves=("pair", "image", "text"))
class TwoTowers(Contrast):
    """Breaks nothing: it asks which towers there are, and remembers samples by the logarithm of nothing."""

    def setup(self) -> None:
        self.register_buffer("log_u", torch.full((self.num_samples or 0,), -torch.inf))

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(*((batch.image, batch.text) if batch.is_pair else batch.views)))


@register_method("one-tower-only", serves=("text",))
class OneTowerOnly(Contrast):
    """Breaks the rule in the one mode it has."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(batch.text, batch.text_view) + 0 * batch.cluster.sum())


@register_method("reads-late", needs=("index",))
class ReadsLate(Contrast):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(batch.image, batch.text) + (0 * batch.index.sum() if clock.progress == 1 else 0))


@register_method("never-reads", needs=("image_view",))
class NeverReads(Contrast):
    """Doubles the cost for nothing."""


@register_method("reads-if-there")
class ReadsIfThere(Contrast):
    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(self.contrast(batch.image, batch.text_view if batch.has("text_view") else batch.text))


@register_method("strange-need", needs=("depth",))
class StrangeNeed(Contrast):
    """Wants what no batch has."""


@register_method("unused-head")
class UnusedHead(Contrast):
    def heads(self) -> Mapping[str, Head]:
        return {"spare": Head(hidden=4)}


class Taught(Contrast):
    """InfoNCE with a teacher's captions, through a head with a copy, and a queue."""

    def setup(self) -> None:
        self.queue = Queue(12, self.width)

    def heads(self) -> Mapping[str, Head]:
        return {"projector": Head(hidden=4, averaged=True)}

    def teacher_momentum(self, clock: Clock) -> float:
        return 0.9

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        keys = self.teacher_head["projector"](batch.text_teacher)
        past = self.queue.values(keys)
        self.queue.push(keys)
        return Loss(self.contrast(self.head["projector"](batch.image), keys) + (batch.image @ past.T).square().sum())


@register_method("taught", needs=("text_teacher",))
class WholeTaught(Taught):
    """Breaks nothing."""


@register_method("taught-undeclared")
class TaughtUndeclared(Taught):
    """Names no teacher in needs."""


@register_method("leaves-the-average", needs=("text_teacher",))
class LeavesTheAverage(Taught):
    def teacher_momentum(self, clock: Clock) -> float:
        return 1 + clock.progress


@register_method("loose-float")
class LooseFloat(Contrast):
    weight: float = 1.0


@register_method("swallows")
class Swallows(Contrast):
    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        known = {name: value for name, value in hyperparameters.items() if name == "tau"}
        super().__init__(num_samples, width, **known)


@register_method("refuses-vaguely")
class RefusesVaguely(Contrast):
    weight: float = 1.0

    def setup(self) -> None:
        if not self.weight < 1e9:
            raise UsageError("not possible")


@register_method("crashes")
class Crashes(Contrast):
    weight: Real = 1.0

    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        if not hyperparameters.get("weight", 1.0) < 1e9:
            raise OverflowError("weight")
        super().__init__(num_samples, width, **hyperparameters)


@register_method("unmakeable")
class Unmakeable(Contrast):
    sizes: Real


@register_method("excused")
class Excused(WeighsPositions):
    excuses: ClassVar[Mapping[str, str]] = {"permutation": "counts places"}


@register_method("bad-excuse")
class BadExcuse(Contrast):
    excuses: ClassVar[Mapping[str, str]] = {"permutations": "counts places"}
