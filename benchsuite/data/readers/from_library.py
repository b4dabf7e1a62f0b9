"""Data sets that the `datasets` library opens (opening.py): which rows make each split, and what an index says of them.

A picture is known by the SHA-256 of its file's bytes. The digest of the data covers these, captions, classes and the
classes' names, in order: formats, and the names of files and columns, do not matter. Pictures are digested in one pass
that decodes each to its end.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import made_once, save
from benchsuite.data.readers.columns import (
    ROWS,
    Asked,
    Classes,
    Pictures,
    classes_of,
    columns_for,
    digests_of,
    texts_at,
)
from benchsuite.data.readers.files import files_under, require_folder, stamp
from benchsuite.data.readers.hub import on_hub
from benchsuite.data.readers.index import Item, write
from benchsuite.data.readers.listing import Indexed
from benchsuite.data.readers.opening import LAYOUT, open_splits
from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import remove
from benchsuite.grouping import by_key
from benchsuite.paths import cache

VERSION = 1
"""Of the kept digests of pictures."""
ROLES = ("train", "validation", "test")
NONE = "none"
ENOUGH = 25
"""Pictures of which the usual shares fill each split and a small batch."""
CLASS = "class"
"""The name of the first set of classes."""
Rows = NDArray[np.int64]
Digests = NDArray[np.uint8]


@dataclass(frozen=True)
class Wanted:
    """What a data set takes of what the library opened."""

    asked: Asked
    names: Sequence[str] = ()
    """Of the first column's classes, if they are given."""
    splits: Mapping[str, str] = field(default_factory=dict)
    """The source's split for each of ours; "" if it has the same name, or may be missing."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of the pictures to train on, for splits that the source does not have."""
    seed: int = 0
    merge: bool = False
    """Whether rows with the same picture become one."""


@dataclass(frozen=True)
class Part:
    """A split: the row of each picture in the source's split, and by it further rows with the same picture."""

    source: str
    rows: Rows
    repeats: Mapping[int, Sequence[int]] = field(default_factory=dict)


class FromLibrary(Indexed):
    """Base of data sets that the library opens, from a folder or by a hub name. Say what is wanted."""

    @abstractmethod
    def _wanted(self, splits: Mapping[str, Any]) -> Wanted:
        """Of these splits by the names that the source has for them."""

    def _open(self, copy: Path | None = None) -> Mapping[str, Any]:
        return open_splits(self.card.name, self.folder, self.options().get("config", ""), copy)

    def _make(self, folder: Path) -> Mapping[str, Any]:
        copy = cache() / "library" / self._key
        try:
            return self._write_rows(folder, self._hub or self._open(copy))
        finally:
            remove(copy)

    def _write_rows(self, folder: Path, splits: Mapping[str, Any]) -> dict[str, Any]:
        where, wanted = f"{self.card.name}: {self.folder}", self._wanted(splits)
        named = named_splits(splits, wanted.splits, where)
        sources = {source: splits[source] for source in named.values()}
        columns = columns_for(wanted.asked, next(iter(sources.values())).column_names, where)
        (image,), root = columns["image"], self._root if self._root.is_dir() else None
        pictures = {s: Pictures.of(rows, image, root, f"{where}, split {s}") for s, rows in sources.items()}
        outside = {str(file): file for own in pictures.values() for file in own.outside()}
        if CLASS in columns.get("label", ())[1:]:
            raise UsageError(f'{where}: a further set of classes cannot be of a column "{CLASS}": name it first.')
        sets = {CLASS if i == 0 else column: column for i, column in enumerate(columns.get("label", ()))}
        classes = {
            name: classes_of(sources, column, wanted.names if name == CLASS else (), where)
            for name, column in sets.items()
        }
        digests = kept_digests(pictures, {**self._files, **outside}, self.options().get("config", ""), where)
        parts = {
            role: part
            for role, source in named.items()
            for role, part in parts_of(role, source, digests[source], wanted, named, where).items()
        }
        names = {name: found.names for name, found in classes.items()}
        listed = {
            role: items_of(sources[part.source], part, columns, pictures[part.source], digests[part.source], classes)
            for role in ROLES
            if (part := parts.get(role))
        }
        return {**write(folder, listed, self._root, short_digest(names)), "classes": names, "watched": list(outside)}

    def _stamp(self) -> str:
        return stamp(self._files)

    @cached_property
    def _files(self) -> Mapping[str, Path]:
        """Those of the folder, or in which the library keeps the splits."""
        kept = [(split, i, file) for split, rows in self._hub.items() for i, file in enumerate(rows.cache_files)]
        return {f"{split} {i}": Path(file["filename"]) for split, i, file in kept} or files_under(self._root)

    @cached_property
    def _root(self) -> Path:
        """A folder, or a path that is none for what may be a hub name; anything else is refused."""
        if on_hub(self.folder, plain=True):
            return Path(self.folder)
        return require_folder(self.card.name, self.folder, f"{LAYOUT}; or a hub name, as OWNER/NAME")

    @cached_property
    def _hub(self) -> Mapping[str, Any]:
        """The splits of a data set of the hub, of which the library keeps a copy; nothing for a folder."""
        return {} if self._root.is_dir() else self._open()


