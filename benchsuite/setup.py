"""A setup: everything of a run except method and seed. Two rows are comparable only if their setups are equal."""

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field, model_validator

from benchsuite.canonical import alike, short_digest
from benchsuite.fields import Count, NonNegative, Positive, Share
from benchsuite.parts import Part, Plain
from benchsuite.tower_settings import ImageTower, TextTower

FOLDER = "folder"
"""The option that tells a dataset where its files are; it is stored nowhere."""
Towers = Literal["pair", "image", "text"]
REFERENCES: Mapping[Towers, str] = {"pair": "infonce", "image": "simclr", "text": "simclr"}
"""The reference method for costs and for kept scores, by the towers that are trained."""


class Data(Part):
    """The training data. Version and digest come from the dataset's manifest when a run is planned."""

    name: str
    """A registered dataset."""
    options: Plain = {}
    """The dataset's options: `benchsuite list datasets --verbose` shows them."""
    version: int | None = None
    """The dataset's. Set when a run is planned."""
    digest: str | None = None
    """Of the content. Set when a run is planned."""
    folder: str | None = Field(default=None, exclude=True)
    """The folder with its files. Paths are not stored or hashed; the digest identifies the content."""
    apart: Plain = Field(default={}, exclude=True)
    """Options of paraphrases alone, which a dataset keeps apart. Set when a run is planned; not stored or hashed."""
    paraphrases: str | None = Field(default=None, exclude=True)
    """Digest of paraphrases that `digest` does not cover. Set when a run is planned; runs that read them store it."""
    redrawn: str = ""
    """The option that a replicate sets, so that it has data of its own. Set when a run is planned. A setup is the same
    for all its replicates: that option and the digest are no part of its identity, but of the run's."""

    @property
    def drawn(self) -> dict[str, str]:
        """The digest of the replicate's own data; empty where all replicates have the same."""
        return {"data": self.digest} if self.redrawn and self.digest else {}

    @property
    def of_all_replicates(self) -> dict[str, Any]:
        """The settings that all replicates share."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        if self.redrawn:
            options = {name: value for name, value in self.options.items() if name != self.redrawn}
            content |= {"options": options, "digest": None}
        return content

    @property
    def place(self) -> str:
        """All that it takes to open the data again, as a key."""
        return json.dumps([self.model_dump(mode="json"), self.folder, self.apart, self.paraphrases], sort_keys=True)


class Projection(Part):
    """The projection head of each tower: one linear layer, or SimCLR's two layers with batch norm."""

    width: Count
    """Dimensions of the embeddings that the method gets. Where towers keep their model's projection: as it has."""
    hidden: Count | None = None
    """Width of the hidden layer; none for a single linear layer."""


class Optimizer(Part):
    """An optimizer of torch or timm by name. DeepSpeed runs it."""

    name: Literal["adamw", "adamp", "radam", "nadam", "sgd", "sgdp", "nvnovograd", "lars"] = "adamw"
    """Which optimizer."""
    lr: Positive
    """Learning rate after the warm-up."""
    weight_decay: NonNegative = 0.0
    """Of weights; of biases and norm parameters with `decay_vectors` only."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """For optimizers of the Adam family."""
    momentum: Share = 0.9
    """For sgd, sgdp and lars."""
    eps: Positive = 1e-8
    """Added to the denominator, for all but sgd and lars."""
    decay_vectors: bool = False
    """Apply weight decay to biases and norm parameters too."""


BY_LAYER = ("adamp", "sgdp", "nvnovograd", "lars")
"""Optimizers of which each layer has its own norm or direction."""


class Schedule(Part):
    """Linear warm-up, then cosine decay from the optimizer's learning rate to `final_lr`."""

    warmup_steps: Annotated[int, Ge(0)] = 0
    """Steps of linear warm-up."""
    final_lr: NonNegative = 0.0
    """Learning rate that the decay reaches after the last step."""


