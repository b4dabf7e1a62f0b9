"""Datasets too large to be held: what lies where is listed, digested without decoding, and decoded when asked for.

A listing names a split's pictures or clips in order, with what is said of them. Its digest covers names, sizes in
bytes, captions, paraphrases and classes, not the bytes of pictures: a file exchanged for another one of equal size is
not seen. It is remembered until one of the files changes that the listing is read from.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.real.files import remembered, require_folder, stamp
from benchsuite.data.real.pictures import Fit, LazyArray, LazyPictures
from benchsuite.errors import UsageError, unknown
from benchsuite.fields import Count

VERSION = 1
"""Of what a listing's digest covers, and how."""


class Source(Protocol):
    """Where the pictures or clips of a split are."""

    def __len__(self) -> int: ...

    def mark(self, i: int) -> str:
        """Name and size of item i, found without decoding it; a file that is not there is refused."""

    def array(self, size: int, fit: Fit) -> LazyArray:
        """All of them, decoded when asked for."""


@dataclass(frozen=True)
class Files:
    """Pictures that are a file each, by name under a folder."""

    root: Path
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def mark(self, i: int) -> str:
        """Name and size: what is digested of picture i."""
        return f"{self.names[i]}\0{size_of(self.root / self.names[i])}"

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The pictures, decoded when asked for."""
        from PIL import Image

        def where(i: int) -> str:
            return str(self.root / self.names[i])

        return LazyPictures(len(self), size, lambda i: Image.open(where(i)), where, fit)


@dataclass(frozen=True)
class Listing:
    """One split: its pictures or clips, and what is said of each."""

    source: Source
    captions: Sequence[Sequence[str]]
    paraphrases: Sequence[Sequence[str]] = ()
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


class Listed(PairDataset):
    """Base of datasets that are read from a local folder of any size. Say what splits there are and list them."""

    _layout: ClassVar[str]
    """What the folder must hold, in words."""

    folder: str = ""
    """Where the files lie. No part of a setup's identity; the digest is."""
    size: Count = 224
    """Side to which pictures are brought."""
    fit: Fit = "crop"
    """How they become square: the middle cut out, or all of it, squashed."""
    only: str = ""
    """The one split that is looked at; all of them if empty. Others need not be there, and do not count."""

    def manifest(self) -> Manifest:
        request = {name: value for name, value in self.options().items() if name not in ("folder", "size", "fit")}
        key = short_digest([self.card.name, VERSION, request, sorted(self._chosen), stamp(self._read_from())])
        told = remembered(key, self._describe)
        return Manifest(self.card.name, VERSION, told["splits"], told["digest"])

    def read(self, split: str) -> Split:
        one = self._listing(split)
        images = one.source.array(self.size, self.fit).as_array()
        return Split(split, images, one.captions, one.paraphrases, one.labels)

    @abstractmethod
    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        """The splits that are there, each with what lists it."""

    @abstractmethod
    def _read_from(self) -> Mapping[str, Path]:
        """The files and folders that listings are read from: what changes when they do."""

    @cached_property
    def _root(self) -> Path:
        return require_folder(self.card.name, self.folder, self._layout)

    @cached_property
    def _chosen(self) -> Mapping[str, Callable[[], Listing]]:
        there = self._splits()
        if not there:
            raise UsageError(f"{self.card.name}: {self._root} must hold {self._layout}.")
        if self.only and self.only not in there:
            raise unknown("split", self.only, there, f"{self.card.name}, only: ")
        return {name: make for name, make in there.items() if self.only in ("", name)}

    def _listing(self, split: str) -> Listing:
        if split not in self._listed:
            self._listed[split] = self._chosen[split]()
        return self._listed[split]

    @cached_property
    def _listed(self) -> dict[str, Listing]:
        return {}

    def _describe(self) -> dict[str, Any]:
        sha = hashlib.sha256()
        sizes = {}
        for split in self._chosen:
            one = self._listing(split)
            sizes[split] = len(one.source)
            sha.update(f"{split} {len(one.source)}\n".encode())
            _digest(one, sha.update)
        return {"splits": sizes, "digest": sha.hexdigest()[:16]}


def size_of(file: Path) -> int:
    """The file's size, or an error that names it."""
    try:
        return file.stat().st_size
    except OSError as error:
        raise UsageError(f"{file}: no such file, but it is listed; complete the folder or the list.") from error


def base_of(root: Path, name: str, folders: Sequence[str]) -> Path:
    """Which of these folders under a root names of pictures are relative to: the first that has this one."""
    found = next((root / folder for folder in folders if (root / folder / name).is_file()), None)
    if found is None:
        tried = " or ".join(str(root / folder / name) for folder in folders)
        raise UsageError(f"{tried}: no such picture, but it is listed.")
    return found


def _digest(one: Listing, update: Callable[[bytes], None]) -> None:
    for i in range(len(one.source)):
        said = [one.source.mark(i), *one.captions[i], *(one.paraphrases[i] if one.paraphrases else ())]
        update(("\0".join(said) + "\n").encode("utf-8", "surrogatepass"))
    for name, ids in sorted(one.labels.items()):
        update(f"{name} {ids.shape}\n".encode() + ids.astype("<i8").tobytes())
