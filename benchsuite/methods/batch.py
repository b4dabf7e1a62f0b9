"""What a method's loss is given: a batch."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

TEACHER = "_teacher"
TEACHER_PARTS = tuple(f"{part}{TEACHER}" for part in ("image", "image_view", "text", "text_view"))


class PairBatch:
    """What the towers made of one global batch; row i of everything belongs to pair i.

    `image`, `text` and their views are raw outputs, [B, D]; `image_expert` and `text_expert` are frozen experts'
    embeddings, [B, E]; `index` holds sample ids and `cluster` cluster ids, [B]. With one tower there is one side only:
    a picture or a text, and its view. Asking for something that was not given is an error that names it, never a None.

    Parts that end in `_teacher` are embeddings by an averaged copy of the towers with their projections, [B, D],
    without gradient: `image_view_teacher` is its embedding of the very pixels of which `image_view` is the trained
    tower's.
    """

    image: Tensor
    """Image embeddings, [B, D]."""
    text: Tensor
    """Text embeddings, [B, D]."""
    image_view: Tensor
    """Embeddings of a second augmentation of the same images, [B, D]."""
    text_view: Tensor
    """Embeddings of a paraphrase of the same captions, [B, D]."""
    index: Tensor
    """The pairs' positions in the training set, [B]."""
    cluster: Tensor
    """The pairs' cluster or class ids, [B]."""
    image_view2: Tensor
    """Embeddings of a third augmentation of the same images, [B, D]."""
    image_expert: Tensor
    """A frozen vision expert's embeddings of the images, [B, E]."""
    text_expert: Tensor
    """A frozen text expert's embeddings of the captions, [B, E]."""
    image_teacher: Tensor
    """The teacher's embeddings of the images, [B, D]."""
    image_view_teacher: Tensor
    """The teacher's embeddings of the second augmentation of the images, [B, D]."""
    text_teacher: Tensor
    """The teacher's embeddings of the captions, [B, D]."""
    text_view_teacher: Tensor
    """The teacher's embeddings of the captions' paraphrases, [B, D]."""

    EMBEDDINGS = (
        *("image", "text", "image_view", "text_view", "image_view2", "image_expert", "text_expert"),
        *TEACHER_PARTS,
    )

    def __init__(self, **parts: Tensor | None) -> None:
        if unknown := parts.keys() - PARTS:
            raise TypeError(f"a batch has no {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}.")
        self._given = {name: part for name in PARTS if (part := parts.get(name)) is not None}
        rows = {name: len(tensor) for name, tensor in self._given.items()}
        if not rows or len(set(rows.values())) > 1:
            raise ValueError(f"a batch needs the same number of rows in each part; given: {rows or 'nothing'}.")
        self.size = next(iter(rows.values()))

    @property
    def dtype(self) -> torch.dtype:
        return next(part.dtype for name, part in self._given.items() if name in self.EMBEDDINGS)

    def has(self, name: str) -> bool:
        return name in self._given

    @property
    def is_pair(self) -> bool:
        """Whether both sides are there; otherwise one tower is trained on two views."""
        return self.has("image") and self.has("text")

    @property
    def views(self) -> tuple[Tensor, Tensor]:
        """The one side and its view, where one tower is trained."""
        return (self.image, self.image_view) if self.has("image") else (self.text, self.text_view)

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

    def normalized(self) -> "PairBatch":
        """The same batch with L2-normalised embeddings."""
        unit = {n: normalize(t, dim=-1) if n in self.EMBEDDINGS else t for n, t in self._given.items()}
        return PairBatch(**unit)

    def __getattr__(self, name: str) -> Tensor:
        if name not in PARTS:
            raise AttributeError(f"a batch has no {name}.")
        return self._get(name)

    def _get(self, name: str) -> Tensor:
        if name not in self._given:
            have = ", ".join(self._given)
            raise ValueError(f'the batch has no "{name}" (it has: {have}); a method must declare it in needs.')
        return self._given[name]


PARTS = tuple(PairBatch.__annotations__)
"""Everything that a batch can carry."""


def encoded(inputs: str, needs: frozenset[str]) -> bool:
    """Whether the trained towers embed these inputs, and not the teacher alone: a view that only it was asked for."""
    return inputs in needs or "_view" not in inputs or f"{inputs}{TEACHER}" not in needs