class Augmentation(Part):
    """Augmentations of each training image, drawn anew for each view, and the kind of text view."""

    crop: tuple[Annotated[float, Gt(0), Le(1)], Annotated[float, Gt(0), Le(1)]] = (1.0, 1.0)
    """Range of the crop's share of the area."""
    flip: bool = False
    """Flip half of the images from left to right."""
    brightness: Share = 0.0
    """Largest change of the brightness, as a share."""
    contrast: Share = 0.0
    """Largest change of the contrast, as a share."""
    saturation: Share = 0.0
    """Largest change of the saturation, as a share."""
    hue: Annotated[float, Ge(0), Le(0.5)] = 0.0
    """Largest hue shift, as a share of the colour circle."""
    jitter: Share = 1.0
    """Probability of the four above."""
    grayscale: Share = 0.0
    """Probability of greyscale."""
    mask: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Vectors in place of images: the probability that a number is set to zero. None of the above applies to them."""
    noise: NonNegative = 0.0
    """Vectors in place of images: the scale of normal noise that is added."""
    text_view: Literal["paraphrase", "dropout"] = "paraphrase"
    """A text's second view: a paraphrase, or the same text under another dropout mask (SimCSE)."""


class Training(Part):
    """The loop. A loss sees `batch` pairs (over all processes); an optimizer step averages `accumulation` losses."""

    batch: Annotated[int, Ge(2)]
    """Pairs in a loss."""
    steps: Count
    """Optimizer steps."""
    window: Count | None = None
    """Shuffle pairs among so many: thousands that follow one another in the data are shuffled as groups first, so a
    slow disk reads in few places. None: among all."""
    accumulation: Count = 1
    """Losses in an optimizer step."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """Of the towers. bf16: where autocast allows it. The method computes in fp32."""
    compiled: bool = False
    """Towers by `torch.compile`: faster on a GPU, other rounding. It takes a C++ compiler, and a minute at first."""
    zero_stage: Literal[0, 1, 2] = 0
    """DeepSpeed's ZeRO stage."""
    overlap: bool = False
    """With ZeRO 1 or 2: gradients are summed over processes while the backward pass goes on."""
    processes: Count = 1
    """Processes that share a batch."""
    clip_gradient: NonNegative = 0.0
    """Largest gradient norm; 0 for no clipping."""

    @model_validator(mode="after")
    def _batch_divides_by_processes(self) -> Self:
        if self.batch % self.processes:
            raise ValueError(f"a batch of {self.batch} is not divisible by {self.processes} processes")
        return self

    @model_validator(mode="after")
    def _overlaps_with_zero(self) -> Self:
        if self.overlap and not self.zero_stage:
            raise ValueError("overlap = true is for zero_stage = 1 or 2: without ZeRO, DeepSpeed sums after the pass")
        return self


class Clusters(Part):
    """Groups of training pairs: K-means on caption embeddings, or classes of the dataset."""

    labels: str | None = None
    """Name of the set of classes. If given, the other settings have no effect."""
    embedding: str = "tfidf-svd"
    """A registered embedding of captions, for K-means."""
    options: Plain = {}
    """The embedding's options."""
    k: Annotated[int, Ge(2)] = 200
    """Number of clusters."""
    seed: Annotated[int, Ge(0)] = 0
    """Of K-means."""


class Expert(Part):
    """A frozen encoder by its registered name."""

    embedding: str
    """A registered embedding."""
    options: Plain = {}
    """Its options."""


class Experts(Part):
    """Frozen encoders of the image and the text side."""

    image: Expert | None = None
    """Encoder of the images."""
    text: Expert | None = None
    """Encoder of the captions."""


class Protocol(Part):
    """An evaluation of a run: a registered task with version and options."""

    task: str
    """A registered task."""
    version: int | None = None
    """The task's. Set when a run is planned."""
    options: Plain = {}
    """The task's options: `benchsuite list tasks --verbose` shows them."""
    data: Data | None = None
    """Evaluation data; none for the training data's dataset."""
    every: Count | None = None
    """Also evaluate about every so many steps, for a curve; none to evaluate at the end only."""


