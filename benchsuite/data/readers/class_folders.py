"""ImageNet's layout: a folder a class, in a folder a split."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.data.prompts import SMALL
from benchsuite.data.readers.files import read_text, require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("val", "validation")}
"""Each split with the names that its folder may have."""
KINDS = (".jpeg", ".jpg", ".png")


class ClassFolders(Listed):
    """Base of data sets in this layout: the folder of an image is its class."""

    _layout: ClassVar = "train/<class>/*.JPEG and val/<class>/*.JPEG, classes by their WordNet ids"
    templates: ClassVar = SMALL
    _chosen_classes: ClassVar[Sequence[str]] = ()
    """Names of the folders that count; all if empty."""

    train_list: str = ""
    """A file in the folder that names the training images, one a line, for ImageNet-LT's; all if empty."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """The words for each class, as "class"; a folder without words is its own name."""
        words = self._words()
        return {"class": tuple(words.get(class_id, class_id) for class_id in self._class_ids)}

    def _words(self) -> Mapping[str, str]:
        """A class's name by its folder's."""
        return {}

    def _splits(self) -> Iterable[str]:
        return [split for split in SPLITS if self._split_folder(split)]

    def _sources(self) -> Iterable[Path]:
        splits = [folder for split in self._chosen if (folder := self._split_folder(split))]
        classes = [path for folder in splits for class_id in self._class_ids if (path := folder / class_id).is_dir()]
        return [*classes, self._root / self.train_list] if self.train_list else classes

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
        folder = self._split_folder(split)
        assert folder is not None, "only splits that are there are listed"
        names = []
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

    def _split_folder(self, split: str) -> Path | None:
        return next((folder for name in SPLITS[split] if (folder := self._root / name).is_dir()), None)

    @cached_property
    def _class_ids(self) -> list[str]:
        if self._chosen_classes:
            return sorted(self._chosen_classes)
        folder = next(folder for split in self._chosen if (folder := self._split_folder(split)))
        return sorted(path.name for path in folder.iterdir() if path.is_dir())
