"""The contract of a method: typed hyper-parameters, one `loss(batch, clock)`, and what it needs.

A method never sees ranks, devices, optimisers or files. It is given the towers' outputs for the whole global batch
and returns the scalar to differentiate. What it must remember between steps it keeps in buffers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from benchsuite.cards import Card
from benchsuite.errors import UsageError
from benchsuite.fields import Options


class PairBatch:
    """What the towers made of one global batch; row i of everything belongs to pair i.

    `image`, `text` and their views are raw outputs, [B, D]; `image_expert` and `text_expert` are frozen experts'
    embeddings, [B, E]; `index` holds sample ids and `cluster` cluster ids, [B]. With one tower there is one side only:
    a picture or a text, and its view. Asking for something that was not given is an error that names it, never a None.
    """

    EMBEDDINGS: ClassVar = ("image", "text", "image_view", "text_view", "image_view2", "image_expert", "text_expert")

    def __init__(
        self,
        *,
        image: Tensor | None = None,
        text: Tensor | None = None,
        image_view: Tensor | None = None,
        text_view: Tensor | None = None,
        index: Tensor | None = None,
        cluster: Tensor | None = None,
        image_view2: Tensor | None = None,
        image_expert: Tensor | None = None,
        text_expert: Tensor | None = None,
    ) -> None:
        given = {
            "image": image,
            "text": text,
            "image_view": image_view,
            "text_view": text_view,
            "index": index,
            "cluster": cluster,
            "image_view2": image_view2,
            "image_expert": image_expert,
            "text_expert": text_expert,
        }
        self._given = {name: tensor for name, tensor in given.items() if tensor is not None}
        rows = {name: len(tensor) for name, tensor in self._given.items()}
        if not rows or len(set(rows.values())) > 1:
            raise ValueError(f"a batch needs the same number of rows in each part; given: {rows or 'nothing'}.")
        self.size = next(iter(rows.values()))

    def has(self, name: str) -> bool:
        """Whether the batch carries this part."""
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
    def image(self) -> Tensor:
        """Image embeddings, [B, D]."""
        return self._get("image")

    @property
    def text(self) -> Tensor:
        """Text embeddings, [B, D]."""
        return self._get("text")

    @property
    def image_view(self) -> Tensor:
        """Embeddings of a second augmentation of the same images, [B, D]."""
        return self._get("image_view")

    @property
    def text_view(self) -> Tensor:
        """Embeddings of a paraphrase of the same captions, [B, D]."""
        return self._get("text_view")

    @property
    def index(self) -> Tensor:
        """The pairs' positions in the training set, [B]."""
        return self._get("index")

    @property
    def cluster(self) -> Tensor:
        """The pairs' cluster or class ids, [B]."""
        return self._get("cluster")

    @property
    def image_view2(self) -> Tensor:
        """Embeddings of a third augmentation of the same images, [B, D]."""
        return self._get("image_view2")

    @property
    def image_expert(self) -> Tensor:
        """A frozen vision expert's embeddings of the images, [B, E]."""
        return self._get("image_expert")

    @property
    def text_expert(self) -> Tensor:
        """A frozen text expert's embeddings of the captions, [B, E]."""
        return self._get("text_expert")

    def normalized(self) -> "PairBatch":
        """The same batch with L2-normalised embeddings."""
        unit = {n: normalize(t, dim=-1) if n in self.EMBEDDINGS else t for n, t in self._given.items()}
        return PairBatch(**unit)

    def _get(self, name: str) -> Tensor:
        try:
            return self._given[name]
        except KeyError:
            have = ", ".join(self._given)
            raise ValueError(
                f'the batch has no "{name}" (it has: {have}); a method must declare it in needs.'
            ) from None


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
    """A contrastive-learning method. Subclass it, annotate hyper-parameters, write `loss`, register it."""

    _owns_no_fields: ClassVar = True
    card: ClassVar[Card]
    normalizes: ClassVar[bool] = True
    """Whether `loss` is given L2-normalised embeddings."""
    excuses: ClassVar[Mapping[str, str]] = {}
    """Conformance checks the method cannot pass by its nature, each with the reason."""
    miniature: ClassVar[Mapping[str, Any]] = {}
    """Sizes of heads and the like with which the conformance kit and the regression gate make it small."""

    def __init__(self, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any) -> None:
        super().__init__()
        if "card" not in dir(type(self)):
            raise UsageError(f'{type(self).__name__} is not registered: decorate it with @register_method("name").')
        self.num_samples = num_samples
        self.width = width
        self.resolve(hyperparameters)
        self.setup()

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

    def parameter_groups(self) -> Iterable[ParameterGroup]:
        """How the optimiser should treat the method's parameters: by default all of them as the recipe says."""
        parameters = tuple(self.parameters())
        return [ParameterGroup(parameters)] if parameters else []

    def after_step(self) -> None:
        """Called after each optimiser step: the place for clamps. Does nothing by default."""

    def forward(self, batch: PairBatch, clock: Clock) -> Loss:
        """`loss` on the batch, normalised first unless the class says otherwise; always a Loss with a scalar total."""
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


@torch.no_grad()
def clamp_(parameter: Tensor, low: float, high: float) -> None:
    """Clamp a parameter in place, outside of the graph."""
    parameter.clamp_(low, high)
