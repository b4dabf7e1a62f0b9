"""What synthetic data sets share: they are generated from a seed, digested column by column, and kept in the cache."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Lt

from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.cached import Column, Columns, load, made_once, save
from benchsuite.errors import UsageError
from benchsuite.paths import cache


class Synthetic(PairDataset):
    """Base of synthetic data sets: annotate a size for each split, say what a split's columns are, register it."""

    version: ClassVar[int]
    """Raise it whenever the same options give other bytes."""
    splits: ClassVar[Sequence[str]]
    """Each is a field too: its size."""
    labels: ClassVar[Sequence[str]]
    """The columns that are class ids."""

    seed: Annotated[int, Ge(0), Lt(2**64)] = 2024
    """Of the data, not of a run."""

    @abstractmethod
    def columns(self, split: str) -> Columns:
        """The split, generated: images, captions and paraphrases if any, then all others, in the digest's order."""

    def manifest(self) -> Manifest:
        digest = json.loads((self._folder / "manifest.json").read_text("utf-8"))["digest"]
        sizes = {split: len(np.load(self._folder / split / "images.npy", mmap_mode="r")) for split in self.splits}
        return Manifest(self.card.name, self.version, sizes, digest)

    def read(self, split: str) -> Split:
        columns: Mapping[str, Any] = load(self._folder / split)
        labels = {name: columns[name] for name in self.labels}
        texts = {name: columns[name] for name in ("captions", "paraphrases") if name in columns}
        return Split(split, columns["images"], labels=labels, **texts)

    @cached_property
    def _folder(self) -> Path:
        key = hashlib.sha256(json.dumps(self.options(), sort_keys=True).encode()).hexdigest()[:12]
        return made_once(cache() / "synthetic" / f"{self.card.name}-v{self.version}-{key}", self._build)

    def _build(self, draft: Path) -> None:
        digests = {}
        for split in self.splits:
            try:
                columns = self.columns(split)
                digests[split] = digest(columns)
            except MemoryError as error:
                what = f"{split} = {getattr(self, split):,} takes more memory than there is"
                raise UsageError(f"{self.card.name}: {what}. Take a smaller split.") from error
            save(columns, draft / split)
        manifest = {"name": self.card.name, "options": self.options(), "digest": digest_of(digests)}
        (draft / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def digest(columns: Columns) -> str:
    """SHA-256 over the canonical bytes of every column, each preceded by its name and length."""
    sha = hashlib.sha256()
    for name, column in columns.items():
        content = canonical(column)
        sha.update(f"{name} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()


def digest_of(digests: Mapping[str, str]) -> str:
    """One digest of several."""
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def canonical(column: Column) -> bytes:
    """The bytes of a column, the same on every machine: numbers with the lowest byte first, texts as ASCII JSON."""
    if isinstance(column, list):
        return json.dumps(column, separators=(",", ":")).encode()
    return column.astype(column.dtype.newbyteorder("<")).tobytes()
