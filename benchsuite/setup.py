"""A setup: everything of a run but the method and the seed. Two rows are comparable only if theirs are equal."""

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchsuite.canonical import canonical, short_digest
from benchsuite.fields import Count, NonNegative, Positive, Share

Plain = dict[str, Any]
Towers = Literal["pair", "image", "text"]
REFERENCES: Mapping[Towers, str] = {"pair": "infonce", "image": "simclr", "text": "simclr"}
"""The method that all others stand beside: of costs, and of the regression gate. InfoNCE, where there are pairs."""


class Part(BaseModel):
    """A frozen group of settings; a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Data(Part):
    """Which pairs are trained on. Version and digest come from the dataset's manifest when a run is planned."""

    name: str
    options: Plain = {}
    version: int | None = None
    digest: str | None = None
    folder: str | None = Field(default=None, exclude=True)
    """Where its files lie; never written or digested. The digest says what is in them."""


class ImageTower(Part):
    """An image encoder by its timm name."""

    timm: str
    options: Plain = {}
    pretrained: bool = False
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    stem: Literal["cifar"] | None = None
    """For a timm ResNet: "cifar" begins with a 3x3 convolution of stride 1 and no pooling, as for 32x32 pixels."""
    frames: Literal["mean", "transformer"] | None = None
    """For clips: how the frames' features become one vector. None for pictures."""


class TextTower(Part):
    """A text encoder: a transformers model type with a config, or a pretrained one by name or local folder."""

    transformer: str
    config: Plain = {}
    pretrained: bool = False
    pool: Literal["first", "mean", "last"] = "first"
    """Which states stand for the text: the first token's, the mean of all, or the last token's, as in CLIP."""
    max_tokens: Count = 30
    vocabulary: Count | None = None
    """Size of the tokenizer trained on the data's captions; none for a pretrained tower, which brings its own."""

    @model_validator(mode="after")
    def _one_source_of_words(self) -> Self:
        if self.pretrained == (self.vocabulary is not None):
            raise ValueError("a pretrained text tower brings its tokenizer; any other needs a vocabulary size")
        return self


class Projection(Part):
    """What follows each tower: one linear layer, or SimCLR's projector of two with batch norm."""

    width: Count
    hidden: Count | None = None
    """Width of the hidden layer; none for a single linear layer."""


class Optimizer(Part):
    """An optimizer by name, under DeepSpeed; from torch or timm."""

    name: Literal["adamw", "adamp", "radam", "nadam", "sgd", "sgdp", "nvnovograd", "lars"] = "adamw"
    lr: Positive
    weight_decay: NonNegative = 0.0
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Of the Adam family."""
    momentum: Share = 0.9
    """Of sgd, sgdp and lars."""
    eps: Positive = 1e-8
    decay_vectors: bool = False
    """Whether biases and norms are decayed too."""


class Schedule(Part):
    """Linear warm-up, then a cosine from the optimizer's rate down to `final_lr`."""

    warmup_steps: Annotated[int, Ge(0)] = 0
    final_lr: NonNegative = 0.0


class Augmentation(Part):
    """What every training picture goes through, once for each view, and where text views come from."""

    crop: tuple[Annotated[float, Gt(0), Le(1)], Annotated[float, Gt(0), Le(1)]] = (1.0, 1.0)
    """Range of the cropped share of the area."""
    flip: bool = False
    brightness: Share = 0.0
    contrast: Share = 0.0
    saturation: Share = 0.0
    hue: Annotated[float, Ge(0), Le(0.5)] = 0.0
    """Largest turn of the colour circle, as a share of it."""
    jitter: Share = 1.0
    """How often the four above apply."""
    grayscale: Share = 0.0
    """How often colour is dropped."""
    text_view: Literal["paraphrase", "dropout"] = "paraphrase"
    """A text's second view: another wording, or the same one through other dropout masks (SimCSE)."""


