"""Rendering scenes: 32x32 images that are the same bytes on every machine.

Floating point meets only + - * / and comparisons, one ufunc at a time, so that no library's cosine and no fused
multiply-add can move an edge; every sum and every blend is in integers.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.synthetic.scene_world import MAIN_SIDE, OTHER_SIDE, SHAPES, SIDE, Ints, Scenes

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

PAINT = (
    (225, 30, 35), (20, 150, 45), (35, 60, 230), (250, 230, 30), (250, 125, 10),
    (130, 25, 165), (255, 135, 195), (115, 62, 20), (252, 252, 252), (12, 12, 12),
)  # fmt: skip
SOIL = ((150, 190, 125), (222, 200, 150), (110, 175, 190), (150, 150, 155), (75, 75, 120), (190, 135, 115))
_OVERSAMPLE = 4


def paint(scenes: Scenes, noise: np.random.RandomState) -> Bytes:
    """The images, [N, 32, 32, 3]. `noise` is used in the order of the images."""
    return np.concatenate([_paint(part, noise) for part in scenes.parts(1024)])


def _paint(scenes: Scenes, noise: np.random.RandomState) -> Bytes:
    facts = scenes.facts
    main, other, ground = colours(scenes.tint, facts[:, 0], facts[:, 2], facts[:, 7], facts[:, 8])
    grain = np.frombuffer(noise.bytes(len(scenes) * SIDE * SIDE * 3), dtype=np.uint8) % 12
    canvas = ground + grain.reshape(-1, SIDE, SIDE, 3).astype(np.int64) - 6
    for i, scene in enumerate(scenes):
        stamp(canvas[i], scenes.other_box[i], stencil(scene.other_shape, OTHER_SIDE[scene.small]), other[i])
        stamp(canvas[i], scenes.main_box[i], stencil(scene.main_shape, MAIN_SIDE[scene.big]), main[i])
    return np.asarray(np.clip(canvas, 0, 255), dtype=np.uint8)


def colours(tint: Ints, main: Ints, other: Ints, ground: Ints, pattern: Ints) -> tuple[Ints, Ints, Ints]:
    """Of both objects, [N, rgb], and the ground in its pattern, [N, 32, 32, rgb]: each a little shifted."""
    shift = tint[:, :9].reshape(-1, 3, 3) % 25 - 12  # [N, main | other | ground, rgb]
    soil = np.array(SOIL)[ground] + shift[:, 2]
    woven = soil[:, None, None, :] - 22 * patterns()[pattern, tint[:, 9] % 4][..., None]
    return np.array(PAINT)[main] + shift[:, 0], np.array(PAINT)[other] + shift[:, 1], woven


def stamp(canvas: Ints, box: Sequence[int] | Ints, mask: Ints, colour: Ints) -> None:
    """Put one object with its (left, top) on the canvas, over what is there."""
    left, top, side = int(box[0]), int(box[1]), len(mask)
    patch = canvas[top : top + side, left : left + side]
    full = _OVERSAMPLE * _OVERSAMPLE
    patch[:] = (patch * (full - mask) + colour * mask) // full


def patterns() -> Ints:
    """[4 patterns, 4 phases, 32, 32] of 0 and 1."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.int64)
    phases = []
    for phase in range(4):
        u, v = x + phase, y + 2 * phase
        phases.append([0 * u, v % 6 < 2, (u % 5 < 2) & (v % 5 < 2), (u // 4 + v // 4) % 2])
    return np.array(phases, dtype=np.int64).transpose(1, 0, 2, 3)


@cache
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
