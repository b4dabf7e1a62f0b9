"""ImageNet and what is cut from it: a folder a class, in a folder a split."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from benchsuite.data.real.files import read_text, require_file
from benchsuite.data.real.imagenet_names import IMAGENET100
from benchsuite.data.real.listing import Files, Listed, Listing
from benchsuite.data.real.long_tail import long_tailed
from benchsuite.data.real.prompts import SMALL
from benchsuite.errors import UsageError
from benchsuite.fields import Finite
from benchsuite.registry import register_dataset

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("val", "validation")}
"""Each split with the names that its folder may have."""
KINDS = (".jpeg", ".jpg", ".png")
LISTS: Mapping[str, Sequence[str]] = {"imagenet100": IMAGENET100}


class ClassFolders(Listed):
    """What the datasets below share: the folder that a picture lies in is its class."""

    _layout: ClassVar = "train/<class>/*.JPEG and val/<class>/*.JPEG, classes by their WordNet ids"
    templates: ClassVar = SMALL

    classes: int | str = ""
    """Which classes: the first so many by name, "imagenet100" (Tian et al.), or a file in the folder that has one a
    line; all if empty."""
    train_list: str = ""
    """A file in the folder that names the training pictures, one a line, for ImageNet-LT's; all if empty."""
    imbalance: Annotated[float, Ge(1), Finite] = 1.0
    """Size of the largest training class over that of the smallest, where no list says which pictures count."""
    seed: Annotated[int, Ge(0)] = 0
    """Which pictures a long-tailed version keeps."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """WordNet's words for each class, as "class"; a folder that is none of ImageNet's is its own name."""
        words = imagenet_words()
        return {"class": tuple(words.get(one, one) for one in self._classes)}

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SPLITS if self._place(split)}

    def _read_from(self) -> Mapping[str, Path]:
        splits = [place for split in self._chosen if (place := self._place(split))]
        places = [folder for place in splits for one in self._classes if (folder := place / one).is_dir()]
        lists = [self._root / name for name in (str(self.classes), self.train_list) if self._is_file(name)]
        return {str(path.relative_to(self._root)): path for path in [*places, *lists]}

    def _list(self, split: str) -> Listing:
        listed = split == "train" and self.train_list
        names = self._named() if listed else self._found(split)
        number = {one: i for i, one in enumerate(self._classes)}
        if foreign := next((name for name in names if Path(name).parent.name not in number), None):
            raise UsageError(f"{self._root / self.train_list}: {foreign} is of none of the {len(number)} classes.")
        labels = np.array([number[Path(name).parent.name] for name in names], np.int64)
        if empty := sorted(set(range(len(number))) - set(labels.tolist())):
            raise UsageError(f"{self._root}, split {split}: class {self._classes[empty[0]]} has no picture.")
        if split == "train" and not listed and self.imbalance > 1:
            kept = long_tailed(labels, self.imbalance, self.seed)
            names, labels = [names[i] for i in kept], labels[kept]
        words = [[word] for word in self.class_names["class"]]
        return Listing(Files(self._root, names), [words[i] for i in labels], labels={"class": labels})

    def _found(self, split: str) -> list[str]:
        place = self._place(split)
        assert place is not None, "only splits that are there are listed"
        names = []
        for one in self._classes:
            if not (place / one).is_dir():
                raise UsageError(f"{place / one}: no such folder. {self.card.name} needs {self._layout}.")
            files = sorted(file.name for file in (place / one).iterdir() if file.suffix.lower() in KINDS)
            names += [f"{place.name}/{one}/{file}" for file in files]
        return names

    def _named(self) -> list[str]:
        lines = _lines(self._root / self.train_list, self._layout)
        return [name if name.startswith("train/") else f"train/{name}" for name in (line.split()[0] for line in lines)]

    def _place(self, split: str) -> Path | None:
        return next((place for name in SPLITS[split] if (place := self._root / name).is_dir()), None)

    def _is_file(self, name: str) -> bool:
        return name != "" and not name.isdigit() and name not in LISTS

    @cached_property
    def _classes(self) -> list[str]:
        if self.classes in LISTS:
            return sorted(LISTS[str(self.classes)])
        if self._is_file(str(self.classes)):
            return sorted(line.split()[0] for line in _lines(self._root / str(self.classes), self._layout))
        place = next(place for split in self._chosen if (place := self._place(split)))
        found = sorted(folder.name for folder in place.iterdir() if folder.is_dir())
        count = int(self.classes) if self.classes != "" else len(found)
        if not 0 < count <= len(found):
            raise UsageError(f"{place}: {len(found)} folders of classes, of which {count} are wanted.")
        return found[:count]


@register_dataset("imagenet1k", title="ImageNet-1k", license="ImageNet's terms", download=True)
class ImageNet1k(ClassFolders):
    """1.28 million pictures of 1,000 classes, and 50,000 to validate, in the usual folders. Classes "class".

    Splits train and validation (the folder val, sorted into classes). `classes` takes fewer of them, `train_list` or
    `imbalance` makes the training split long-tailed.
    """


@register_dataset("imagenet100", title="ImageNet-100", license="ImageNet's terms", download=True, source="imagenet1k")
class ImageNet100(ClassFolders):
    """The 100 classes of ImageNet that Tian et al. chose, from ImageNet's own folders. Classes "class".

    With train_list = "imageNet_100_LT_train.txt", a file as SDCLR publishes it, it is ImageNet-100-LT.
    """

    classes = "imagenet100"


def imagenet_words() -> dict[str, str]:
    """WordNet's words by id, as timm has them, for ImageNet's thousand classes."""
    from benchsuite.models.torchvision_ops import make_importable

    make_importable()
    from timm.data import ImageNetInfo

    info = ImageNetInfo()
    return dict(zip(info.label_names(), info.label_descriptions(), strict=True))


def _lines(file: Path, layout: str) -> list[str]:
    found = [line for line in read_text(require_file(file, layout)).splitlines() if line.strip()]
    if not found:
        raise UsageError(f"{file}: it is empty.")
    return found