class Training(Part):
    """The loop. A loss sees `batch` pairs (over all processes); an optimizer step averages `accumulation` losses."""

    batch: Annotated[int, Ge(2)]
    steps: Count
    accumulation: Count = 1
    precision: Literal["fp32", "bf16"] = "fp32"
    zero_stage: Literal[0, 1, 2] = 0
    processes: Count = 1
    clip_gradient: NonNegative = 0.0
    """Largest gradient norm; 0 does not clip."""

    @model_validator(mode="after")
    def _batch_is_shared_out_evenly(self) -> Self:
        if self.batch % self.processes:
            raise ValueError(f"a batch of {self.batch} cannot be shared out evenly to {self.processes} processes")
        return self


class Clusters(Part):
    """Groups of training pairs: K-means over embeddings of the captions, or a set of classes the data has."""

    labels: str | None = None
    """Name of the set of classes; then the rest does not apply."""
    embedding: str = "tfidf-svd"
    """A registered embedding."""
    options: Plain = {}
    k: Annotated[int, Ge(2)] = 200
    seed: Annotated[int, Ge(0)] = 0


class Expert(Part):
    """A frozen encoder by its registered name."""

    embedding: str
    options: Plain = {}


class Experts(Part):
    """Frozen encoders of the two sides."""

    image: Expert | None = None
    text: Expert | None = None


class Protocol(Part):
    """An evaluation of a run: a registered task, its version, and its options."""

    task: str
    version: int | None = None
    options: Plain = {}
    data: Data | None = None
    """Data of its own; none for the data that is trained on."""
    every: Count | None = None
    """Also evaluated during the training, about every so many steps, for a curve; none for the end alone."""


class Setup(Part):
    """All of it. `setup_id` is its digest."""

    data: Data
    image: ImageTower | None = None
    text: TextTower | None = None
    projection: Projection
    optimizer: Optimizer
    schedule: Schedule = Schedule()
    augmentation: Augmentation = Augmentation()
    training: Training
    temperature_factor: Positive = 1.0
    """Multiplies every temperature of every method alike."""
    protocols: dict[str, Protocol] = Field(min_length=1)
    clusters: Clusters | None = None
    """Groups of training captions, for methods that need to know how common a pair is."""
    experts: Experts | None = None
    """Frozen encoders, for methods that look at similarities other than their own."""
    selection: Literal["last"] = "last"
    """Which step is evaluated."""

    @model_validator(mode="after")
    def _trains_something(self) -> Self:
        if self.image is None and self.text is None:
            raise ValueError("a setup needs an image tower, a text tower, or both")
        return self

    @property
    def towers(self) -> Towers:
        """Which towers are trained."""
        if self.image and self.text:
            return "pair"
        return "image" if self.image else "text"

    @cached_property
    def setup_id(self) -> str:
        """Identity of the setup; only planned setups, whose data and protocols are resolved, have one.

        Settings at their defaults are left out, so that a setting that is added later, with the default that keeps
        things as they were, leaves identities as they were. A default, once released, must not change.
        """
        return short_digest(self.model_dump(mode="json", exclude_defaults=True))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy that may differ, and finds its own identity."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("setup_id", None)
        return copy


@lru_cache(maxsize=1024)
def stored_setup(text: str) -> Setup:
    """A setup from its JSON: thousands of records share a few, which are read and identified once."""
    return Setup.model_validate(json.loads(text))


def differences(left: Mapping[str, Any], right: Mapping[str, Any], prefix: str = "") -> dict[str, tuple[Any, Any]]:
    """The fields in which two nested mappings differ, by dotted name."""
    fields: dict[str, tuple[Any, Any]] = {}
    for key in sorted({*left, *right}):
        a, b = left.get(key), right.get(key)
        only_one = (key in left) != (key in right)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            fields |= differences(a, b, f"{prefix}{key}.")
        elif only_one or canonical(a) != canonical(b):
            fields[prefix + key] = (a, b)
    return fields
