"""MSCOCO and Flickr30k in Karpathy's splits: one JSON with all images, captions and splits; or a JSON a split."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.files import read_json
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, base_folder, listed
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("validation", "val"), "test": ("test",)}
"""Each split with the names that files have for it."""


class CaptionedImage(NamedTuple):
    """An image file and all its captions."""

    name: str
    captions: Sequence[str]


class Karpathy(Listed):
    """Base of data sets in Karpathy's splits: say what the files and folders are called."""

    _file: ClassVar[str]
    _image_folders: ClassVar[Sequence[str]]

    captions: Count = 5
    """How many captions of an image are used: the first ones."""

    def _splits(self) -> Iterable[str]:
        return [split for split in SPLITS if self._images.get(split)]

    def _sources(self) -> Iterable[Path]:
        return self._files

    def _list(self, split: str) -> Iterator[Item]:
        images = self._images[split]
        if uncaptioned := next((image for image in images if not image.captions), None):
            raise UsageError(f"{self._files[0].parent}: {uncaptioned.name} of split {split} has no caption.")
        base = base_folder(self._root, images[0].name, self._image_folders)
        for image in images:
            yield listed(base, [image.name], image.captions[: self.captions])

    @cached_property
    def _files(self) -> list[Path]:
        whole = self._root / self._file
        if whole.is_file():
            return [whole]
        files = [self._root / f"{name}.json" for names in SPLITS.values() for name in names]
        if existing := [file for file in files if file.is_file()]:
            return existing
        raise UsageError(f"{whole}: no such file. {self.card.name} needs a folder that holds {self._layout}.")

    @cached_property
    def _images(self) -> Mapping[str, list[CaptionedImage]]:
        """By split."""
        if self._files[0].name == self._file:
            return self._read_one_file(self._files[0])
        splits = {name: split for split, names in SPLITS.items() for name in names}
        return {splits[file.stem]: _read_split(file) for file in self._files}

    def _read_one_file(self, file: Path) -> dict[str, list[CaptionedImage]]:
        content = read_json(file)
        images: dict[str, list[CaptionedImage]] = {}
        try:
            for image in content["images"]:
                name = "/".join(part for part in (image.get("filepath"), image["filename"]) if part)
                captions = [sentence["raw"] for sentence in image["sentences"]]
                images.setdefault(self._split_named(image["split"]), []).append(CaptionedImage(name, captions))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{file}: not Karpathy's format, a list images of filename, split and sentences."
            ) from error
        return images

    def _split_named(self, name: str) -> str:
        return {"val": "validation"}.get(name, name)


@register_dataset("coco", title="MSCOCO captions", license="captions CC BY 4.0, images various", download=True)
class Coco(Karpathy):
    """MSCOCO in Karpathy's splits: 82,783 or 113,287 images to train on, 5,000 each to validate and to test.

    Read from dataset_coco.json beside train2014 and val2014, or a folder images with both. A few images have six or
    seven captions, of which the first five count, so that the test split has 25,000.
    """

    _file: ClassVar = "dataset_coco.json"
    _image_folders: ClassVar = ("", "images")
    _layout: ClassVar = "dataset_coco.json (Karpathy's), and the folders train2014 and val2014, here or under images"

    restval: bool = True
    """Whether the 30,504 images of the old validation set that are in neither split are trained on too."""

    def _split_named(self, name: str) -> str:
        return "train" if name == "restval" and self.restval else super()._split_named(name)


@register_dataset("flickr30k", title="Flickr30k", license="Flickr's terms", download=True)
class Flickr30k(Karpathy):
    """Flickr30k in Karpathy's splits: 29,000 images to train on, 1,014 to validate and 1,000 to test.

    Read from dataset_flickr30k.json beside the folder of images (flickr30k-images, flickr30k_images or images); or
    from train.json, validation.json and test.json, of which each maps image names to lists of captions.
    """

    _file: ClassVar = "dataset_flickr30k.json"
    _image_folders: ClassVar = ("flickr30k-images", "flickr30k_images", "images", "")
    _layout: ClassVar = "dataset_flickr30k.json (Karpathy's), and the images in flickr30k-images or images"


def _read_split(file: Path) -> list[CaptionedImage]:
    """From lists of captions by image; some lists also hold the path of the image, which is no caption."""
    content = read_json(file)
    if not (isinstance(content, dict) and all(isinstance(captions, list) for captions in content.values())):
        raise UsageError(f"{file}: not a mapping of image names to lists of captions.")
    return [
        CaptionedImage(name, [str(text) for text in texts if not text.endswith(name)])
        for name, texts in content.items()
    ]
