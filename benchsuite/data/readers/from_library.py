"""Data sets that the `datasets` library opens: which rows make each split, and what an index says of them.

A picture is known by the SHA-256 of its file's bytes. The digest of the data covers these, captions, classes and the
classes' names, in order: formats, and the names of files and columns, do not matter. Pictures are digested in one pass
that decodes each to its end.
"""

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
    pictures_of,
    texts_at,
)
from benchsuite.data.readers.files import files_under, stamp
from benchsuite.data.readers.index import Item, write
from benchsuite.data.readers.library import open_splits, require_source, stored_files, terms_of
from benchsuite.data.readers.listing import Indexed
from benchsuite.data.readers.parts import Part, cut
from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import remove
from benchsuite.paths import cache

VERSION = 1
"""Of the kept digests of pictures."""
ROLES = ("train", "validation", "test")
NONE = "none"
ENOUGH = 25
"""Pictures of which the usual shares fill each split and a small batch."""
CLASS = "class"
"""The name of the first set of classes."""


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


class FromLibrary(Indexed):
    """Base of data sets that the library opens, from a folder or by a hub name. Say what is wanted."""

    @abstractmethod
    def _wanted(self, splits: Mapping[str, Any]) -> Wanted:
        """Of these splits by the names that the source has for them."""

    def _open(self, copy: Path | None = None) -> Mapping[str, Any]:
        return open_splits(self.card.name, self.folder, copy=copy)

    def _make(self, folder: Path) -> Mapping[str, Any]:
        copy = cache() / "library" / self._key
        try:
            splits, where = self._hub or self._open(copy), f"{self.card.name}: {self.folder}"
            facts = Opened(where, self._root, self._files, splits, self._wanted(splits)).write(folder)
            return {**facts, "about": terms_of(self.folder, splits)}
        finally:
            remove(copy)

    def _stamp(self) -> str:
        return stamp(self._files)

    @cached_property
    def _files(self) -> Mapping[str, Path]:
        return stored_files(self._hub) if self._hub else files_under(self._root)

    @cached_property
    def _root(self) -> Path:
        return require_source(self.card.name, self.folder)

    @cached_property
    def _hub(self) -> Mapping[str, Any]:
        """The splits of a data set of the hub, of which the library keeps a copy; nothing for a folder."""
        return {} if self._root.is_dir() else self._open()


