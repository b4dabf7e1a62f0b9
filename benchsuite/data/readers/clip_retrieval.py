"""Folders as clip-retrieval's `clip inference` writes them: img_emb and text_emb, a file of each a partition.

Row i of `img_emb_0.npy` and row i of `text_emb_0.npy` are a pair. Metadata are not read.
"""

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.readers.files import content_digests
from benchsuite.data.vectors import Lists, Source, mapped
from benchsuite.errors import UsageError

LAYOUT = "img_emb/img_emb_0.npy and text_emb/text_emb_0.npy as clip-retrieval writes them"
KINDS = {"image": "img_emb", "caption": "text_emb"}


class ClipRetrievalFolder:
    """A folder in this layout: one split, without classes and paraphrases."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.class_names: dict[str, list[str]] = {}
        self.templates: dict[str, list[str]] = {}
        self._files = {kind: partitions(folder, name) for kind, name in KINDS.items()}
        image, text = self._files["image"], self._files["caption"]
        if not image:
            raise UsageError(f"{folder}: no partition is there; it must hold {LAYOUT}.")
        if lonely := sorted(set(image) ^ set(text)):
            have = "img_emb" if lonely[0] in image else "text_emb"
            raise UsageError(f"{folder}: partition {lonely[0]} is in {have} alone; each needs images and texts.")

    @cached_property
    def digest(self) -> str:
        """Of the bytes of all vectors, in order."""
        files = {f"{kind}/{number}": path for kind, own in self._files.items() for number, path in own.items()}
        return short_digest(["clip-retrieval", content_digests(files)])

    def sizes(self) -> dict[str, int]:
        """Pairs; all are to train on."""
        return {"train": sum(len(shard) for shard in self._shards["image"])}

    def source(self, split: str) -> Source:
        images, texts = self._shards["image"], self._shards["caption"]
        return Source(images, Lists(texts, np.broadcast_to(np.int64(1), (self.sizes()[split],))))

    def prompts(self, classes: str, templates: str) -> NDArray[Any]:
        raise UsageError(f"{self._folder}: clip-retrieval's layout has no classes.")

    @cached_property
    def _shards(self) -> dict[str, list[NDArray[Any]]]:
        shards = {kind: [mapped(path) for path in own.values()] for kind, own in self._files.items()}
        for number, image, text in zip(self._files["image"], *shards.values(), strict=True):
            if len(image) != len(text):
                rows = {"img_emb": len(image), "text_emb": len(text)}
                raise UsageError(f"{self._folder}, partition {number}: rows differ: {rows}. Row i must be one pair.")
        return shards


def partitions(folder: Path, name: str) -> dict[int, Path]:
    """The files of a kind by partition, in order of the number, with or without leading zeros."""
    found: dict[int, Path] = {}
    for path in sorted((folder / name).glob(f"{name}_*.npy")):
        if match := re.fullmatch(rf"{name}_(\d+)\.npy", path.name):
            if (number := int(match[1])) in found:
                raise UsageError(f"{path}: partition {number} is there twice, as {found[number].name} too.")
            found[number] = path
    return dict(sorted(found.items()))
