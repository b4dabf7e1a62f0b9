"""Building `clips` once, keeping it as Arrow, and reading it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data import builds
from benchsuite.data.clips import drawing, grammar, world

NAME, VERSION = "clips", 1
SPLITS: dict[str, int] = {"train": 6_000, "validation": 500, "test": 1_000}
"""The splits and their default sizes."""
SEED, NARRATIONS = 2024, 5
LABELS = ("verb", "noun", "verb_noun")


@dataclass(frozen=True)
class ClipSplit:
    """One split, in order. `labels` are indices into `CLASS_NAMES`; a clip's `noun` is the object that is moved.

    `nouns` is the set of noun classes in sight: the moved object and, or -1, the one beside it.
    """

    images: NDArray[np.uint8]  # [N, 8, 32, 32, 3]
    captions: list[list[str]]  # N x 5
    paraphrases: list[list[str]]  # N x 5
    labels: dict[str, NDArray[np.int64]]  # "verb", "noun", "verb_noun": [N]
    nouns: NDArray[np.int64]  # [N, 2]

    def __len__(self) -> int:
        return len(self.images)

    def digest(self) -> str:
        """sha256 over the canonical bytes of every column."""
        columns = {
            "images": np.ascontiguousarray(self.images).tobytes(),
            "captions": builds.canonical(self.captions),
            "paraphrases": builds.canonical(self.paraphrases),
            **{name: self.labels[name].astype("<i8").tobytes() for name in LABELS},
            "nouns": np.ascontiguousarray(self.nouns, "<i8").tobytes(),
        }
        return builds.digest(columns)


def generate(seed: int = SEED, sizes: Mapping[str, int] = SPLITS) -> dict[str, ClipSplit]:
    """All splits, in memory. A short split is the beginning of a longer one."""
    _check(seed, sizes)
    return {split: _generate(seed, split, count) for split, count in sizes.items()}


def _generate(seed: int, split: str, count: int) -> ClipSplit:
    number = list(SPLITS).index(split)
    clips = world.imagine(seed, number, count)
    images = drawing.paint(clips, world.stream(seed, 13, number))
    captions, paraphrases = (grammar.narrations(clips, count, NARRATIONS, seed, number, purpose) for purpose in (0, 1))
    verb, noun = clips.facts[:, 0], clips.facts[:, 1]
    labels = {"verb": verb, "noun": noun, "verb_noun": verb * world.NOUNS + noun}
    return ClipSplit(images, captions, paraphrases, labels, clips.facts[:, 1:3])


def describe(splits: Mapping[str, ClipSplit], seed: int) -> dict[str, Any]:
    """The manifest: what was asked for, and a digest of what came out."""
    digests = {name: split.digest() for name, split in splits.items()}
    request = _request(seed, {name: len(split) for name, split in splits.items()})
    return {**request, "digests": digests, "digest": builds.digest_of(digests)}


def _request(seed: int, sizes: Mapping[str, int]) -> dict[str, Any]:
    parameters = {
        "seed": seed,
        "narrations": NARRATIONS,
        "frames": world.FRAMES,
        "side": world.SIDE,
        "zipf_shift": {"verb": world.VERB_SHIFT, "noun": world.NOUN_SHIFT},
        "silence": grammar.SILENCE,
    }
    return {"name": NAME, "version": VERSION, "parameters": parameters, "sizes": dict(sizes)}


def build(folder: Path, seed: int = SEED, sizes: Mapping[str, int] = SPLITS) -> Path:
    """The folder of this dataset under a cache folder, generated if it is not there yet."""
    _check(seed, sizes)

    def write(draft: Path) -> dict[str, Any]:
        splits = generate(seed, sizes)
        for name, split in splits.items():
            _save(split, draft / name)
        return describe(splits, seed)

    return builds.build(builds.place_of(folder, _request(seed, sizes)), write)


def load(path: Path) -> dict[str, ClipSplit]:
    """The splits of a build, clips as one contiguous array each."""
    return {name: _load(path / name) for name in manifest(path)["sizes"]}


def manifest(path: Path) -> dict[str, Any]:
    """What `describe` said when the folder was built."""
    return builds.manifest(path, NAME)


def verify(path: Path) -> list[str]:
    """The splits whose bytes are no longer those of the manifest."""
    told = manifest(path)["digests"]
    return [name for name, split in load(path).items() if split.digest() != told[name]]


def _save(split: ClipSplit, folder: Path) -> None:
    columns = {
        "clip": [clip.tobytes() for clip in split.images],
        "captions": split.captions,
        "paraphrases": split.paraphrases,
        **split.labels,
        "nouns": split.nouns.tolist(),
    }
    types = {
        "clip": "binary",
        "captions": ["string"],
        "paraphrases": ["string"],
        **dict.fromkeys(LABELS, "int64"),
        "nouns": ["int64"],
    }
    builds.save(columns, types, folder)


def _load(folder: Path) -> ClipSplit:
    import datasets

    table = datasets.load_from_disk(folder).data
    films = np.frombuffer(b"".join(table.column("clip").to_pylist()), dtype=np.uint8)
    return ClipSplit(
        images=films.reshape(-1, world.FRAMES, world.SIDE, world.SIDE, 3),
        captions=table.column("captions").to_pylist(),
        paraphrases=table.column("paraphrases").to_pylist(),
        labels={name: table.column(name).to_numpy() for name in LABELS},
        nouns=np.array(table.column("nouns").to_pylist(), dtype=np.int64),
    )


def _check(seed: int, sizes: Mapping[str, int]) -> None:
    if not 0 <= seed < 2**64:
        raise ValueError(f"{NAME}: the seed must be at least 0 and below 2**64, not {seed}")
    if strange := sorted(set(sizes) - set(SPLITS)):
        raise ValueError(f"{NAME} has no split {strange[0]!r}; its splits are {', '.join(SPLITS)}")
    for name, count in sizes.items():
        if count < 1:
            raise ValueError(f"{NAME}: the {name} split must hold at least one clip, not {count}")