@dataclass(frozen=True)
class Opened:
    """The library's splits by name, and what is wanted of them."""

    where: str
    """The data set and its source, for errors."""
    root: Path
    files: Mapping[str, Path]
    """That the splits come from, by name."""
    splits: Mapping[str, Any]
    wanted: Wanted

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the index; what there is to say of it."""
        classes = {name: found.names for name, found in self._classes.items()}
        facts = write(folder, {role: self._items(role) for role in self._parts}, self.root, short_digest(classes))
        return {**facts, "classes": classes, "named": self._named, "watched": list(self._outside)}

    def _items(self, role: str) -> Iterator[Item]:
        part, labels = self._parts[role], self._labels(role)
        rows, pictures, digests = self.splits[part.source], self._pictures[part.source], self._digests[part.source]
        for start in range(0, len(part.rows), ROWS):
            own = {row: [row, *part.repeats.get(row, ())] for row in part.rows[start : start + ROWS].tolist()}
            every = [row for group in own.values() for row in group]
            where = f"{self.where}, split {part.source}"
            texts = {o: texts_at(rows, self._columns.get(o, ()), every, where) for o in ("caption", "paraphrase")}
            for (row, group), picture in zip(own.items(), pictures.at(list(own)), strict=True):
                captions, paraphrases = (
                    list(dict.fromkeys(text for i in group for text in found.get(i, ()))) for found in texts.values()
                )
                place = picture.place()
                yield Item(
                    mark=digests[row].tobytes().hex(),
                    files=[str(place)] if isinstance(place, Path) else [],
                    captions=captions,
                    paraphrases=paraphrases,
                    labels={name: int(ids[row]) for name, ids in labels.items()},
                    content=None if isinstance(place, Path) else place,
                    name=picture.where,
                )

    def _labels(self, role: str) -> dict[str, NDArray[np.int64]]:
        """The source's classes by row, for each set that it has."""
        part = self._parts[role]
        labels = {name: found.ids[part.source] for name, found in self._classes.items() if part.source in found.ids}
        for name, ids in labels.items():
            for row, others in part.repeats.items():
                if wrong := [other for other in others if ids[other] != ids[row]]:
                    raise UsageError(
                        f"{self.where}, split {part.source}: rows {row} and {wrong[0]} have the same picture but "
                        f'different classes of "{name}". Correct one, or set merge to false.'
                    )
        return labels

    @cached_property
    def _parts(self) -> Mapping[str, Part]:
        """The rows of each split, from the source's split of that name or cut from the one to train on."""
        named, parts = self._named, dict[str, Part]()
        shares = {role: share for role, share in self.wanted.shares.items() if role not in named}
        for role, source in named.items():
            digests = self._digests[source]
            pieces = cut(np.arange(len(digests)), digests, shares if role == "train" else {}, role, self.wanted.seed)
            parts |= {name: Part.of(source, own, digests, self.wanted.merge) for name, own in pieces.items()}
        if empty := [role for role, part in parts.items() if not len(part.rows)]:
            count = len(self._digests[named["train"]])
            few = f" About {ENOUGH} pictures are needed with the usual shares." if count < ENOUGH else ""
            raise UsageError(
                f"{self.where}: of {count} pictures none falls into {empty[0]} under seed {self.wanted.seed}.{few} Set "
                f"another seed, or change test_share and validation_share (0: no such split)."
            )
        return {role: parts[role] for role in ROLES if role in parts}

    @cached_property
    def _named(self) -> Mapping[str, str]:
        """The source's split for each of ours."""
        for role, name in self.wanted.splits.items():
            if name not in ("", NONE) and name not in self.splits:
                raise UnknownError("split", name, self.splits, f"{self.where}, {role}: ")
        given = {role: name or role for role, name in self.wanted.splits.items() if name != NONE}
        named = {role: name for role, name in given.items() if name in self.splits}
        if not named and len(self.splits) == 1:
            named = {"train": next(iter(self.splits))}
        if not named:
            listed = ", ".join(self.splits)
            raise UsageError(f"{self.where}: which split to train on? Set the option train; there are {listed}.")
        return named

    @cached_property
    def _sources(self) -> Mapping[str, Any]:
        return {source: self.splits[source] for source in self._named.values()}

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return columns_for(self.wanted.asked, next(iter(self._sources.values())).column_names, self.where)

    @cached_property
    def _pictures(self) -> Mapping[str, Pictures]:
        (column,) = self._columns["image"]
        root = self.root if self.root.is_dir() else None
        return {s: pictures_of(rows, column, root, f"{self.where}, split {s}") for s, rows in self._sources.items()}

    @cached_property
    def _classes(self) -> Mapping[str, Classes]:
        sets = {CLASS if i == 0 else column: column for i, column in enumerate(self._columns.get("label", ()))}
        names = {CLASS: self.wanted.names}
        return {
            name: classes_of(self._sources, column, names.get(name, ()), self.where) for name, column in sets.items()
        }

    @cached_property
    def _outside(self) -> Mapping[str, Path]:
        """Pictures outside of the folder."""
        places = (own.file(path) for own in self._pictures.values() for path in own.outside())
        return {str(place): place for place in places if place.is_file()}

    @cached_property
    def _digests(self) -> Mapping[str, NDArray[np.uint8]]:
        """SHA-256 of each row's picture, [N, 32]. They are kept, as other options leave them as they are."""
        columns = sorted((source, own.column) for source, own in self._pictures.items())
        key = short_digest([VERSION, stamp({**self.files, **self._outside}), columns])
        size = sum(file.stat().st_size for file in self.files.values())
        kept = made_once(cache() / "own" / key, lambda draft: save(digests_of(self._pictures, self.where, size), draft))
        return {file.stem: np.load(file, mmap_mode="r").view(np.ndarray) for file in kept.glob("*.npy")}
