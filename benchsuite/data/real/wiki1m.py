"""Sentences alone, one a line: what SimCSE trains on."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.real.files import files_digest, read_text, require_file, require_folder
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

FILE = "wiki1m_for_simcse.txt"
LAYOUT = f"{FILE}, a sentence a line"


@register_dataset("wiki1m", title="Wiki1M", license="CC BY-SA 3.0", download=True)
class Wiki1M(PairDataset):
    """A million sentences of Wikipedia, for a text tower alone; there are no pictures.

    Read from SimCSE's wiki1m_for_simcse.txt. Split train. Pictures are of 0 by 0 pixels: as many as sentences, but
    nothing to see.
    """

    shows: ClassVar = "nothing"
    folder: str = ""
    """Where the file lies. No part of a setup's identity; the digest is."""
    limit: Count | None = None
    """How many sentences: the first ones; all if not given."""

    def manifest(self) -> Manifest:
        digest = short_digest([files_digest({FILE: self._file}), self.limit])
        return Manifest("wiki1m", 1, {"train": len(self._sentences)}, digest)

    def read(self, split: str) -> Split:
        return Split(split, nothing_to_see(len(self._sentences)), [[text] for text in self._sentences])

    @cached_property
    def _file(self) -> Path:
        return require_file(require_folder("wiki1m", self.folder, LAYOUT) / FILE, LAYOUT)

    @cached_property
    def _sentences(self) -> list[str]:
        found = [text for line in read_text(self._file).split("\n") if (text := line.strip())][: self.limit]
        if not found or (self.limit is not None and len(found) < self.limit):
            raise UsageError(f"{self._file}: {len(found)} sentences; {self.limit or 1} are needed.")
        return found


def nothing_to_see(count: int) -> np.ndarray:
    """That many pictures of no pixel: the place of pictures where there is only text."""
    return np.zeros((count, 0, 0, 3), np.uint8)
