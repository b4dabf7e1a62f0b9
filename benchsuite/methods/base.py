"""The contract of a method: typed hyper-parameters, one `loss(batch, clock)`, and what it needs.

A method never sees ranks, devices, optimisers or files. It is given the towers' outputs for the whole global batch
and returns the scalar to differentiate. What it must remember between steps it keeps in buffers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.lazy import LazyModuleMixin

from benchsuite.cards import Card
from benchsuite.errors import UsageError
from benchsuite.fields import Options
from benchsuite.methods.batch import TEACHER_PARTS, PairBatch
from benchsuite.methods.heads import Head, HeadModule, head_seed


@dataclass(frozen=True)
class Clock:
    """Where the training stands."""

    step: int
    total_steps: int
    epoch: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.step <= self.total_steps or self.total_steps < 1:
            raise ValueError(f"step {self.step} of {self.total_steps} is not a moment of a training.")

    @property
    def progress(self) -> float:
        """step / total_steps, in [0, 1]."""
        return self.step / self.total_steps


@dataclass(frozen=True)
class Loss:
    """The scalar to differentiate, the terms it was made of, and gauges worth a curve (temperatures, say)."""

    total: Tensor
    terms: Mapping[str, Tensor] = field(default_factory=dict)
    gauges: Mapping[str, float | Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters of the method that want their own treatment by the optimiser."""

    parameters: tuple[nn.Parameter, ...]
    weight_decay: float | None = None
    """None: the recipe's, and none for a single number such as a temperature or a bias."""
    lr_factor: float = 1.0


