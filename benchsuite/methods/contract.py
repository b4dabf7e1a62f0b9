"""The contract as `from benchsuite import Method, PairBatch` gives it: base.py, and an averaged copy of the towers.

base.py enters the code digest of every record. What methods with a teacher need stands here, so that adding it
leaves those digests as they are.
"""

from typing import Any, ClassVar, Literal

from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.methods import base
from benchsuite.methods.base import Clock

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

    @property
    def teacher_views(self) -> tuple[Tensor, Tensor]:
        """The teacher's embeddings of `views`, where one tower is trained."""
        return self._get(f"{self.side}{TEACHER}"), self._get(f"{self.side}_view{TEACHER}")

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
    """A method that may have a teacher: an averaged copy of the towers, which training keeps."""

    _owns_no_fields: ClassVar = True
    evaluates: ClassVar[Literal["student", "teacher"]] = "student"
    """Which encoder is evaluated: the trained one, or its averaged copy."""

    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        super().__init__(num_samples, width, **hyperparameters)
        if self.has_teacher:
            self.teacher_momentum(Clock(0, 1))
        elif self.evaluates == "teacher":
            raise self.refuse(f"it evaluates the teacher and has none; needs can name {', '.join(TEACHER_PARTS)}.")

    @property
    def has_teacher(self) -> bool:
        """Whether it needs an averaged copy of the towers."""
        return not self.needs.isdisjoint(TEACHER_PARTS)

    def teacher_momentum(self, clock: Clock) -> float:
        """The share m of itself that the teacher keeps after this step: teacher <- m teacher + (1 - m) student."""
        raise self.refuse("it has a teacher, so it must define teacher_momentum(self, clock), a number in [0, 1].")


def encoded(inputs: str, needs: frozenset[str]) -> bool:
    """Whether the trained towers embed these inputs, and not the teacher alone: a view that only it was asked for."""
    return inputs in needs or "_view" not in inputs or f"{inputs}{TEACHER}" not in needs
