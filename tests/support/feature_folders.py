"""Folders of vectors in clip-retrieval's layout."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def pairs_of(count: int, width: int = 8) -> NDArray[np.float16]:
    """[2, count, width]: images and texts; each row begins with its number."""
    made = np.random.default_rng(0).normal(size=(2, count, width)).astype(np.float16)
    made[:, :, 0] = np.arange(count)
    return made


def write_clip_retrieval(folder: Path, pairs: NDArray[np.floating], bounds: Sequence[int] = ()) -> Path:
    """Images pairs[0] and texts pairs[1], in partitions that end at `bounds` and at the last row."""
    for name in ("img_emb", "text_emb"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for i, (start, stop) in enumerate(itertools.pairwise((0, *bounds, pairs.shape[1]))):
        for name, rows in zip(("img_emb", "text_emb"), pairs, strict=True):
            np.save(folder / name / f"{name}_{i}.npy", rows[start:stop])
    return folder
