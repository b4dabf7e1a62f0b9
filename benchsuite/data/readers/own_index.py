"""What opening a user's own data needs of every row: worked out at the first visit, mapped from the cache later."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.parts import Part, gathered
from benchsuite.data.texts import TextLists, TextsWriter

BLOCK = 1 << 16
"""Rows that are digested at a time."""
OPTIONS = ("caption", "paraphrase")
Texts = Mapping[str, Mapping[str, Iterable[Sequence[str]]]]
"""By option, then by source: a list for each row, or nothing."""


@dataclass(frozen=True)
class Index:
    """A folder that `write` wrote."""

    folder: Path

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Sizes, digests, the names of classes, and the source of each split."""
        facts: dict[str, Any] = json.loads((self.folder / "facts.json").read_text("utf-8"))
        return facts

    def rows(self, role: str) -> NDArray[np.int64]:
        """Of the source, for each picture of a split."""
        return self._array(f"{role}.rows")

    def texts(self, role: str, option: str) -> Sequence[Sequence[str]]:
        """Captions or paraphrases of a split; none if it has none."""
        name = f"{role}-{option}"
        return TextLists(self.folder, name) if (self.folder / f"{name}.utf8").exists() else []

    def labels(self, role: str) -> dict[str, NDArray[np.int64]]:
        """Each set of classes that the split has."""
        return {name: self._array(f"{role}.labels.{i}") for i, name in enumerate(self.facts["labels"][role])}

    def _array(self, name: str) -> NDArray[np.int64]:
        array: NDArray[np.int64] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return array.view(np.ndarray)


def write(
    draft: Path,
    parts: Mapping[str, Part],
    digests: Mapping[str, NDArray[np.uint8]],
    texts: Texts,
    labels: Mapping[str, Mapping[str, NDArray[np.int64]]],
    sha: Any,
) -> dict[str, Any]:
    """The index of these splits, and what it says of them. `sha` goes on over all but paraphrases."""
    raw, paraphrases, has_paraphrases = draft / "raw", hashlib.sha256(), False
    sources = {part.source: number for number, part in enumerate(parts.values())}
    lists = {
        (option, source): _stored(raw, f"{option}-{number}", texts[option][source])
        for option in OPTIONS
        for source, number in sources.items()
    }
    for role, part in parts.items():
        np.save(draft / f"{role}.rows.npy", part.rows)
        sha.update(f"{role} {len(part.rows)}\n".encode())
        for start in range(0, len(part.rows), BLOCK):
            sha.update(digests[part.source][part.rows[start : start + BLOCK]].tobytes())
        captions = _gathered(draft, f"{role}-caption", lists["caption", part.source], part)
        _update(sha, captions)
        further = _gathered(draft, f"{role}-paraphrase", lists["paraphrase", part.source], part)
        has_paraphrases = has_paraphrases or len(further) > 0
        paraphrases.update(f"[{json.dumps(role)}, ".encode())
        _update(paraphrases, further)
        paraphrases.update(b"]")
        for number, ids in enumerate(labels[role].values()):
            np.save(draft / f"{role}.labels.{number}.npy", ids)
        for name, ids in sorted(labels[role].items()):
            sha.update(f"{name} {ids.shape}\n".encode() + ids.astype("<i8").tobytes())
    shutil.rmtree(raw, ignore_errors=True)
    return {
        "splits": {role: len(part.rows) for role, part in parts.items()},
        "sources": {role: part.source for role, part in parts.items()},
        "labels": {role: list(own) for role, own in labels.items()},
        "digest": sha.hexdigest()[:16],
        "paraphrases": paraphrases.hexdigest()[:16] if has_paraphrases else None,
    }


def _stored(folder: Path, name: str, texts: Iterable[Sequence[str]]) -> TextLists | None:
    """The texts as they come, to be looked up by row; none if there are none."""
    with TextsWriter(folder, name) as column:
        for own in texts:
            column.add_list(own)
    return TextLists(folder, name) if len(column) else None


def _gathered(folder: Path, name: str, texts: TextLists | None, part: Part) -> Sequence[Sequence[str]]:
    if texts is None:
        return ()
    with TextsWriter(folder, name) as column:
        for own in gathered(texts, part):
            column.add_list(own)
    return TextLists(folder, name)


def _update(sha: Any, lists: Sequence[Sequence[str]]) -> None:
    """Digest the lists as one JSON text, as it would be written."""
    sha.update(b"[")
    for i, own in enumerate(lists):
        sha.update((", " * (i > 0) + json.dumps(own)).encode())
    sha.update(b"]")
