"""`pairs` and `images`: a user's own images with or without captions, in what that the `datasets` library reads."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

from annotated_types import Ge
from pydantic import AfterValidator, BeforeValidator

from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.columns import CAPTION, IMAGE, LABEL, Asked
from benchsuite.data.readers.from_library import NONE, ROLES, FromLibrary, Wanted
from benchsuite.fields import Share
from benchsuite.registry import register_dataset


def several(value: Any) -> Any:
    """A text as a list: as JSON if it begins with [, otherwise split at commas."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.startswith("[") else [part.strip() for part in value.split(",") if part.strip()]


def whole(value: Any) -> Any:
    """A text as a list: as JSON if it begins with [, otherwise of this one text."""
    return several(value) if not isinstance(value, str) or value.startswith("[") else [value]


def with_place(templates: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a template without a single {} for the class name."""
    if wrong := [text for text in templates if text.count("{}") != 1]:
        raise ValueError(f'"{wrong[0]}" must have one {{}} for the class name')
    return templates


Names = Annotated[tuple[str, ...], BeforeValidator(several)]
Templates = Annotated[tuple[str, ...], BeforeValidator(whole), AfterValidator(with_place)]


class Own(FromLibrary):
    """Base of data sets of a user's own images."""

    _read_later: ClassVar = (*FromLibrary._read_later, "prompts")
    redrawn: ClassVar = "seed"

    folder: str = ""
    """A folder, or a hub name. Not part of the identity; the digest is."""
    config: str = ""
    """The configuration, where the source has several."""
    image: str = ""
    """The column of pictures: of the library's images, of bytes, or of paths. Guessed if empty."""
    label: Names = ()
    """Columns of classes, or "none". The first is the set "class", each further one has its column's name. Guessed if
    empty."""
    classes: Names = ()
    """Names of the first column's classes, in the order of their numbers. By default the library's, or the values."""
    prompts: Templates = ("a photo of a {}.",)
    """Templates with {} for the class name: the set "prompts" of zero-shot classification."""
    train: str = ""
    """The source's split to train on, if it has another name."""
    validation: str = ""
    """The source's split to choose settings on, if it has another name; "none" is to ignore it."""
    test: str = ""
    """The source's split to report on, if it has another name; "none" is to ignore it."""
    validation_share: Share = 0.1
    """Share of the training pictures that become the split validation where the source has none."""
    test_share: Share = 0.2
    """Likewise for the split test."""
    seed: Annotated[int, Ge(0)] = 0
    """Of these cuts. A picture's place depends on the seed and its own bytes alone."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        return {name: tuple(names) for name, names in self._facts["classes"].items()}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        return {**SMALL, "prompts": self.prompts}

    def _wanted(self, splits: Mapping[str, Any]) -> Wanted:
        return Wanted(
            self._asked(splits),
            self.classes,
            {role: getattr(self, role) for role in ROLES},
            {"test": self.test_share, "validation": self.validation_share},
            self.seed,
            self.options().get("merge", False),
        )

    def _asked(self, splits: Mapping[str, Any]) -> Asked:
        """How columns are found: by an option, by the library's type, or by a name that tells."""
        import datasets

        features = next(iter(splits.values())).features.items()
        pictures = [name for name, feature in features if isinstance(feature, datasets.Image)]
        classes = [name.lower() for name, feature in features if isinstance(feature, datasets.ClassLabel)]
        image = [self.image] if self.image else pictures if len(pictures) == 1 else []
        label = {} if self.label == (NONE,) else {"label": (self.label, classes or LABEL)}
        return {"image": (image, IMAGE), **label}


@register_dataset("images", title="Own images", license="the data's own", download=True)
class Images(Own):
    """Your own images without captions, for an image tower alone, with classes if there are some.

    Read like `pairs`. In a folder with a folder for each class these are the classes.
    """

    captioned: ClassVar = False


@register_dataset("pairs", title="Own image-text pairs", license="the data's own", download=True)
class Pairs(Own):
    """Your own images with captions, in any format that the library `datasets` reads: a folder, or a name on the hub.

    Parquet, a folder of images with metadata.csv or .jsonl, CSV or JSON lines with a column of files, webdataset's tar
    files, or what save_to_disk wrote. Splits train, validation and test: the source's, or cut from train by shares.
    Rows with the same picture are one pair with several captions.
    """

    apart: ClassVar = ("paraphrase",)

    caption: Names = ()
    """Columns of captions, each a text or a list of texts. Guessed if empty."""
    paraphrase: Names = ()
    """Columns of paraphrases, for methods with text views; every row needs one. None if empty."""
    merge: bool = True
    """Whether rows with the same picture become one pair with all their captions."""

    def _asked(self, splits: Mapping[str, Any]) -> Asked:
        return {**super()._asked(splits), "caption": (self.caption, CAPTION), "paraphrase": (self.paraphrase, ())}
