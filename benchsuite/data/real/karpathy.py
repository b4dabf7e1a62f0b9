"""MSCOCO and Flickr30k in Karpathy's splits: one JSON with all images, captions and splits; or a JSON a split."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import one_each, read_json
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, base_folder, listed
from benchsuite.errors import UsageError
from benchsuite.grouping import by_key
from benchsuite.registry import register_dataset

SPLITS = {"train": "train", "restval": "train", "validation": "validation", "val": "validation", "test": "test"}
"""The split of each name that files have for one."""
CAPTIONS = 5
"""How many captions of an image count: the first ones."""
CaptionedImage = tuple[str, Sequence[str]]
"""The name of an image's file, and all its captions."""


class Karpathy(Listed):
    """Base of data sets in Karpathy's splits: say what the files and folders are called."""

    _file: ClassVar[str]
    _image_folders: ClassVar[Sequence[str]]

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        return {split: self._files for split in SPLITS.values() if self._images.get(split)}

    def _list(self, split: str) -> Iterator[Item]:
        images = self._images[split]
        if uncaptioned := [name for name, texts in images if not texts or not all(map(_is_caption, texts))]:
            raise UsageError(
                f"{self._files[0].parent}: {uncaptioned[0]} of split {split} has no caption, or an empty one."
            )
        base = base_folder(self._root, images[0][0], self._image_folders)
        for name, captions in images:
            yield listed(base, [name], captions[:CAPTIONS])

    @cached_property
    def _files(self) -> list[Path]:
        whole = self._root / self._file
        files = [whole] if whole.is_file() else [self._root / f"{name}.json" for name in SPLITS]
        there = [file for file in files if file.is_file()]
        # restval is a part of train
        one_each((SPLITS[file.stem], file) for file in there if file != whole and file.stem != "restval")
        return there

    @cached_property
    def _images(self) -> Mapping[str, list[CaptionedImage]]:
        if [file.name for file in self._files] == [self._file]:
            return _read_one_file(self._files[0])
        return by_key((SPLITS[file.stem], image) for file in self._files for image in _read_split(file))


@register_dataset("coco", title="MSCOCO captions", license="captions CC BY 4.0, images various", download=True)
class Coco(Karpathy):
    """MSCOCO in Karpathy's splits: 113,287 images to train on (train and restval), 5,000 each to validate and to test.

    Read from dataset_coco.json beside train2014 and val2014, or a folder images with both. A few images have six or
    seven captions, of which the first five count, so that the test split has 25,000.
    """

    _file: ClassVar = "dataset_coco.json"
    _image_folders: ClassVar = ("", "images")
    _layout: ClassVar = "dataset_coco.json (Karpathy's), and the folders train2014 and val2014, here or under images"


@register_dataset("flickr30k", title="Flickr30k", license="Flickr's terms", download=True)
class Flickr30k(Karpathy):
    """Flickr30k in Karpathy's splits: 29,000 images to train on, 1,014 to validate and 1,000 to test.

    Read from dataset_flickr30k.json beside the folder of images (flickr30k-images, flickr30k_images or images); or
    from train.json, validation.json and test.json, of which each maps image names to lists of captions.
    """

    _file: ClassVar = "dataset_flickr30k.json"
    _image_folders: ClassVar = ("flickr30k-images", "flickr30k_images", "images", "")
    _layout: ClassVar = "dataset_flickr30k.json (Karpathy's), and the images in flickr30k-images or images"


def _read_one_file(file: Path) -> dict[str, list[CaptionedImage]]:
    content = read_json(file)
    images: dict[str, list[CaptionedImage]] = {}
    try:
        for image in content["images"]:
            name = "/".join(part for part in (image.get("filepath"), image["filename"]) if part)
            captions = [sentence["raw"] for sentence in image["sentences"]]
            images.setdefault(SPLITS.get(image["split"], ""), []).append((name, captions))
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file}: not Karpathy's format, a list images of filename, split and sentences.") from error
    return images


def _read_split(file: Path) -> list[CaptionedImage]:
    """From lists of captions by image; some lists also hold the path of the image, which is no caption."""
    content = read_json(file)
    if not (isinstance(content, dict) and all(isinstance(captions, list) for captions in content.values())):
        raise UsageError(f"{file}: not a mapping of image names to lists of captions.")
    return [
        (name, [text for text in texts if not (isinstance(text, str) and text.endswith(name))])
        for name, texts in content.items()
    ]


def _is_caption(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