class Method(Options, nn.Module, ABC):
    """A contrastive-learning method. Subclass it, annotate hyper-parameters, write `loss`, register it.

    It may have heads, and a teacher: an averaged copy of the towers, which training keeps. `self.head[name]` is the
    head that `heads` declares under the name, `self.teacher_head[name]` its averaged copy.
    """

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]
    evaluates: ClassVar[Literal["student", "teacher"]] = "student"
    """Which encoder is evaluated: the trained one, or its averaged copy."""
    normalizes: ClassVar[bool] = True
    """Whether `loss` is given L2-normalised embeddings."""
    excuses: ClassVar[Mapping[str, str]] = {}
    """Conformance checks the method cannot pass by its nature, each with the reason."""
    miniature: ClassVar[Mapping[str, Any]] = {}
    """Sizes of heads and the like with which the conformance kit and the regression gate make it small."""

    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        nn.Module.__init__(self)
        if "card" not in dir(type(self)):
            raise UsageError(f'{type(self).__name__} is not registered: decorate it with @register_method("name").')
        self.num_samples = num_samples
        self.width = width
        self.resolve(hyperparameters)
        self.setup()
        if taken := {"head", "teacher_head"} & self._modules.keys():
            raise self.refuse(f'"{taken.pop()}" holds the heads that heads() declares; give the layer another name.')
        if heads := self.heads():
            self.head = nn.ModuleDict({n: HeadModule(head, head_seed(n), width) for n, head in heads.items()})
            averaged = {n: head for n, head in heads.items() if head.averaged}
            copies = {n: HeadModule(head, head_seed(n), width, trained=False) for n, head in averaged.items()}
            self.teacher_head = nn.ModuleDict(copies)
        if self.copies_towers or averaged_heads(self):
            self.teacher_momentum(Clock(0, 1))
        if self.evaluates == "teacher" and not self.copies_towers:
            raise self.refuse(f"it evaluates the teacher and has none; needs can name {', '.join(TEACHER_PARTS)}.")

    def setup(self) -> None:
        """Check hyper-parameters against each other and make parameters and buffers. Does nothing by default."""

    @abstractmethod
    def loss(self, batch: PairBatch, clock: Clock) -> Loss | Tensor:
        """The method's objective on one global batch: a scalar tensor, or a Loss that names terms and gauges too."""

    @property
    def needs(self) -> frozenset[str]:
        """What `loss` reads of the batch beyond image and text, as configured; by default the decorator's needs=."""
        return frozenset(self.card.about.get("needs", ()))

    @property
    def serves(self) -> frozenset[str]:
        """Which towers it can train: "pair", "image" alone, "text" alone; the decorator's serves=, or pairs only."""
        return frozenset(self.card.about.get("serves", ("pair",)))

    def heads(self) -> Mapping[str, Head]:
        """Predictors and projectors by name, as configured. None by default."""
        return {}

    @property
    def copies_towers(self) -> bool:
        """Whether it needs an averaged copy of the towers."""
        return not self.needs.isdisjoint(TEACHER_PARTS)

    def teacher_momentum(self, clock: Clock) -> float:
        """The share m of itself that the teacher keeps after this step: teacher <- m teacher + (1 - m) student."""
        raise self.refuse(
            "it has an averaged copy, so it must define teacher_momentum(self, clock), a number in [0, 1]."
        )

    def parameter_groups(self) -> Iterable[ParameterGroup]:
        """How the optimizer should treat the method's own parameters. Heads need not be named: see `with_heads`."""
        heads = {id(parameter) for head in trained_heads(self) for parameter in head.parameters()}
        own = tuple(p for p in self.parameters() if p.requires_grad and id(p) not in heads)
        return [ParameterGroup(own)] if own else []

    def after_step(self) -> None:
        """Called after each optimiser step: the place for clamps. Does nothing by default."""

    def forward(self, batch: PairBatch, clock: Clock) -> Loss:
        """`loss` on the batch, normalised first unless the class says otherwise; always a Loss with a scalar total.

        Parameters take part in the precision of the batch, so that layers made in `setup` work in any.
        """
        dtype = batch.dtype
        if batch.size == 1 and has_batch_norm(self):
            raise self.refuse("a batch of one sample has no batch statistics, and it has a batch norm; take 2 or more.")
        for module in self.modules():
            if isinstance(module, LazyModuleMixin) and module.has_uninitialized_params():
                module.to(dtype)
        other = {n: p.to(dtype) for n, p in self.named_parameters() if p.dtype != dtype}
        if other:
            in_precision: Loss = functional_call(self, other, (batch, clock))
            return in_precision
        result = self.loss(batch.normalized() if self.normalizes else batch, clock)
        loss = result if isinstance(result, Loss) else Loss(result)
        total: object = loss.total
        if isinstance(total, Tensor) and total.dim() == 0:
            return loss
        given = f"a tensor of shape {[*total.shape]}" if isinstance(total, Tensor) else f"a {type(total).__name__}"
        where = "a Loss whose total is " if isinstance(result, Loss) else ""
        raise self.refuse(f"loss returned {where}{given}; return a scalar tensor, or Loss(total=a scalar tensor).")

    def refuse(self, reason: str) -> UsageError:
        """The error for what cannot work: a combination of hyper-parameters, or what `loss` returned."""
        return UsageError(f"{self.card.name}: {reason}")


def has_batch_norm(method: Method) -> bool:
    """Whether a layer or a head, which may not be built yet, needs the statistics of the batch."""
    return any(
        isinstance(module, nn.BatchNorm1d) or (isinstance(module, HeadModule) and module.head.has_batch_norm)
        for module in method.modules()
    )


def all_heads(method: Method) -> list[HeadModule]:
    """The heads of a method and their averaged copies."""
    return [module for module in method.modules() if isinstance(module, HeadModule)]


def averaged_heads(method: Method) -> list[tuple[nn.Module, nn.Module]]:
    """(copy, head) of each head that has an averaged copy."""
    copies: Any = getattr(method, "teacher_head", {})
    return [(copy, method.head[name]) for name, copy in copies.items()]


def trained_heads(method: Method) -> list[HeadModule]:
    """The heads of a method, without their averaged copies."""
    return [head for head in all_heads(method) if head.trained]


def with_heads(method: Method) -> list[ParameterGroup]:
    """The method's groups; then weights, and biases and norms, of those heads that it did not put into one itself."""
    groups = list(method.parameter_groups())
    named = {id(parameter) for group in groups for parameter in group.parameters}
    left = [p for head in trained_heads(method) for p in head.parameters() if id(p) not in named]
    return [*groups, ParameterGroup(tuple(left))] if left else groups


@torch.no_grad()
def clamp_(parameter: Tensor, low: float, high: float) -> None:
    """Clamp a parameter in place, outside of the graph."""
    parameter.clamp_(low, high)
