"""Room for the numbers of points: none lies on another, also where points coincide."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from benchsuite.report.figures.style import DIGIT, POINT, RINGS

Box = tuple[float, float, float, float]
"""Middle and size."""


def make_room(axes: Axes, texts: Sequence[Text]) -> None:
    """Move each number from its point to where it covers no other number and no point, if there is such a place."""
    points = [axes.transData.transform(text.get_position()) for text in texts]
    frame = axes.get_window_extent().padded(DIGIT[1])
    taken: list[Box] = [(x, y, POINT, POINT) for x, y in points]
    for (x, y), text in zip(points, texts, strict=True):
        size = DIGIT[0] * len(text.get_text()), DIGIT[1]
        around = [(r * np.cos(a), r * np.sin(a)) for r in RINGS for a in np.arange(0, 2 * np.pi, np.pi / 4)]
        inside = [(dx, dy) for dx, dy in around if frame.contains(x + dx, y + dy)]
        dx, dy = min(inside, key=lambda move: sum(_meet((x + move[0], y + move[1], *size), box) for box in taken))
        taken.append((x + dx, y + dy, *size))
        text.set_transform(offset_copy(axes.transData, axes.get_figure(root=True), dx, dy, units="points"))


def _meet(a: Box, b: Box) -> bool:
    return abs(a[0] - b[0]) < (a[2] + b[2]) / 2 and abs(a[1] - b[1]) < (a[3] + b[3]) / 2