class Settings(Part):
    """What a recipe says and a setup has."""

    data: Data
    """The training data."""
    text: TextTower | None = None
    """The text tower; none to train images alone."""
    projection: Projection
    """The projection head of each tower."""
    optimizer: Optimizer
    """The optimizer."""
    schedule: Schedule = Schedule()
    """Linear warm-up, then cosine decay from the learning rate to `final_lr`."""
    augmentation: Augmentation = Augmentation()
    """Augmentations of each training image, drawn anew for each view, and the kind of text view."""
    training: Training
    """The loop. A loss sees `batch` pairs (over all processes); an optimizer step averages `accumulation` losses."""
    temperature_factor: Positive = 1.0
    """Multiplies every temperature of every method; not the bounds of those that are learned."""
    clusters: Clusters | None = None
    """Groups of training pairs: K-means on caption embeddings, or classes. Only some methods read them."""
    experts: Experts | None = None
    """Frozen encoders, for methods that use similarities of other models."""
    protocols: dict[str, Protocol] = Field(min_length=1)
    """Evaluations, by any name: a registered task with its options."""

    @model_validator(mode="after")
    def _layers_whole(self) -> Self:
        if self.training.zero_stage and self.optimizer.name in BY_LAYER:
            what = f"{self.optimizer.name} has norms or projections of whole layers"
            raise ValueError(f"zero_stage = {self.training.zero_stage}: {what}, which ZeRO cuts into pieces")
        return self


class Setup(Settings):
    """The whole setup. `setup_id` is its digest."""

    image: ImageTower | None = None
    selection: Literal["last"] = "last"
    """Which checkpoint to evaluate."""

    @model_validator(mode="after")
    def _trains_something(self) -> Self:
        if self.image is None and self.text is None:
            raise ValueError("a setup needs an image tower, a text tower, or both")
        return self

    @property
    def towers(self) -> Towers:
        if self.image and self.text:
            return "pair"
        return "image" if self.image else "text"

    @property
    def trained(self) -> str:
        """Of pretrained towers, how much is trained, in words; empty if none is."""
        towers = [(side, tower) for side, tower in (("image", self.image), ("text", self.text)) if tower]
        own = [f"{side} tower: {tower.trained}" for side, tower in towers if tower.model or dict(tower)["pretrained"]]
        return f"training: {'; '.join(own)}" if own else ""

    def called(self, backbone: str) -> str:
        """A backbone's name, with the pretrained model that its tower is a side of here."""
        tower = self.image or self.text
        return f"{backbone} ({tower.model})" if tower and tower.model else backbone

    @cached_property
    def shared_id(self) -> str:
        """Digest of what every run under the setup reads: all but clusters and experts. Runs with one share a board."""
        content = self._identity()
        return short_digest({name: content[name] for name in content if name not in ("clusters", "experts")})

    @cached_property
    def setup_id(self) -> str:
        """Identity of a planned setup, whose data and protocols are resolved.

        Settings at their defaults are not hashed. So a new setting, whose default keeps the old behaviour, does not
        change identities. A default must not change after its release.
        """
        return short_digest(self._identity())

    def _identity(self) -> dict[str, Any]:
        """All settings that are not at their defaults, but for what each replicate draws."""
        return {**self.model_dump(mode="json", exclude_defaults=True), "data": self.data.of_all_replicates}


@lru_cache(maxsize=1024)
def stored_setup(text: str) -> Setup:
    """A setup from its JSON. Cached, because thousands of records share a few setups."""
    return Setup.model_validate(json.loads(text))


def differences(left: Mapping[str, Any], right: Mapping[str, Any], prefix: str = "") -> dict[str, tuple[Any, Any]]:
    """Fields in which two nested mappings differ, by dotted name."""
    fields: dict[str, tuple[Any, Any]] = {}
    for key in sorted({*left, *right}):
        a, b = left.get(key), right.get(key)
        on_one_side = (key in left) != (key in right)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            fields |= differences(a, b, f"{prefix}{key}.")
        elif on_one_side or not alike(a, b):
            fields[prefix + key] = (a, b)
    return fields
