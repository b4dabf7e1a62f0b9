"""The contract as `from benchsuite import Method, PairBatch` gives it: base.py, and an averaged copy of the towers.

base.py enters the code digest of every record. What methods with a teacher need stands here, so that adding it
leaves those digests as they are.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import normalize
from torch.nn.modules.lazy import LazyModuleMixin

from benchsuite.methods import base
from benchsuite.methods.base import Clock, Loss, ParameterGroup
from benchsuite.methods.heads import Head, HeadModule, head_seed

TEACHER = "_teacher"
TEACHER_PARTS = tuple(f"{part}{TEACHER}" for part in ("image", "image_view", "text", "text_view"))


class PairBatch(base.PairBatch):
    """A batch that can also carry embeddings by the teacher, [B, D], without gradient.

    The teacher is an averaged copy of the towers with their projections. `image_view_teacher` is its embedding of the
    very pixels of which `image_view` is the trained tower's.
    """

    EMBEDDINGS: ClassVar = (*base.PairBatch.EMBEDDINGS, *TEACHER_PARTS)  # type: ignore[assignment]

    def __init__(
        self,
        *,
        image_teacher: Tensor | None = None,
        image_view_teacher: Tensor | None = None,
        text_teacher: Tensor | None = None,
        text_view_teacher: Tensor | None = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        parts = (image_teacher, image_view_teacher, text_teacher, text_view_teacher)
        self._given |= {name: part for name, part in zip(TEACHER_PARTS, parts, strict=True) if part is not None}
        rows = {name: len(tensor) for name, tensor in self._given.items()}
        if len(set(rows.values())) > 1:
            raise ValueError(f"a batch needs the same number of rows in each part; given: {rows}.")

    @property
    def side(self) -> str:
        """The one side, where one tower is trained: "image" or "text"."""
        return "image" if self.has("image") else "text"

    def of_tower(self, part: str) -> Tensor:
        """A part of the one side, where one tower is trained: "" for its embeddings, "_view_teacher" and so on."""
        return self._get(f"{self.side}{part}")

    @property
    def teacher_views(self) -> tuple[Tensor, Tensor]:
        """The teacher's embeddings of `views`, where one tower is trained."""
        return self.of_tower(TEACHER), self.of_tower(f"_view{TEACHER}")

    @property
    def image_teacher(self) -> Tensor:
        """The teacher's embeddings of the images, [B, D]."""
        return self._get("image_teacher")

    @property
    def image_view_teacher(self) -> Tensor:
        """The teacher's embeddings of the second augmentation of the images, [B, D]."""
        return self._get("image_view_teacher")

    @property
    def text_teacher(self) -> Tensor:
        """The teacher's embeddings of the captions, [B, D]."""
        return self._get("text_teacher")

    @property
    def text_view_teacher(self) -> Tensor:
        """The teacher's embeddings of the captions' paraphrases, [B, D]."""
        return self._get("text_view_teacher")

    def normalized(self) -> "PairBatch":
        unit = {n: normalize(t, dim=-1) if n in self.EMBEDDINGS else t for n, t in self._given.items()}
        return PairBatch(**unit)


class Method(base.Method):
    """A method that may have heads, and a teacher: an averaged copy of the towers, which training keeps.

    `self.head[name]` is the head that `heads` declares under the name, `self.teacher_head[name]` its averaged copy.
    """

    _owns_no_fields: ClassVar = True
    evaluates: ClassVar[Literal["student", "teacher"]] = "student"
    """Which encoder is evaluated: the trained one, or its averaged copy."""

    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        super().__init__(num_samples, width, **hyperparameters)
        if heads := self.heads():
            self.head = nn.ModuleDict({n: HeadModule(head, head_seed(n), width) for n, head in heads.items()})
            averaged = {n: head for n, head in heads.items() if head.averaged}
            copies = {n: HeadModule(head, head_seed(n), width, trained=False) for n, head in averaged.items()}
            self.teacher_head = nn.ModuleDict(copies)
        if self.copies_towers or averaged_heads(self):
            self.teacher_momentum(Clock(0, 1))
        if self.evaluates == "teacher" and not self.copies_towers:
            raise self.refuse(f"it evaluates the teacher and has none; needs can name {', '.join(TEACHER_PARTS)}.")

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

    def forward(self, batch: base.PairBatch, clock: Clock) -> Loss:
        """As in base.py, with parameters in the precision of the batch, so that layers of `setup` work in both."""
        dtype = next(part.dtype for name, part in batch._given.items() if name in PairBatch.EMBEDDINGS)
        for module in self.modules():
            if isinstance(module, LazyModuleMixin) and module.has_uninitialized_params():
                module.to(dtype)
        other = {n: p.to(dtype) for n, p in self.named_parameters() if p.dtype != dtype}
        if other:
            loss: Loss = functional_call(self, other, (batch, clock))
            return loss
        return super().forward(batch, clock)


def all_heads(method: base.Method) -> list[HeadModule]:
    """The heads of a method and their averaged copies."""
    return [module for module in method.modules() if isinstance(module, HeadModule)]


def averaged_heads(method: base.Method) -> list[tuple[nn.Module, nn.Module]]:
    """(copy, head) of each head that has an averaged copy."""
    copies: Any = getattr(method, "teacher_head", {}) if isinstance(method, Method) else {}
    heads: Any = getattr(method, "head", {})
    return [(copy, heads[name]) for name, copy in copies.items()]


def trained_heads(method: base.Method) -> list[HeadModule]:
    """The heads of a method, without their averaged copies."""
    return [head for head in all_heads(method) if head.trained]


def with_heads(method: base.Method) -> list[ParameterGroup]:
    """The method's groups; then weights, and biases and norms, of those heads that it did not put into one itself."""
    groups = list(method.parameter_groups())
    named = {id(parameter) for group in groups for parameter in group.parameters}
    left = [p for head in trained_heads(method) for p in head.parameters() if id(p) not in named]
    return [*groups, ParameterGroup(tuple(left))] if left else groups


def encoded(inputs: str, needs: frozenset[str]) -> bool:
    """Whether the trained towers embed these inputs, and not the teacher alone: a view that only it was asked for."""
    return inputs in needs or "_view" not in inputs or f"{inputs}{TEACHER}" not in needs