def named_splits(splits: Mapping[str, Any], wanted: Mapping[str, str], where: str) -> dict[str, str]:
    """The source's split for each of ours that it has; one of any name is to train on where there is no other."""
    for role, name in wanted.items():
        if name not in ("", NONE) and name not in splits:
            raise UnknownError("split", name, splits, f"{where}, {role}: ")
    chosen = {role: name for role, name in wanted.items() if name not in ("", NONE)}
    if twice := [role for role, name in chosen.items() if [*chosen.values()].count(name) > 1]:
        raise UsageError(
            f"{where}: {' and '.join(twice)} are both {chosen[twice[0]]}; no picture may be in two splits."
        )
    # a split that another of ours takes by its name is not ours of that name, too
    own = {role: role for role, name in wanted.items() if not name and role not in chosen.values()}
    named = {role: name for role, name in {**own, **chosen}.items() if name in splits}
    if not named and len(splits) == 1:
        named = {"train": next(iter(splits))}
    if not named:
        raise UsageError(f"{where}: which split to train on? Set the option train; there are {', '.join(splits)}.")
    return named


def kept_digests(
    pictures: Mapping[str, Pictures], files: Mapping[str, Path], config: str, where: str
) -> dict[str, Digests]:
    """SHA-256 of each row's picture, [N, 32]. They are kept: no option but the configuration changes them."""
    columns = sorted((source, own.column) for source, own in pictures.items())
    size = sum(file.stat().st_size for file in files.values())
    place = cache() / "own" / short_digest([VERSION, stamp(files), config, columns])
    kept = made_once(place, lambda draft: save(digests_of(pictures, where, size), draft))
    return {file.stem: np.load(file, mmap_mode="r").view(np.ndarray) for file in kept.glob("*.npy")}


def parts_of(
    role: str, source: str, digests: Digests, wanted: Wanted, named: Mapping[str, str], where: str
) -> dict[str, Part]:
    """Our split, and those that are cut from the one to train on. None may be empty."""
    shares = {name: share for name, share in wanted.shares.items() if name not in named and share > 0}
    pieces = cut(digests, shares, wanted.seed, role) if role == "train" else {role: np.arange(len(digests))}
    if empty := [name for name, rows in pieces.items() if not len(rows)]:
        few = f" About {ENOUGH} pictures are needed with the usual shares." if len(digests) < ENOUGH else ""
        raise UsageError(
            f"{where}: of {len(digests)} pictures none falls into {empty[0]} under seed {wanted.seed}.{few} Set "
            f"another seed, or change test_share and validation_share (0: no such split)."
        )
    return {n: merged(source, rows, digests) if wanted.merge else Part(source, rows) for n, rows in pieces.items()}


def cut(digests: Digests, shares: Mapping[str, float], seed: int, rest: str) -> dict[str, Rows]:
    """Rows by split: each of the `shares` takes an interval of [0, 1), one after another, and `rest` what is left.

    A row falls where `place` puts its picture: no row moves when others come or go, and equal pictures stay together.
    """
    if not shares:
        return {rest: np.arange(len(digests))}
    places = np.array([place(seed, digest.tobytes()) for digest in digests])
    which = np.searchsorted(np.cumsum(list(shares.values())), places, side="right")
    return {name: np.flatnonzero(which == k) for k, name in enumerate((*shares, rest))}


def place(seed: int, digest: bytes) -> float:
    """In [0, 1): the first 8 bytes of the SHA-256 of the seed in decimal, a zero byte and the picture's SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0".encode() + digest).digest()[:8], "big") / 2**64


def merged(source: str, rows: Rows, digests: Digests) -> Part:
    """The first row of each picture."""
    keys = np.ascontiguousarray(digests[rows]).view("V32").ravel()
    _, first, picture = np.unique(keys, return_index=True, return_inverse=True)
    holders = zip(rows[first[picture]].tolist(), rows.tolist(), strict=True)
    repeats = by_key((holder, row) for holder, row in holders if row != holder)
    return Part(source, rows[np.sort(first)], repeats)


def items_of(
    rows: Any,
    part: Part,
    columns: Mapping[str, Sequence[str]],
    pictures: Pictures,
    digests: Digests,
    classes: Mapping[str, Classes],
) -> Iterator[Item]:
    """The pictures of a split, with the texts of all their rows."""
    labels = {name: found.ids[part.source] for name, found in classes.items() if part.source in found.ids}
    for start in range(0, len(part.rows), ROWS):
        own = {row: [row, *part.repeats.get(row, ())] for row in part.rows[start : start + ROWS].tolist()}
        every = [row for group in own.values() for row in group]
        texts = {o: texts_at(rows, columns.get(o, ()), every, pictures.name) for o in ("caption", "paraphrase")}
        for (row, group), picture in zip(own.items(), pictures.at(list(own)), strict=True):
            for name, ids in labels.items():
                if wrong := [other for other in group if ids[other] != ids[row]]:
                    raise UsageError(
                        f"{pictures.name}: rows {row} and {wrong[0]} have the same picture but different classes of "
                        f'"{name}". Correct one, or set merge to false.'
                    )
            captions, paraphrases = (
                list(dict.fromkeys(text for i in group for text in found.get(i, ()))) for found in texts.values()
            )
            yield Item(
                mark=digests[row].tobytes().hex(),
                files=[str(file)] if (file := picture.file) else [],
                captions=captions,
                paraphrases=paraphrases,
                labels={name: int(ids[row]) for name, ids in labels.items()},
                content=picture.content,
                name=picture.where,
            )
