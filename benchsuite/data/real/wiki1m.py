"""Wiki1M: the sentences that SimCSE trains on, one a line."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.readers.files import files_digest, read_text, require_file, require_folder
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

FILE = "wiki1m_for_simcse.txt"
LAYOUT = f"{FILE}, a sentence a line"


@register_dataset("wiki1m", title="Wiki1M", license="CC BY-SA 3.0", download=True)
class Wiki1M(PairDataset):
    """A million sentences of Wikipedia, for a text tower alone; there are no images.

    Read from SimCSE's wiki1m_for_simcse.txt. Split train. Its images have 0 by 0 pixels, one for
    each sentence.
    """

    shows: ClassVar = "nothing"
    folder: str = ""
    """Where the file is. Not part of the identity; the digest is."""
    limit: Count | None = None
    """How many sentences: the first ones; all if not given."""

    def manifest(self) -> Manifest:
        digest = short_digest([files_digest({FILE: self._file}), self.limit])
        return Manifest("wiki1m", 1, {"train": len(self._sentences)}, digest)

    def read(self, split: str) -> Split:
        no_images = np.zeros((len(self._sentences), 0, 0, 3), np.uint8)
        return Split(split, no_images, [[text] for text in self._sentences])

    @cached_property
    def _file(self) -> Path:
        return require_file(require_folder("wiki1m", self.folder, LAYOUT) / FILE, LAYOUT)

    @cached_property
    def _sentences(self) -> list[str]:
        lines = read_text(self._file, lines=False).split("\n")
        sentences = [text for line in lines if (text := line.strip())][: self.limit]
        if not sentences or (self.limit is not None and len(sentences) < self.limit):
            raise UsageError(f"{self._file}: {len(sentences)} sentences; {self.limit or 1} are needed.")
        return sentences
