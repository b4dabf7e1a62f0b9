"""Data sets too large for memory: their files are listed, digested without decoding, and decoded when asked for.

A listing names a split's images or clips in order, with their captions and labels. Its digest covers names, sizes in
bytes, captions and classes, not the bytes of images: an image replaced by another one of equal size is not noticed.
Paraphrases have a digest of their own. Both are cached until a file changes that the listing is read from.
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
from benchsuite.data.readers.files import computed_once, require_folder, stamp
from benchsuite.data.readers.images import Fit, LazyArray, LazyImages
from benchsuite.errors import UsageError, unknown
from benchsuite.fields import Count

VERSION = 1
"""Of what a listing's digest covers, and how."""


PARAPHRASES_APART = "paraphrases apart"
"""In the key of cached digests, as those of earlier versions covered paraphrases."""


class Source(Protocol):
    """Where the images or clips of a split are."""

    def __len__(self) -> int: ...

    def mark(self, i: int) -> str:
        """Name and size of item i, found without decoding it; a file that is not there is refused."""

    def array(self, size: int, fit: Fit) -> LazyArray:
        """All of them, decoded when asked for."""


@dataclass(frozen=True)
class ImageFiles:
    """Images that are a file each, by name under a folder."""

    root: Path
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def mark(self, i: int) -> str:
        """Name and size: what is digested of image i."""
        return f"{self.names[i]}\0{size_of(self.root / self.names[i])}"

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The images, decoded when asked for."""
        from PIL import Image

        def where(i: int) -> str:
            return str(self.root / self.names[i])

        return LazyImages(len(self), size, lambda i: Image.open(where(i)), where, fit)


@dataclass(frozen=True)
class Listing:
    """One split: its images or clips, with captions and labels."""

    source: Source
    captions: Sequence[Sequence[str]]
    paraphrases: Sequence[Sequence[str]] = ()
    labels: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


class Listed(PairDataset):
    """Base of data sets that are read from a local folder of any size. Say what splits there are and list them."""

    _layout: ClassVar[str]
    """What the folder must hold, in words."""

    folder: str = ""
    """Where the files are. Not part of the identity; the digest is."""
    size: Count = 224
    """Side in pixels to which images are resized."""
    fit: Fit = "crop"
    """How they become square: the middle cut out, or the whole image squashed; draft: the middle of a JPEG that was
    decoded at a half, a quarter or an eighth of its size where that is large enough."""
    only: str = ""
    """The one split that is read; all if empty. The others need not exist and are not part of the digest."""

    def manifest(self) -> Manifest:
        request = {name: value for name, value in self.options().items() if name not in ("folder", "size", "fit")}
        key = short_digest(
            [self.card.name, VERSION, request, sorted(self._chosen), PARAPHRASES_APART, stamp(self._sources())]
        )
        content = computed_once(key, self._describe)
        return Manifest(
            self.card.name, VERSION, content["splits"], content["digest"], paraphrases=content["paraphrases"]
        )

    def read(self, split: str) -> Split:
        listing = self._listing(split)
        images = listing.source.array(self.size, self.fit).as_array()
        return Split(split, images, listing.captions, listing.paraphrases, listing.labels)

    @abstractmethod
    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        """The splits that are there, each with what lists it."""

    @abstractmethod
    def _sources(self) -> Mapping[str, Path]:
        """The files and folders that listings are read from; when one changes, the digest is computed again."""

    @cached_property
    def _root(self) -> Path:
        return require_folder(self.card.name, self.folder, self._layout)

    @cached_property
    def _chosen(self) -> Mapping[str, Callable[[], Listing]]:
        splits = self._splits()
        if not splits:
            raise UsageError(f"{self.card.name}: {self._root} must hold {self._layout}.")
        if self.only and self.only not in splits:
            raise unknown("split", self.only, splits, f"{self.card.name}, only: ")
        return {name: make for name, make in splits.items() if self.only in ("", name)}

    def _listing(self, split: str) -> Listing:
        if split not in self._listed:
            self._listed[split] = self._chosen[split]()
        return self._listed[split]

    @cached_property
    def _listed(self) -> dict[str, Listing]:
        return {}

    def _describe(self) -> dict[str, Any]:
        sha, paraphrases = hashlib.sha256(), hashlib.sha256()
        sizes, has_paraphrases = {}, False
        for split in self._chosen:
            listing = self._listing(split)
            sizes[split] = len(listing.source)
            sha.update(f"{split} {len(listing.source)}\n".encode())
            _digest(listing, sha.update)
            for texts in listing.paraphrases:
                has_paraphrases = True
                paraphrases.update(("\0".join([split, *texts]) + "\n").encode("utf-8", "surrogatepass"))
        apart = paraphrases.hexdigest()[:16] if has_paraphrases else None
        return {"splits": sizes, "digest": sha.hexdigest()[:16], "paraphrases": apart}


def size_of(file: Path) -> int:
    """The file's size, or an error that names it."""
    try:
        return file.stat().st_size
    except OSError as error:
        raise UsageError(f"{file}: no such file, but it is listed; complete the folder or the list.") from error


def base_folder(root: Path, name: str, folders: Sequence[str]) -> Path:
    """The folder under a root that image names are relative to: the first of these that has this image."""
    base = next((root / folder for folder in folders if (root / folder / name).is_file()), None)
    if base is None:
        tried = " or ".join(str(root / folder / name) for folder in folders)
        raise UsageError(f"{tried}: no such image, but it is listed.")
    return base


def _digest(listing: Listing, update: Callable[[bytes], None]) -> None:
    for i, captions in zip(range(len(listing.source)), listing.captions, strict=True):
        texts = [listing.source.mark(i), *captions]
        update(("\0".join(texts) + "\n").encode("utf-8", "surrogatepass"))
    for name, ids in sorted(listing.labels.items()):
        update(f"{name} {ids.shape}\n".encode() + ids.astype("<i8").tobytes())
