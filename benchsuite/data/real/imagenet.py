"""ImageNet-1k, and the hundred of its classes that are ImageNet-100: a folder a class, in a folder a split."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.files import one_each, read_text, require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError
from benchsuite.files import packaged
from benchsuite.registry import register_dataset

SPLITS = {"train": "train", "validation": "validation", "val": "validation"}
"""The split of each name that a folder may have."""
KINDS = (".jpeg", ".jpg", ".png")
IMAGENET100 = packaged("data/real/imagenet100.txt").split()
"""WordNet ids of the choice of Tian et al. (2020)."""


def imagenet_words() -> dict[str, str]:
    """WordNet's words by id, as timm has them, for ImageNet's thousand classes."""
    from benchsuite.torchvision_ops import make_importable

    make_importable()
    from timm.data import ImageNetInfo

    info = ImageNetInfo()
    return dict(zip(info.label_names(), info.label_descriptions(), strict=True))


@register_dataset("imagenet1k", title="ImageNet-1k", license="ImageNet's terms", download=True)
class ImageNet1k(Listed):
    """1.28 million images of 1,000 classes, and 50,000 to validate, in the usual folders. Classes "class".

    Splits train and validation (the folder val, sorted into classes). `train_list` makes the training split
    long-tailed.
    """

    _layout: ClassVar = "train/<class>/*.JPEG and val/<class>/*.JPEG, classes by their WordNet ids"
    templates: ClassVar = SMALL
    _chosen_classes: ClassVar[Sequence[str]] = ()
    """Names of the folders that count; all if empty."""

    train_list: str = ""
    """A file in the folder that names the training images, one a line, for ImageNet-LT's; all if empty."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """The words for each class, as "class"; a folder without words is its own name."""
        words = imagenet_words()
        return {"class": tuple(words.get(class_id, class_id) for class_id in self._class_ids)}

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        lists = {"train": [self._root / self.train_list]} if self.train_list else {}
        return {
            split: [*(folder / class_id for class_id in self._class_ids), *lists.get(split, ())]
            for split, folder in self._folders.items()
        }

    def _list(self, split: str) -> Iterator[Item]:
        from_list = split == "train" and self.train_list
        names = self._names_in_list() if from_list else self._names_in_folders(split)
        number = {class_id: i for i, class_id in enumerate(self._class_ids)}
        if foreign := next((name for name in names if Path(name).parent.name not in number), None):
            raise UsageError(f"{self._root / self.train_list}: {foreign} is of none of the {len(number)} classes.")
        labels = [number[Path(name).parent.name] for name in names]
        if empty := sorted(set(range(len(number))) - set(labels)):
            raise UsageError(f"{self._root}, split {split}: class {self._class_ids[empty[0]]} has no image.")
        words = self.class_names["class"]
        for name, label in zip(names, labels, strict=True):
            yield listed(self._root, [name], [words[label]], {"class": label})

    def _names_in_folders(self, split: str) -> list[str]:
        folder, names = self._folders[split], []
        for class_id in self._class_ids:
            if not (folder / class_id).is_dir():
                raise UsageError(f"{folder / class_id}: no such folder. {self.card.name} needs {self._layout}.")
            files = sorted(file.name for file in (folder / class_id).iterdir() if file.suffix.lower() in KINDS)
            names += [f"{folder.name}/{class_id}/{file}" for file in files]
        return names

    def _names_in_list(self) -> list[str]:
        file = self._root / self.train_list
        lines = [line for line in read_text(require_file(file, self._layout)).splitlines() if line.strip()]
        return [name if name.startswith("train/") else f"train/{name}" for name in (line.split()[0] for line in lines)]

    @cached_property
    def _folders(self) -> Mapping[str, Path]:
        folders = ((split, self._root / name) for name, split in SPLITS.items())
        return one_each((split, folder) for split, folder in folders if folder.is_dir())

    @cached_property
    def _class_ids(self) -> list[str]:
        if self._chosen_classes:
            return sorted(self._chosen_classes)
        return sorted(path.name for path in next(iter(self._folders.values())).iterdir() if path.is_dir())


@register_dataset("imagenet100", title="ImageNet-100", license="ImageNet's terms", download=True, source="imagenet1k")
class ImageNet100(ImageNet1k):
    """The 100 classes of ImageNet that Tian et al. chose, from ImageNet's own folders. Classes "class".

    With train_list = "imageNet_100_LT_train.txt", a file as SDCLR publishes it, it is ImageNet-100-LT.
    """

    _chosen_classes: ClassVar = IMAGENET100
