"""The world of `scenes`: which two objects are shown, where they stand and on what ground.

The same seed gives the same scenes with every numpy: all randomness is `np.random.RandomState`, whose stream numpy has
frozen (NEP 19), and all arithmetic is in integers.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
T = TypeVar("T")

SIDE = 32
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "ring", "star", "heart", "moon", "arrow")
COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "white", "black")
RELATIONS = ("left", "right", "above", "below")
GROUNDS = ("grass", "sand", "water", "stone", "velvet", "clay")
PATTERNS = ("plain", "striped", "dotted", "checked")
KINDS = len(COLOURS) * len(SHAPES)
PAIRS = KINDS * KINDS
ZIPF_SHIFT = 10

MAIN_SIDE = (16, 20)  # plain, big
OTHER_SIDE = (12, 9)  # plain, small


class Scene(NamedTuple):
    """What one image shows, as indices into the tuples above: all that a caption may mention."""

    main_colour: int
    main_shape: int
    other_colour: int
    other_shape: int
    relation: int  # the main object is left of, right of, above or below the other
    big: int  # 1: the main object is drawn large
    small: int  # 1: the other object is drawn small
    ground: int
    pattern: int


@dataclass(frozen=True)
class Columns:
    """Many scenes or clips, a column each."""

    facts: Ints  # [N, F], the fields of one in order

    def __len__(self) -> int:
        return len(self.facts)

    def parts(self, size: int) -> Iterator[Self]:
        """A few at a time, in order."""
        for start in range(0, len(self), size):
            yield type(self)(*(getattr(self, field.name)[start : start + size] for field in fields(self)))


@dataclass(frozen=True)
class Scenes(Columns):
    """Many scenes. `pair_rank` 0 is the most frequent pair of objects; boxes are (left, top)."""

    pair_rank: Ints  # [N], 0 .. PAIRS - 1
    main_box: Ints  # [N, 2]
    other_box: Ints  # [N, 2]
    tint: Ints  # [N, 10], small shifts of the three colours, and the pattern's phase

    def __iter__(self) -> Iterator[Scene]:
        return (Scene(*row) for row in self.facts.tolist())


def stream(seed: int, *purpose: int) -> np.random.RandomState:
    """A frozen generator of its own for each purpose, so that one split's size never shifts another split."""
    return np.random.RandomState([seed % 2**32, seed // 2**32, *purpose])


def worded(
    things: Iterable[T], say: Callable[[T, list[int]], str], shape: tuple[int, int, int], draw: np.random.RandomState
) -> list[list[str]]:
    """Several independent texts of each thing, [things, texts, draws]: each is made from a row of draws."""
    raw: Ints = draw.randint(0, 2**31, size=shape, dtype="int64")
    return [[say(thing, row) for row in rows] for thing, rows in zip(things, raw.tolist(), strict=True)]


def zipf_weights(count: int = PAIRS, shift: int = ZIPF_SHIFT) -> Ints:
    """Zipf-Mandelbrot, 1 / (rank + shift), as integers: of the pairs rank 0 is drawn about 130 times in 10,000 images.

    Without the shift one pair would fill a tenth of the test split, and no text could tell those images apart.
    """
    return np.asarray(10**12 // (np.arange(count, dtype=np.int64) + shift + 1), dtype=np.int64)


def ranks_of(raw: Ints, weights: Ints) -> Ints:
    """The frequency rank that each raw draw falls on."""
    cumulative = np.cumsum(weights)
    return np.asarray(np.searchsorted(cumulative, raw % cumulative[-1], side="right"), dtype=np.int64)


def pairs_by_rank(seed: int) -> Ints:
    """The pair of objects at each frequency rank, as main kind * KINDS + other kind; kind = colour * 10 + shape.

    Every block of KINDS ranks holds each main kind once and each other kind once: classes stay near balance although
    pairs are far from it.
    """
    draw = stream(seed, 0)
    order = draw.permutation(KINDS)
    blocks = []
    for shift in draw.permutation(KINDS):
        main = draw.permutation(KINDS)
        blocks.append(main * KINDS + order[(main + shift) % KINDS])
    return np.concatenate(blocks).astype(np.int64)


def imagine(seed: int, split: int, count: int) -> Scenes:
    """Draw `count` scenes of a split. The first n of a longer draw are the draw of n."""
    raw = stream(seed, 1, split).randint(0, 2**62, size=(count, 32), dtype=np.int64)
    rank = ranks_of(raw[:, 0], zipf_weights())
    pair = pairs_by_rank(seed)[rank]
    main, other = pair // KINDS, pair % KINDS
    relation, big, small = raw[:, 1] % 4, raw[:, 2] % 2, raw[:, 3] % 2
    ground, pattern = raw[:, 4] % len(GROUNDS), raw[:, 5] % len(PATTERNS)
    facts = np.stack([main // 10, main % 10, other // 10, other % 10, relation, big, small, ground, pattern], axis=1)
    main_box, other_box = _place(relation, np.array(MAIN_SIDE)[big], np.array(OTHER_SIDE)[small], raw[:, 6:10])
    return Scenes(facts, rank, main_box, other_box, raw[:, 10:20])


def _place(relation: Ints, main: Ints, other: Ints, raw: Ints) -> tuple[Ints, Ints]:
    """Boxes that do not overlap along the relation's axis, and are never further apart across it than along it."""
    swapped = relation % 2 == 1  # right, below: the other object comes first
    first, second = np.where(swapped, other, main), np.where(swapped, main, other)
    start = raw[:, 0] % (SIDE - first - second + 1)
    after = start + first + raw[:, 1] % (SIDE - start - first - second + 1)
    along = np.where(swapped, after, start), np.where(swapped, start, after)
    across = (SIDE - main) // 2 + raw[:, 2] % 7 - 3, (SIDE - other) // 2 + raw[:, 3] % 7 - 3
    flat = (relation < 2)[:, None]
    boxes = [
        np.where(flat, np.stack([a, c], axis=1), np.stack([c, a], axis=1)) for a, c in zip(along, across, strict=True)
    ]
    return boxes[0], boxes[1]
