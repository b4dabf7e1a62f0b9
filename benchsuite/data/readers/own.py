"""A user's own images, in anything that the `datasets` library reads: the base of `pairs` and `images`.

A picture is known by the SHA-256 of its file's bytes. The digest of the data covers these, captions, classes and the
classes' names, in order: formats, and the names of files and columns, do not matter. Pictures are digested in one pass
that decodes each to its end; the result is cached until a file changes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.cached import made_once, save
from benchsuite.data.prompts import SMALL
from benchsuite.data.readers import own_index
from benchsuite.data.readers.columns import (
    IMAGE,
    LABEL,
    Asked,
    Classes,
    Pictures,
    classes_of,
    columns_for,
    digests_of,
    pictures_of,
)
from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.images import Fit
from benchsuite.data.readers.library import files_of, open_splits, terms_of
from benchsuite.data.readers.own_index import Index
from benchsuite.data.readers.parts import Part, cut
from benchsuite.errors import UsageError, unknown
from benchsuite.fields import Count, Share
from benchsuite.paths import cache

VERSION = 1
"""Of what the digest covers, and of the kept digests of pictures."""
ROLES = ("train", "validation", "test")
NONE = "none"
ENOUGH = 25
"""Pictures of which the usual shares fill each split and a small batch."""
CLASS = "class"
"""The name of the first set of classes."""


def several(value: Any) -> Any:
    """A text as a list: as JSON if it begins with [, otherwise split at commas."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.startswith("[") else [part.strip() for part in value.split(",") if part.strip()]


def whole(value: Any) -> Any:
    """A text as a list: as JSON if it begins with [, otherwise of this one text."""
    return several(value) if not isinstance(value, str) or value.startswith("[") else [value]


def with_place(templates: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a template without a single {} for the class name."""
    if wrong := [text for text in templates if text.count("{}") != 1]:
        raise ValueError(f'"{wrong[0]}" must have one {{}} for the class name')
    return templates


Names = Annotated[tuple[str, ...], BeforeValidator(several)]
Templates = Annotated[tuple[str, ...], BeforeValidator(whole), AfterValidator(with_place)]


class Own(PairDataset):
    """Base of data sets of a user's own images."""

    folder: str = ""
    """A folder, or a hub name. Not part of the identity; the digest is."""
    config: str = ""
    """The configuration, where the source has several."""
    image: str = ""
    """The column of pictures: of the library's images, of bytes, or of paths. Guessed if empty."""
    label: Names = ()
    """Columns of classes, or "none". The first is the set "class", each further one has its column's name. Guessed if
    empty."""
    classes: Names = ()
    """Names of the first column's classes, in the order of their numbers. By default the library's, or the values."""
    prompts: Templates = ("a photo of a {}.",)
    """Templates with {} for the class name: the set "prompts" of zero-shot classification."""
    train: str = ""
    """The source's split to train on, if it has another name."""
    validation: str = ""
    """The source's split to choose settings on, if it has another name; "none" is to ignore it."""
    test: str = ""
    """The source's split to report on, if it has another name; "none" is to ignore it."""
    validation_share: Share = 0.1
    """Share of the training pictures that become the split validation where the source has none."""
    test_share: Share = 0.2
    """Likewise for the split test."""
    seed: Annotated[int, Ge(0)] = 0
    """Of these cuts. A picture's place depends on the seed and its own bytes alone."""
    size: Count = 224
    """Side in pixels to which images are resized."""
    fit: Fit = "crop"
    """How they become square: the middle cut out, or the whole image squashed; draft: the middle of a JPEG that was
    decoded at a half, a quarter or an eighth of its size where that is large enough."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """The user's own names."""
        return {name: tuple(names) for name, names in self._index.facts["classes"].items()}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """The option `prompts` as "prompts", and the small sets."""
        return {**SMALL, "prompts": self.prompts}

    def manifest(self) -> Manifest:
        """Identity of the content as it was opened; `about` has the terms that the data's own card states."""
        return self._manifest

    @cached_property
    def _manifest(self) -> Manifest:
        content, about = self._index.facts, terms_of(self.folder, self._stored)
        return Manifest(self.card.name, VERSION, content["splits"], content["digest"], about, content["paraphrases"])

    def read(self, split: str) -> Split:
        index = self._index
        images = self._pictures[index.facts["sources"][split]].array(index.rows(split), self.size, self.fit).as_array()
        captions, paraphrases = (index.texts(split, option) for option in own_index.OPTIONS)
        return Split(split, images, captions, paraphrases, index.labels(split))

    def cuts(self, split: str) -> bool:
        """Whether a split is cut here; otherwise it is the source's."""
        return split not in self._named

    @property
    def _merges(self) -> bool:
        return False

    def _texts(self, option: str, source: str) -> Iterable[Sequence[str]]:
        """Captions or paraphrases of a source's rows; none here."""
        return ()

    @cached_property
    def _index(self) -> Index:
        ignored = ("folder", "size", "fit", "prompts")
        request = {name: value for name, value in self.options().items() if name not in ignored}
        key = short_digest([self.card.name, VERSION, request, self._stamp])
        return Index(made_once(cache() / "own" / f"index-{key}", self._write_index))

    def _write_index(self, draft: Path) -> None:
        draft.mkdir()
        classes = {name: found.names for name, found in self._classes.items()}
        sha, parts = hashlib.sha256(short_digest(classes).encode()), self._parts
        texts = {o: {source: self._texts(o, source) for source in self._sources} for o in own_index.OPTIONS}
        labels = {role: self._labels(role) for role in parts}
        facts = own_index.write(draft, parts, self._digests, texts, labels, sha)
        (draft / "facts.json").write_text(json.dumps({**facts, "classes": classes}), "utf-8")

    def _labels(self, role: str) -> dict[str, NDArray[np.int64]]:
        part = self._parts[role]
        labels = {}
        for name, found in self._classes.items():
            if part.source in found.ids:
                ids = found.ids[part.source]
                for row, others in part.repeats.items():
                    if wrong := [other for other in others if ids[other] != ids[row]]:
                        raise UsageError(
                            f"{self._where}, split {part.source}: rows {row} and {wrong[0]} have the same picture but "
                            f'different classes of "{name}". Correct one, or set merge to false.'
                        )
                labels[name] = ids[part.rows]
        return labels

    @cached_property
    def _parts(self) -> Mapping[str, Part]:
        """The rows of each split, from the source's split of that name or cut from the one to train on."""
        named = self._named
        parts: dict[str, Part] = {}
        shares = {role: getattr(self, f"{role}_share") for role in ("test", "validation") if role not in named}
        for role, source in named.items():
            rows = np.arange(len(self._digests[source]))
            pieces = cut(rows, self._digests[source], shares if role == "train" else {}, role, self.seed)
            parts |= {name: Part.of(source, own, self._digests[source], self._merges) for name, own in pieces.items()}
        if empty := [role for role, part in parts.items() if not len(part.rows)]:
            count = len(self._digests[named["train"]])
            few = f" About {ENOUGH} pictures are needed with the usual shares." if count < ENOUGH else ""
            raise UsageError(
                f"{self._where}: of {count} pictures none falls into {empty[0]} under seed {self.seed}.{few} Set "
                f"another seed, or change test_share and validation_share (0: no such split)."
            )
        return {role: parts[role] for role in ROLES if role in parts}

    @cached_property
    def _named(self) -> Mapping[str, str]:
        """The source's split for each of ours."""
        splits = self._stored
        wanted = {role: getattr(self, role) for role in ROLES}
        for role, name in wanted.items():
            if name not in ("", NONE) and name not in splits:
                raise unknown("split", name, splits, f"{self._where}, {role}: ")
        named = {role: name or role for role, name in wanted.items() if (name or role) in splits and name != NONE}
        if not named and len(splits) == 1:
            named = {"train": next(iter(splits))}
        if not named:
            raise UsageError(
                f"{self._where}: which split to train on? Set the option train; there are {', '.join(splits)}."
            )
        return named

    @cached_property
    def _sources(self) -> list[str]:
        return list(dict.fromkeys(self._named.values()))

    @cached_property
    def _stored(self) -> Mapping[str, Any]:
        return open_splits(self.card.name, self.folder, self.config)

    @cached_property
    def _features(self) -> Mapping[str, Any]:
        features: Mapping[str, Any] = self._stored[self._sources[0]].features
        return features

    @cached_property
    def _where(self) -> str:
        return f"{self.card.name}: {self.folder}"

    def _asked(self) -> Asked:
        """How columns are found: by an option, by the library's type, or by a name that tells."""
        import datasets

        features = self._features.items()
        pictures = [name for name, feature in features if isinstance(feature, datasets.Image)]
        classes = [name.lower() for name, feature in features if isinstance(feature, datasets.ClassLabel)]
        image = [self.image] if self.image else pictures if len(pictures) == 1 else []
        label = {} if self.label == (NONE,) else {"label": (self.label, classes or LABEL)}
        return {"image": (image, IMAGE), **label}

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return columns_for(self._asked(), list(self._features), self._where)

    @cached_property
    def _pictures(self) -> Mapping[str, Pictures]:
        (column,) = self._columns["image"]
        folder = Path(self.folder).expanduser()
        root = folder if folder.is_dir() else None
        return {s: pictures_of(self._stored[s], column, root, f"{self._where}, split {s}") for s in self._sources}

    @cached_property
    def _classes(self) -> Mapping[str, Classes]:
        stored = {source: self._stored[source] for source in self._sources}
        sets = {CLASS if i == 0 else column: column for i, column in enumerate(self._columns.get("label", ()))}
        return {
            name: classes_of(stored, column, self.classes if name == CLASS else (), self._where)
            for name, column in sets.items()
        }

    @cached_property
    def _stamp(self) -> str:
        outside = {path: own.file(path) for own in self._pictures.values() for path in own.outside()}
        there = {path: file for path, file in outside.items() if file.is_file()}
        return stamp({**files_of(self.folder, self._stored), **there})

    @cached_property
    def _digests(self) -> Mapping[str, NDArray[np.uint8]]:
        """SHA-256 of each row's picture, [N, 32]."""
        key = short_digest(
            [VERSION, "decoded", self._stamp, self.config, sorted((s, p.column) for s, p in self._pictures.items())]
        )
        kept = made_once(
            cache() / "own" / key,
            lambda draft: save(digests_of(self._pictures, self._where, self._size), draft),
        )
        return {file.stem: np.load(file, mmap_mode="r").view(np.ndarray) for file in kept.glob("*.npy")}

    @property
    def _size(self) -> int:
        """Of all files, in bytes."""
        return sum(file.stat().st_size for file in files_of(self.folder, self._stored).values())
