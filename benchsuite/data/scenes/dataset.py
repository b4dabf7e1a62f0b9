"""Building `scenes` once, keeping it as Arrow, and reading it back quickly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data import builds
from benchsuite.data.scenes import drawing, grammar, world

NAME, VERSION = "scenes", 1
SPLITS: dict[str, int] = {"train": 12_000, "validation": 1_000, "test": 1_000, "gallery": 200}
"""The splits and their default sizes; `gallery` is a second, smaller test set of other pictures."""
SEED, MISMATCHED, WORDINGS = 2024, 0.05, 5
LABELS = ("shape", "colour", "both")
MANIFEST = builds.MANIFEST


@dataclass(frozen=True)
class SceneSplit:
    """One split, in order. A pair that is not `matched` carries the wordings of another training picture.

    `labels` are classes of the main object, indices into `CLASS_NAMES`; they belong to the picture, matched or not.
    `pair_rank` is the frequency rank of the picture's pair of objects, 0 the most frequent.
    """

    images: NDArray[np.uint8]  # [N, 32, 32, 3]
    captions: list[list[str]]  # N x 5
    paraphrases: list[list[str]]  # N x 5
    labels: dict[str, NDArray[np.int64]]  # "shape", "colour", "both": [N]
    pair_rank: NDArray[np.int64]  # [N]
    matched: NDArray[np.bool_]  # [N]

    def __len__(self) -> int:
        return len(self.images)

    @property
    def tail(self) -> NDArray[np.bool_]:
        """Whether the pair of objects is one of the rarer pairs that together fill half of all pictures."""
        return np.asarray(self.pair_rank >= head_ranks())

    def digest(self) -> str:
        """sha256 over the canonical bytes of every column, each preceded by its name and length."""
        columns = {
            "images": np.ascontiguousarray(self.images).tobytes(),
            "captions": builds.canonical(self.captions),
            "paraphrases": builds.canonical(self.paraphrases),
            **{name: self.labels[name].astype("<i8").tobytes() for name in LABELS},
            "pair_rank": self.pair_rank.astype("<i8").tobytes(),
            "matched": self.matched.astype("u1").tobytes(),
        }
        return builds.digest(columns)


def head_ranks() -> int:
    """How many of the most frequent pairs fill just over half of all pictures."""
    filled = np.cumsum(world.zipf_weights())
    return int(np.searchsorted(2 * filled, filled[-1], side="right")) + 1


def generate(
    seed: int = SEED, sizes: Mapping[str, int] = SPLITS, mismatched: float = MISMATCHED
) -> dict[str, SceneSplit]:
    """All splits, in memory. A short split is the beginning of a longer one, but for which pairs are mismatched."""
    _check(seed, sizes, mismatched)
    return {split: _generate(seed, split, count, mismatched) for split, count in sizes.items()}


def _generate(seed: int, split: str, count: int, mismatched: float) -> SceneSplit:
    number = list(SPLITS).index(split)
    scenes = world.imagine(seed, number, count)
    images = drawing.paint(scenes, world.stream(seed, 3, number))
    captions, paraphrases = (grammar.wordings(scenes, count, WORDINGS, seed, number, purpose) for purpose in (0, 1))
    matched = np.ones(count, dtype=bool)
    if split == "train":
        wrong = world.stream(seed, 4).permutation(count)[: _wrong_pairs(count, mismatched)]
        matched[wrong] = False
        source = np.arange(count)
        source[wrong] = np.roll(wrong, 1)
        captions = [captions[i] for i in source]
        paraphrases = [paraphrases[i] for i in source]
    colour, shape = scenes.facts[:, 0], scenes.facts[:, 1]
    labels = {"shape": shape, "colour": colour, "both": colour * len(world.SHAPES) + shape}
    return SceneSplit(images, captions, paraphrases, labels, scenes.pair_rank, matched)


def _wrong_pairs(count: int, mismatched: float) -> int:
    """A single wrong pair would have no partner to swap with."""
    wrong = round(count * mismatched)
    return wrong if wrong != 1 else 2


def describe(splits: Mapping[str, SceneSplit], seed: int, mismatched: float) -> dict[str, Any]:
    """The manifest: what was asked for, and a digest of what came out."""
    digests = {name: split.digest() for name, split in splits.items()}
    return {
        **_request(seed, {name: len(split) for name, split in splits.items()}, mismatched),
        "digests": digests,
        "digest": builds.digest_of(digests),
    }


def _request(seed: int, sizes: Mapping[str, int], mismatched: float) -> dict[str, Any]:
    return {
        "name": NAME,
        "version": VERSION,
        "parameters": {
            "seed": seed,
            "mismatched": mismatched,
            "wordings": WORDINGS,
            "side": world.SIDE,
            "zipf_shift": world.ZIPF_SHIFT,
            "silence": grammar.SILENCE,
        },
        "sizes": dict(sizes),
    }


def build(folder: Path, seed: int = SEED, sizes: Mapping[str, int] = SPLITS, mismatched: float = MISMATCHED) -> Path:
    """The folder of this data set under a cache folder, generated if it is not there yet."""
    _check(seed, sizes, mismatched)

    def write(draft: Path) -> dict[str, Any]:
        splits = generate(seed, sizes, mismatched)
        for name, split in splits.items():
            _save(split, draft / name)
        return describe(splits, seed, mismatched)

    return builds.build(builds.place_of(folder, _request(seed, sizes, mismatched)), write)


def load(path: Path) -> dict[str, SceneSplit]:
    """The splits of a build, pictures as one contiguous array each."""
    return {name: _load(path / name) for name in manifest(path)["sizes"]}


def manifest(path: Path) -> dict[str, Any]:
    """What `describe` said when the folder was built."""
    return builds.manifest(path, NAME)


def verify(path: Path) -> list[str]:
    """The splits whose bytes are no longer those of the manifest."""
    told = manifest(path)["digests"]
    return [name for name, split in load(path).items() if split.digest() != told[name]]


def _save(split: SceneSplit, folder: Path) -> None:
    columns = {
        "image": [picture.tobytes() for picture in split.images],
        "captions": split.captions,
        "paraphrases": split.paraphrases,
        **split.labels,
        "pair_rank": split.pair_rank,
        "matched": split.matched,
    }
    types = {
        "image": "binary",
        "captions": ["string"],
        "paraphrases": ["string"],
        **dict.fromkeys((*LABELS, "pair_rank"), "int64"),
        "matched": "bool",
    }
    builds.save(columns, types, folder)


def _load(folder: Path) -> SceneSplit:
    import datasets

    table = datasets.load_from_disk(folder).data
    pictures = np.frombuffer(b"".join(table.column("image").to_pylist()), dtype=np.uint8)
    return SceneSplit(
        images=pictures.reshape(-1, world.SIDE, world.SIDE, 3),
        captions=table.column("captions").to_pylist(),
        paraphrases=table.column("paraphrases").to_pylist(),
        labels={name: table.column(name).to_numpy() for name in LABELS},
        pair_rank=table.column("pair_rank").to_numpy(),
        matched=table.column("matched").to_numpy(),
    )


def _check(seed: int, sizes: Mapping[str, int], mismatched: float) -> None:
    if not 0 <= seed < 2**64:
        raise ValueError(f"{NAME}: the seed must be at least 0 and below 2**64, not {seed}")
    if strange := sorted(set(sizes) - set(SPLITS)):
        raise ValueError(f"{NAME} has no split {strange[0]!r}; its splits are {', '.join(SPLITS)}")
    for name, count in sizes.items():
        if count < 1:
            raise ValueError(f"{NAME}: the {name} split must hold at least one picture, not {count}")
    if not 0.0 <= mismatched <= 1.0:
        raise ValueError(f"{NAME}: the mismatched share must lie in [0, 1], not {mismatched}")
