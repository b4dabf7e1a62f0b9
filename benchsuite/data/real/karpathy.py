"""MSCOCO and Flickr30k in Karpathy's splits: five captions a picture."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from benchsuite.data.real.files import read_text
from benchsuite.data.real.listing import Files, Listed, Listing, base_of
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("validation", "val"), "test": ("test",)}
"""Each split with the names that files have for it."""


class Captioned(NamedTuple):
    """A picture's file and all captions of it."""

    name: str
    captions: Sequence[str]


class Karpathy(Listed):
    """What the datasets below share: one JSON file of all pictures with their captions and splits."""

    _file: ClassVar[str]
    _pictures: ClassVar[Sequence[str]]
    """Folders that pictures may lie in."""

    captions: Count = 5
    """How many captions of a picture count: the first ones."""

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SPLITS if self._rows(split)}

    def _read_from(self) -> Mapping[str, Path]:
        return {file.name: file for file in self._files}

    def _list(self, split: str) -> Listing:
        rows = self._rows(split)
        if poor := next((row for row in rows if not row.captions), None):
            raise UsageError(f"{self._files[0].parent}: {poor.name} of split {split} has no caption.")
        names = [row.name for row in rows]
        root = base_of(self._root, names[0], self._pictures)
        return Listing(Files(root, names), [list(row.captions[: self.captions]) for row in rows])

    def _rows(self, split: str) -> Sequence[Captioned]:
        return self._all.get(split, ())

    @cached_property
    def _files(self) -> list[Path]:
        whole = self._root / self._file
        if whole.is_file():
            return [whole]
        if found := [f for names in SPLITS.values() for n in names if (f := self._root / f"{n}.json").is_file()]:
            return found
        raise UsageError(f"{whole}: no such file. {self.card.name} needs a folder that holds {self._layout}.")

    @cached_property
    def _all(self) -> dict[str, list[Captioned]]:
        if self._files[0].name == self._file:
            return self._from_one_file(self._files[0])
        splits = {name: split for split, names in SPLITS.items() for name in names}
        return {splits[file.stem]: _from_mapping(file) for file in self._files}

    def _from_one_file(self, file: Path) -> dict[str, list[Captioned]]:
        content = _json(file)
        found: dict[str, list[Captioned]] = {}
        try:
            for image in content["images"]:
                name = "/".join(part for part in (image.get("filepath"), image["filename"]) if part)
                said = [sentence["raw"] for sentence in image["sentences"]]
                found.setdefault(self._split_of(image["split"]), []).append(Captioned(name, said))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{file}: not Karpathy's format, a list images of filename, split and sentences."
            ) from error
        return found

    def _split_of(self, said: str) -> str:
        return {"val": "validation"}.get(said, said)


@register_dataset("coco", title="MSCOCO captions", license="CC BY 4.0; pictures several", download=True)
class Coco(Karpathy):
    """MSCOCO in Karpathy's splits: 82,783 or 113,287 pictures to train on, 5,000 each to validate and to test.

    Read from dataset_coco.json beside train2014 and val2014, or a folder images with both. A few pictures have six or
    seven captions, of which the first five count, so that the test split has 25,000.
    """

    _file: ClassVar = "dataset_coco.json"
    _pictures: ClassVar = ("", "images")
    _layout: ClassVar = "dataset_coco.json (Karpathy's), and the folders train2014 and val2014, here or under images"

    restval: bool = True
    """Whether the 30,504 pictures of the old validation set that are in neither split are trained on too."""

    def _split_of(self, said: str) -> str:
        return "train" if said == "restval" and self.restval else super()._split_of(said)


@register_dataset("flickr30k", title="Flickr30k", license="Flickr's terms", download=True)
class Flickr30k(Karpathy):
    """Flickr30k in Karpathy's splits: 29,000 pictures to train on, 1,014 to validate and 1,000 to test.

    Read from dataset_flickr30k.json beside the folder of pictures (flickr30k-images, flickr30k_images or images); or
    from train.json, validation.json and test.json, of which each maps pictures' names to lists of captions.
    """

    _file: ClassVar = "dataset_flickr30k.json"
    _pictures: ClassVar = ("flickr30k-images", "flickr30k_images", "images", "")
    _layout: ClassVar = "dataset_flickr30k.json (Karpathy's), and the pictures in flickr30k-images or images"


def _from_mapping(file: Path) -> list[Captioned]:
    """From lists of captions by picture; an item that is the picture's own path is none."""
    content = _json(file)
    if not (isinstance(content, dict) and all(isinstance(said, list) for said in content.values())):
        raise UsageError(f"{file}: not a mapping of pictures' names to lists of captions.")
    return [Captioned(name, [str(text) for text in said if not text.endswith(name)]) for name, said in content.items()]


def _json(file: Path) -> Any:
    try:
        return json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise UsageError(f"{file}: not valid JSON: {error}.") from error
