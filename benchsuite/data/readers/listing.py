"""Data sets of any size: their files are gone through once, for an index, and images are decoded when asked for.

The digest of a listed data set covers names, sizes in bytes, captions and classes, not the bytes of images: an image
replaced by another one of equal size is not noticed. Paraphrases have a digest of their own. The index is cached until
a file changes that it is made from.
"""

import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.cached import made_once
from benchsuite.data.readers.files import require_folder, stamp
from benchsuite.data.readers.images import Fit
from benchsuite.data.readers.index import FACTS, Ids, Index, Item, write
from benchsuite.errors import UnknownError, UsageError
from benchsuite.fields import Count
from benchsuite.files import reason_of, require_regular
from benchsuite.paths import cache

VERSION = 2
"""Of what a digest covers, and how."""


class Indexed(PairDataset):
    """Base of data sets that are read through an index: say how it is made, and what it is made from."""

    folder: str = ""
    """Where the files are. Not part of the identity; the digest is."""
    size: Count = 224
    """Side in pixels to which images are resized."""
    fit: Fit = "crop"
    """How they become square: the middle cut out, or the whole image squashed; draft: the middle of a JPEG that was
    decoded at a half, a quarter or an eighth of its size where that is large enough."""
    _read_later: ClassVar[Sequence[str]] = ("folder", "size", "fit")
    """Options that the index does not depend on."""

    def manifest(self) -> Manifest:
        facts = self._facts
        return Manifest(self.card.name, VERSION, facts["splits"], facts["digest"], paraphrases=facts["paraphrases"])

    def read(self, split: str) -> Split:
        index = self.index(split)
        images = (index.clips if self.shows == "clips" else index.images)(self.size, self.fit).as_array()
        return Split(split, images, index.texts("captions"), index.texts("paraphrases"), index.labels())

    def index(self, split: str) -> Index:
        return Index(self._index / f"{split}.arrow", self._root)

    @abstractmethod
    def _make(self, folder: Path) -> Mapping[str, Any]:
        """Write the index to a new folder; returns what `index.write` does, and more.

        `watched` are files that `_stamp` does not cover: when one changes, the index is made again.
        """

    @abstractmethod
    def _stamp(self) -> str:
        """Changes when a file does that the index is made from."""

    @property
    @abstractmethod
    def _root(self) -> Path:
        """What paths are relative to."""

    @cached_property
    def _key(self) -> str:
        request = {name: value for name, value in self.options().items() if name not in self._read_later}
        return short_digest([self.card.name, VERSION, request, self._stamp()])

    @cached_property
    def _index(self) -> Path:
        return made_once(cache() / "index" / self._key, self._write, _is_current)

    def _write(self, draft: Path) -> None:
        facts = self._make(draft)
        stamped = {**facts, "stamp": _stamp_of(map(Path, facts["watched"]))}
        (draft / FACTS).write_text(json.dumps(stamped), "utf-8")

    @cached_property
    def _facts(self) -> Mapping[str, Any]:
        return facts_of(self._index)


class Listed(Indexed):
    """Base of data sets that are read from a local folder of any size. Say what splits there are and list them."""

    _layout: ClassVar[str]
    """What the folder must hold, in words."""

    only: str = ""
    """The one split that is read; all if empty. The others need not exist and are not part of the digest."""

    @abstractmethod
    def _splits(self) -> Mapping[str, Sequence[Path]]:
        """The splits that are there, each with the files and folders that tell what is in it.

        When one of these changes, the index is made again.
        """

    @abstractmethod
    def _list(self, split: str) -> Iterable[Item]:
        """The images of a split in order."""

    @cached_property
    def _root(self) -> Path:
        return require_folder(self.card.name, self.folder, self._layout)

    @cached_property
    def _chosen(self) -> Mapping[str, Sequence[Path]]:
        splits = self._splits()
        if not splits:
            raise UsageError(f"{self.card.name}: {self._root} must hold {self._layout}.")
        if self.only and self.only not in splits:
            raise UnknownError("split", self.only, splits, f"{self.card.name}, only: ")
        return {self.only: splits[self.only]} if self.only else splits

    def _make(self, folder: Path) -> Mapping[str, Any]:
        facts = write(folder, {split: self._list(split) for split in self._chosen}, self._root)
        first = [str(file) for split in self._chosen for file in Index(folder / f"{split}.arrow", self._root).files(0)]
        return {**facts, "watched": first}

    def _stamp(self) -> str:
        return short_digest([sorted(self._chosen), _stamp_of(chain.from_iterable(self._chosen.values()))])


def facts_of(index: Path) -> dict[str, Any]:
    """What is said of an index beside it."""
    facts: dict[str, Any] = json.loads((index / FACTS).read_text("utf-8"))
    return facts


def _is_current(index: Path) -> bool:
    """Whether an index is there, and the files that it watches are as they were."""
    try:
        facts = facts_of(index)
    except FileNotFoundError:  # there is none, or another process takes an outdated one away
        return False
    return bool(_stamp_of(map(Path, facts["watched"])) == facts["stamp"])


def _stamp_of(files: Iterable[Path]) -> str:
    return stamp({str(file): file for file in files if file.exists()})


def listed(base: Path, files: Sequence[str], captions: Sequence[str], labels: Mapping[str, Ids] | None = None) -> Item:
    """An image file under a folder, or a clip's frames. A file that is not there is refused."""
    paths = [os.path.join(base, file) for file in files]  # noqa: PTH118 - a Path takes ten times as long
    mark = "\0".join(f"{file}\0{size_of(path)}" for file, path in zip(files, paths, strict=True))
    return Item(mark, paths, captions, labels=labels or {})


def size_of(file: str) -> int:
    """The file's size, or an error that names it."""
    try:
        return require_regular(file)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else reason_of(error)
        raise UsageError(f"{file}: {why}, but it is listed; complete the folder or the list.") from error


def base_folder(root: Path, name: str, folders: Sequence[str]) -> Path:
    """The folder under a root that image names are relative to: the first of these that has this image."""
    base = next((root / folder for folder in folders if (root / folder / name).is_file()), None)
    if base is None:
        tried = " or ".join(str(root / folder / name) for folder in folders)
        raise UsageError(f"{tried}: no such image, but it is listed.")
    return base
