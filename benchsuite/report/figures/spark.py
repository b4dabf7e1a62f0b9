"""A curve as a picture of a line's height, for pages of single runs: no library, as there are thousands of them."""

import math
from collections.abc import Sequence

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import in_words
from benchsuite.report.figures.words import fitted

WIDTH, HEIGHT = 220, 64
TOP, BOTTOM = 24, 60
"""Where the greatest and the least value lie; above it is text."""
MOST = 60
"""The most points that are drawn."""


def sparkline(name: str, steps: Sequence[float | None], values: Sequence[float | None]) -> str:
    """A small line with its name and its last value; "" where there is no value. Gaps in the values are gaps."""
    pairs = [(step, value) for step, value in zip(steps, values, strict=False) if step is not None]
    points = [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]
    if not points:
        return ""
    last = points[-1][1]
    low, high = min(points, key=_value), max(points, key=_value)
    missing = len(pairs) - len(points) if "." not in name else 0
    description = (
        f"{name} from step {points[0][0] + 1:g} to {points[-1][0] + 1:g}: first {points[0][1]:.4g}, last {last:.4g}, "
        f"least {low[1]:.4g} at step {low[0] + 1:g}, greatest {high[1]:.4g} at step {high[0] + 1:g}"
        f"{f', no value at {missing} steps' if missing else ''}."
    )
    path = _path(points if "." in name else pairs, low[1], high[1])
    return (
        f'<svg class="spark" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        'font-size="13">'
        f"<title>{escape(spelled(name))}</title><desc>{escape(spelled(description))}</desc>"
        f'<text x="0" y="13" fill="currentColor">{escape(fitted(in_words(name), 20))}</text>'
        f'<text x="{WIDTH}" y="13" text-anchor="end" class="quiet" fill="currentColor">{last:.3g}</text>'
        f'<path class="s1" d="{path}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" '
        'stroke-linecap="round"/></svg>'
    )


def _path(pairs: Sequence[tuple[float, float | None]], low: float, high: float) -> str:
    first, last = pairs[0][0], pairs[-1][0]
    across = (WIDTH - 4) / (last - first) if last > first else 0.0
    up = (BOTTOM - TOP) / (high - low) if high > low else 0.0
    base = BOTTOM if up else (TOP + BOTTOM) / 2
    stride = math.ceil(len(pairs) / MOST)
    path, drawn, alone = "", False, False
    for number, (step, value) in enumerate(pairs):
        if value is None or not math.isfinite(value):
            path += "h0" if alone else ""
            drawn = alone = False
        elif not drawn or number % stride == 0 or number == len(pairs) - 1:
            path += f"{'L' if drawn else 'M'}{2 + (step - first) * across:.1f} {base - (value - low) * up:.1f}"
            drawn, alone = True, not drawn
    return path + ("h0" if alone else "")


def _value(point: tuple[float, float]) -> float:
    return point[1]
