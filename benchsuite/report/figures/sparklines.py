"""A curve as a picture of a line's height, for pages of runs: no axes, as there are thousands of them."""

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from statistics import fmean

from markupsafe import escape

from benchsuite.analysis.curves import Curve, thinned
from benchsuite.harmless import spelled
from benchsuite.report.figures.canvas import fitted, runs
from benchsuite.report.figures.inline_svg import path
from benchsuite.report.figures.model import MANY, STEP, Axis, in_words
from benchsuite.report.figures.scale import MINUS, Scale

WIDTH, HEIGHT = 220, 64
TOP, BOTTOM = 24, 60
"""Where the greatest and the least value lie; above it is text."""
MOST, FEWER = 60, 12
"""The most points that are drawn of one run, and of each of several: to whole pixels then."""
VALUE = itemgetter(1)
Scales = tuple[Scale, Scale]
"""Of steps and of values."""


def sparkline(name: str, *curves: Curve) -> str:
    """A small line for each run, on one scale, with the curve's name and the mean of last values; "" where there is no
    value. Gaps in the values are gaps."""
    finite = [[at for at in zip(one.steps, one.values, strict=True) if math.isfinite(at[1])] for one in curves]
    shown, points = [one for one, run in zip(curves, finite, strict=True) if run], [run for run in finite if run]
    if not shown:
        return ""
    every = [point for run in points for point in run]
    low, high, first, last = min(every, key=VALUE), max(every, key=VALUE), min(every)[0], max(every)[0]
    missing = sum(len(one.steps) for one in curves) - len(every)
    over = "" if len(shown) == 1 else f" of {len(shown)} runs"
    extremes = f", least {low[1]:.4g} at step {low[0]:g}, greatest {high[1]:.4g} at step {high[0]:g}"
    description = (
        f"{name}{over} from step {first:g} to {last:g}: first {_span(run[0][1] for run in points)}, "
        f"last {_span(run[-1][1] for run in points)}"
        f"{extremes if len(shown) <= MANY else ''}"
        f"{f', no value at {missing} steps' if missing else ''}."
    )
    scales = Scale.over(STEP, (first, last), 2, WIDTH - 2, 0), Scale.over(Axis(name), (low[1], high[1]), BOTTOM, TOP, 0)
    return (
        f'<svg class="spark" role="img" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<title>{escape(spelled(name))}</title><desc>{escape(spelled(description))}</desc>"
        f'<text y="13">{escape(fitted(in_words(name), 20))}</text>'
        f'<text x="{WIDTH}" y="13" class="last">{_shown(fmean(run[-1][1] for run in points))}</text>'
        f"{_lines(shown, scales)}</svg>"
    )


def _lines(curves: Sequence[Curve], scales: Scales) -> str:
    """A line for each, whole where it has gaps."""
    most, width, decimals = (MOST, "1.5", 1) if len(curves) == 1 else (FEWER, ".75", 0)
    whole = [one if len(one.known) < len(one.values) else thinned(one, most) for one in curves]
    drawn = "".join(_path(one.steps, one.values, scales, decimals) for one in whole)
    return f'<path d="{drawn}" stroke-width="{width}"/>'


def _path(steps: Sequence[float], values: Sequence[float], scales: Scales, decimals: int) -> str:
    across, up = scales
    places = [(across.at(step), up.at(value)) for step, value in zip(steps, values, strict=True)]
    return "".join(path(run, decimals) for run in runs(places))


def _shown(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)


def _span(values: Iterable[float]) -> str:
    low, high = min(numbers := list(values)), max(numbers)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
