"""ImageNet-1k, and the hundred of its classes that are ImageNet-100: a folder a class, in a folder a split."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.files import read_text, require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

SPLITS = {"train": "train", "validation": "validation", "val": "validation"}
"""The split of each name that a folder may have."""
KINDS = (".jpeg", ".jpg", ".png")
IMAGENET100 = """
n02869837 n01749939 n02488291 n02107142 n13037406 n02091831 n04517823 n04589890 n03062245 n01773797
n01735189 n07831146 n07753275 n03085013 n04485082 n02105505 n01983481 n02788148 n03530642 n04435653
n02086910 n02859443 n13040303 n03594734 n02085620 n02099849 n01558993 n04493381 n02109047 n04111531
n02877765 n04429376 n02009229 n01978455 n02106550 n01820546 n01692333 n07714571 n02974003 n02114855
n03785016 n03764736 n03775546 n02087046 n07836838 n04099969 n04592741 n03891251 n02701002 n03379051
n02259212 n07715103 n03947888 n04026417 n02326432 n03637318 n01980166 n02113799 n02086240 n03903868
n02483362 n04127249 n02089973 n03017168 n02093428 n02804414 n02396427 n04418357 n02172182 n01729322
n02113978 n03787032 n02089867 n02119022 n03777754 n04238763 n02231487 n03032252 n02138441 n02104029
n03837869 n03494278 n04136333 n03794056 n03492542 n02018207 n04067472 n03930630 n03584829 n02123045
n04229816 n02100583 n03642806 n04336792 n03259280 n02116738 n02108089 n03424325 n01855672 n02090622
"""
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
        return {split: self._root / name for name, split in SPLITS.items() if (self._root / name).is_dir()}

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

    _chosen_classes: ClassVar = IMAGENET100.split()
