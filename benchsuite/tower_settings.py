"""Settings of a setup's towers: which model each one is, where it starts, and how much of it is trained."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from benchsuite.fields import Count, Positive
from benchsuite.parts import Part, Plain

MODEL = "model"
"""Stands for the pretrained model of a setup's towers among the folders that a user gives."""
TEXT = "text"
"""Stands there for the folder of a pretrained text encoder."""
TIMM = "timm"
"""The library of models of images alone, which have no projection to keep."""


class MLP(Part):
    """A tower on vectors instead of images or texts: one linear layer, or more with ReLU between."""

    layers: Count = 1
    """Number of linear layers."""
    hidden: Count = 256
    """Width of its output and of the layers between."""

    def __str__(self) -> str:
        return f"linear layer of {self.hidden}" if self.layers == 1 else f"MLP of {self.layers} layers of {self.hidden}"


class LoRA(Part):
    """Low-rank updates of some linear layers: all other weights stay as they are."""

    rank: Count = 8
    """Rank of an update."""
    alpha: Positive = 16.0
    """An update is multiplied by this, divided by the rank."""
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    """Names of the linear layers, in every block; open_clip's are c_fc and c_proj."""


FILLED = {"model", "weights", "mean", "std", "max_tokens"}
"""What a pretrained model says of a tower that is a side of it, when a run is planned."""


class Tower(Part):
    """What towers of images and of texts have alike."""

    key: ClassVar[str]
    """The setting that names a model of its library."""

    model: str = ""
    """One side of a pretrained model of images and texts: transformers:NAME, open_clip:NAME?pretrained=TAG, or a local
    folder or file in place of NAME or TAG; of images alone timm:NAME. `--model` replaces it. Paths are not hashed;
    `weights` identifies it."""
    weights: str | None = None
    """Digest of the model's weights. Set when a run is planned."""
    place: str | None = Field(default=None, exclude=True)
    """The model as it was given, with its path. Set when a run is planned; not stored or hashed."""
    train: Annotated[str, Field(pattern="^(all|none|lora|last [1-9][0-9]*)$")] = "all"
    """"all", "none", "lora", or "last N": the last N blocks and what comes after them."""
    lora: LoRA = LoRA()
    """For train = "lora"."""
    projection: Literal["kept", "new"] = "kept"
    """Of `model`: its own projection, whose width is then that of the embeddings, or a new one in its place."""
    lr_factor: Positive = 1.0
    """Multiplies the learning rate of the tower, but not of a new projection."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        """A tower is a model by name, a side of a pretrained one, or an MLP and nothing else."""
        changed = {name for name, field in type(self).model_fields.items() if getattr(self, name) != field.default}
        if not changed & {"mlp", "model", self.key}:
            raise ValueError(f'a tower needs a model: {self.key} = "...", model = "...", or mlp = {{...}} for vectors')
        if "mlp" in changed and (other := sorted(changed - {"mlp"})):
            raise ValueError(f"an MLP on vectors takes no other setting; given {', '.join(other)}")
        if self.model and (other := sorted(changed - {*Tower.model_fields, *FILLED})):
            raise ValueError(f"a side of a pretrained model takes no {', '.join(other)}")
        if not self.model and self.projection == "new":
            raise ValueError('projection = "new" is for a side of a pretrained model: any other tower has a new one')
        return self

    @property
    def name(self) -> str:
        own = dict(self)
        return str(own["mlp"] or self.model or own[self.key])

    @property
    def library(self) -> str:
        """Which `model` is of."""
        return self.model.partition(":")[0]

    @property
    def keeps_projection(self) -> bool:
        """Whether it is the model's own that embeds."""
        return bool(self.model) and self.library != TIMM and self.projection == "kept"

    @property
    def trained(self) -> str:
        """How much of it is trained, in words."""
        words = {"none": "frozen", "all": "whole", "lora": f"LoRA of rank {self.lora.rank}"}
        projection = ", a new projection" * (self.projection == "new")
        return words.get(self.train, f"{self.train} block{'s' * (self.train != 'last 1')}") + projection

    @property
    def filled(self) -> set[str]:
        """What its pretrained model says of it when a run is planned."""
        return FILLED & type(self).model_fields.keys()

    def given(self, folders: Mapping[str, str]) -> str | None:
        """What replaces its model among the folders: a model of images and texts does not stand for one of images."""
        other = self.model and folders.get(MODEL, "")
        return other if other and (self.library == TIMM) == other.startswith(f"{TIMM}:") else None

    @model_serializer(mode="wrap")
    def _as_before_there_were_models(self, write: SerializerFunctionWrapHandler) -> Plain:
        """Records of towers that set none of these have none of their keys, as those that are older."""
        return {key: value for key, value in write(self).items() if key not in UNSET or value != UNSET[key]}


UNSET = {name: field.default for name, field in Tower.model_fields.items()} | {"lora": LoRA().model_dump(mode="json")}


class ImageTower(Tower):
    """An image encoder by its timm name, a side of a pretrained model, or an MLP on vectors of images."""

    key: ClassVar = "timm"

    timm: str = ""
    """Name of a timm model."""
    mlp: MLP | None = None
    """For a dataset of vectors. Then nothing else may be given."""
    options: Plain = {}
    """Arguments of `timm.create_model`."""
    pretrained: bool = False
    """Start from timm's pretrained weights."""
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    """Of each colour channel, subtracted from pixels in [0, 1]. Those of `model` are its own."""
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    """Of each colour channel, by which pixels are then divided."""
    stem: Literal["cifar"] | None = None
    """For a timm ResNet: "cifar" starts with a 3x3 convolution of stride 1 without pooling, for 32x32 pixels."""
    frames: Literal["mean", "transformer"] | None = None
    """For clips: how to combine the frames' features into one vector. None for images."""


class TextTower(Tower):
    """A text encoder: a transformers model type with a config, a pretrained one by name or local folder, a side of a
    pretrained model of images and texts, or an MLP."""

    key: ClassVar = "transformer"

    transformer: str = ""
    """A transformers model type; if pretrained, a model's name or a local folder, which `--data text=FOLDER` replaces.
    A folder is stored as the type of its model; `weights` identifies it."""
    mlp: MLP | None = None
    """For a dataset of vectors. Then nothing else may be given."""
    config: Plain = {}
    """Settings of the model's configuration."""
    pretrained: bool = False
    """Start from pretrained weights, with their tokenizer."""
    pool: Literal["first", "mean", "last"] = "first"
    """Which hidden state represents the text: the first token's, the mean, or the last token's (CLIP)."""
    max_tokens: Count = 30
    """Longer texts are cut. With `model`, as many as that takes."""
    vocabulary: Count | None = None
    """Size of the tokenizer trained on the data's captions; none for a pretrained tower, which has its own."""

    @property
    def source(self) -> str:
        """Where a pretrained one is read from."""
        return self.place or self.transformer

    @property
    def filled(self) -> set[str]:
        return {"transformer", "weights"} if self.pretrained else super().filled

    def given(self, folders: Mapping[str, str]) -> str | None:
        return folders.get(TEXT) if self.pretrained else super().given(folders)

    @model_validator(mode="after")
    def _one_source_of_words(self) -> Self:
        if self.library == TIMM:
            raise ValueError(f'model = "{self.model}": timm has no models of texts')
        if not (self.mlp or self.model) and self.pretrained == (self.vocabulary is not None):
            raise ValueError("a pretrained text tower has its own tokenizer; any other needs a vocabulary size")
        return self
