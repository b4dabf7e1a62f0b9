"""The world of `scenes`: which objects stand where, and the 32x32 pictures drawn of them.

The same seed gives the same bytes on every machine and with every numpy. Randomness is `np.random.RandomState`, whose
stream numpy has frozen; floating point meets only + - * / and comparisons, one ufunc at a time, so that no
library's cosine and no fused multiply-add can move an edge; every sum and every blend is in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

SIDE = 32
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "ring", "star", "heart", "moon", "arrow")
COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "white", "black")
RELATIONS = ("left", "right", "above", "below")
GROUNDS = ("grass", "sand", "water", "stone", "velvet", "clay")
PATTERNS = ("plain", "striped", "dotted", "checked")
KINDS = len(COLOURS) * len(SHAPES)
PAIRS = KINDS * KINDS
ZIPF_SHIFT = 10

PAINT = (
    (225, 30, 35), (20, 150, 45), (35, 60, 230), (250, 230, 30), (250, 125, 10),
    (130, 25, 165), (255, 135, 195), (115, 62, 20), (252, 252, 252), (12, 12, 12),
)  # fmt: skip
SOIL = ((150, 190, 125), (222, 200, 150), (110, 175, 190), (150, 150, 155), (75, 75, 120), (190, 135, 115))
RIM = 25
MAIN_SIDE = (16, 20)  # plain, big
OTHER_SIDE = (12, 9)  # plain, small
_OVERSAMPLE = 4


class Scene(NamedTuple):
    """What one picture shows, as indices into the tuples above: all that a caption may speak of."""

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
class Scenes:
    """Many scenes, a column each. `pair_rank` 0 is the most frequent pair of objects; boxes are (left, top)."""

    facts: Ints  # [N, 9], the fields of Scene in order
    pair_rank: Ints  # [N], 0 .. PAIRS - 1
    main_box: Ints  # [N, 2]
    other_box: Ints  # [N, 2]
    tint: Ints  # [N, 10], small shifts of the three colours, and the pattern's phase

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Scene]:
        return (Scene(*row) for row in self.facts.tolist())

    def slice(self, start: int, stop: int) -> Scenes:
        """The scenes from `start` up to `stop`."""
        return Scenes(*(getattr(self, field.name)[start:stop] for field in fields(self)))


def stream(seed: int, *purpose: int) -> np.random.RandomState:
    """A frozen generator of its own for each purpose, so that one split's size never shifts another split."""
    return np.random.RandomState([seed % 2**32, seed // 2**32, *purpose])


def zipf_weights() -> Ints:
    """Zipf-Mandelbrot, 1 / (rank + shift), as integers: rank 0 is drawn about 130 times in 10,000 pictures.

    Without the shift one pair would fill a tenth of the test split, and no text could tell those pictures apart.
    """
    return np.asarray(10**12 // (np.arange(PAIRS, dtype=np.int64) + ZIPF_SHIFT + 1), dtype=np.int64)


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
    cumulative = np.cumsum(zipf_weights())
    rank = np.searchsorted(cumulative, raw[:, 0] % cumulative[-1], side="right")
    pair = pairs_by_rank(seed)[rank]
    main, other = pair // KINDS, pair % KINDS
    relation, big, small = raw[:, 1] % 4, raw[:, 2] % 2, raw[:, 3] % 2
    ground, pattern = raw[:, 4] % len(GROUNDS), raw[:, 5] % len(PATTERNS)
    facts = np.stack([main // 10, main % 10, other // 10, other % 10, relation, big, small, ground, pattern], axis=1)
    main_box, other_box = _place(relation, np.array(MAIN_SIDE)[big], np.array(OTHER_SIDE)[small], raw[:, 6:10])
    return Scenes(facts, rank.astype(np.int64), main_box, other_box, raw[:, 10:20])


def _place(relation: Ints, main: Ints, other: Ints, raw: Ints) -> tuple[Ints, Ints]:
    """Boxes that do not overlap along the relation's axis, and are never further apart across it than along it."""
    swapped = relation % 2 == 1  # right, below: the other object comes first
    first, second = np.where(swapped, other, main), np.where(swapped, main, other)
    spare = SIDE - first - second
    start = spare // 4 + raw[:, 0] % 2 * (spare > 2)
    after = start + first + (spare - start) // 2 * (raw[:, 1] % 2)
    along = np.where(swapped, after, start), np.where(swapped, start, after)
    across = (SIDE - main) // 2 + raw[:, 2] % 3 - 1, (SIDE - other) // 2 + raw[:, 3] % 7 - 3
    flat = (relation < 2)[:, None]
    boxes = [
        np.where(flat, np.stack([a, c], axis=1), np.stack([c, a], axis=1)) for a, c in zip(along, across, strict=True)
    ]
    return boxes[0], boxes[1]


def paint(scenes: Scenes, noise: np.random.RandomState) -> Bytes:
    """The pictures, [N, 32, 32, 3]. `noise` is used up in the pictures' order."""
    pictures = np.empty((len(scenes), SIDE, SIDE, 3), dtype=np.uint8)
    for start in range(0, len(scenes), 1024):
        part = scenes.slice(start, start + 1024)
        pictures[start : start + 1024] = _paint(part, noise)
    return pictures


def _paint(scenes: Scenes, noise: np.random.RandomState) -> Bytes:
    facts, tint = scenes.facts, scenes.tint
    shift = tint[:, :9].reshape(-1, 3, 3) % 25 - 12  # [N, main | other | ground, rgb]
    main = np.array(PAINT)[facts[:, 0]] + shift[:, 0]
    other = np.array(PAINT)[facts[:, 2]] + shift[:, 1]
    ground = np.array(SOIL)[facts[:, 7]] + shift[:, 2]
    grain = np.frombuffer(noise.bytes(len(scenes) * SIDE * SIDE * 3), dtype=np.uint8) % 12
    canvas = ground[:, None, None, :] - 22 * _patterns()[facts[:, 8], tint[:, 9] % 4][..., None]
    canvas = canvas + grain.reshape(-1, SIDE, SIDE, 3).astype(np.int64) - 6
    canvas = np.pad(canvas, ((0, 0), (1, 1), (1, 1), (0, 0)))
    stamps = {(shape, side): _rimmed(shape, side) for shape in range(10) for side in MAIN_SIDE + OTHER_SIDE}
    for i, scene in enumerate(scenes):
        _stamp(canvas[i], scenes.other_box[i], stamps[scene.other_shape, OTHER_SIDE[scene.small]], other[i])
        _stamp(canvas[i], scenes.main_box[i], stamps[scene.main_shape, MAIN_SIDE[scene.big]], main[i])
    return np.asarray(np.clip(canvas[:, 1:-1, 1:-1], 0, 255), dtype=np.uint8)


def _stamp(canvas: Ints, box: Ints, stamp: tuple[Ints, Ints], colour: Ints) -> None:
    """The shape in its colour over its dark rim; the canvas has a margin of one pixel for the latter."""
    mask, rim = stamp
    left, top, side = int(box[0]), int(box[1]), len(mask)
    patch = canvas[top : top + side, left : left + side]
    full = _OVERSAMPLE * _OVERSAMPLE
    patch[:] = (patch * (full - rim) + RIM * rim) // full
    patch[:] = (patch * (full - mask) + colour * mask) // full


def _rimmed(shape: int, side: int) -> tuple[Ints, Ints]:
    """A stencil with a margin of one pixel, and the same grown by one pixel.

    The rim is dark whatever the colour: without it shapes take a small tower far longer to learn than colours.
    """
    mask = np.pad(stencil(shape, side), ((1, 1), (1, 1), (0, 0)))
    rim = mask.copy()
    rim[1:] = np.maximum(rim[1:], mask[:-1])
    rim[:-1] = np.maximum(rim[:-1], mask[1:])
    rim[:, 1:] = np.maximum(rim[:, 1:], mask[:, :-1])
    rim[:, :-1] = np.maximum(rim[:, :-1], mask[:, 1:])
    return mask, rim


def _patterns() -> Ints:
    """[4 patterns, 4 phases, 32, 32] of 0 and 1."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.int64)
    drawn = []
    for phase in range(4):
        u, v = x + phase, y + 2 * phase
        drawn.append([0 * u, v % 6 < 2, (u % 5 < 2) & (v % 5 < 2), (u // 4 + v // 4) % 2])
    return np.array(drawn, dtype=np.int64).transpose(1, 0, 2, 3)


def stencil(shape: int, side: int) -> Ints:
    """How much of each pixel the shape covers, in sixteenths: [side, side, 1]."""
    fine = side * _OVERSAMPLE
    axis = (2.0 * np.arange(fine) + 1.0 - fine) / fine
    inside = _INSIDE[SHAPES[shape]](axis[None, :], axis[:, None]) & np.ones((fine, fine), dtype=bool)
    cells = inside.reshape(side, _OVERSAMPLE, side, _OVERSAMPLE).astype(np.int64)
    return np.asarray(cells.sum(axis=(1, 3))[..., None], dtype=np.int64)


def _star(u: Floats, v: Floats) -> NDArray[np.bool_]:
    """A filled pentagram is where at least four of its five lines have the point on the inner side."""
    tips = ((0.0, -1.0), (0.951, -0.309), (0.588, 0.809), (-0.588, 0.809), (-0.951, -0.309))
    inner = [(a * u + b * (v - 0.05) <= 0.34).astype(np.int64) for a, b in tips]
    return np.asarray(inner[0] + inner[1] + inner[2] + inner[3] + inner[4] >= 4)


def _heart(u: Floats, v: Floats) -> NDArray[np.bool_]:
    x, y = 1.2 * u, 0.15 - 1.15 * v
    r = x * x + y * y - 1.0
    return np.asarray(r * r * r <= x * x * y * y * y)


_INSIDE: dict[str, Callable[[Floats, Floats], NDArray[np.bool_]]] = {
    "circle": lambda u, v: u * u + v * v <= 0.9,
    "square": lambda u, v: (abs(u) <= 0.85) & (abs(v) <= 0.85),
    "triangle": lambda u, v: (v <= 0.85) & (abs(u) <= (v + 0.95) * 0.55),
    "diamond": lambda u, v: abs(u) * 1.5 + abs(v) <= 1.0,
    "cross": lambda u, v: ((abs(u) <= 0.3) & (abs(v) <= 0.95)) | ((abs(v) <= 0.3) & (abs(u) <= 0.95)),
    "ring": lambda u, v: (u * u + v * v <= 1.0) & (u * u + v * v >= 0.3),
    "star": _star,
    "heart": _heart,
    "moon": lambda u, v: (u * u + v * v <= 1.0) & ((u - 0.5) * (u - 0.5) + v * v >= 0.6),
    "arrow": lambda u, v: ((v <= 0.0) & (abs(u) <= (v + 0.98) * 0.95)) | ((v >= 0.0) & (abs(u) <= 0.28)),
}
