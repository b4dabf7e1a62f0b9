"""A curve as a picture of a line's height, for pages of runs: no library, as there are thousands of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import in_words
from benchsuite.report.figures.path import path
from benchsuite.report.figures.words import fitted

WIDTH, HEIGHT = 220, 64
TOP, BOTTOM = 24, 60
"""Where the greatest and the least value lie; above it is text."""
MOST, FEWER = 60, 20
"""The most points that are drawn of one run, and of each of several: to whole pixels then."""
VALUE = itemgetter(1)
Pair = tuple[float, float | None]
Run = tuple[Sequence[float | None], Sequence[float | None]]
"""Steps and values."""


def sparkline(name: str, *runs: Run) -> str:
    """A small line for each run, on one scale, with the curve's name and the mean of last values; "" where there is no
    value. Gaps in the values are gaps."""
    every = [[(step, value) for step, value in zip(*run, strict=False) if step is not None] for run in runs]
    finite = [_finite(run) for run in every]
    known = [run for run in finite if run]
    if not known:
        return ""
    low = min((min(run, key=VALUE) for run in known), key=VALUE)
    high = max((max(run, key=VALUE) for run in known), key=VALUE)
    first, last = min(min(run)[0] for run in known), max(max(run)[0] for run in known)
    missing = sum(map(len, every)) - sum(map(len, known)) if "." not in name else 0
    over = "" if len(known) == 1 else f" of {len(known)} runs"
    description = (
        f"{name}{over} from step {first + 1:g} to {last + 1:g}: first {_span(run[0][1] for run in known)}, "
        f"last {_span(run[-1][1] for run in known)}, "
        f"least {low[1]:.4g} at step {low[0] + 1:g}, greatest {high[1]:.4g} at step {high[0] + 1:g}"
        f"{f', no value at {missing} steps' if missing else ''}."
    )
    most = MOST if len(known) == 1 else FEWER
    place = Place(first, last, low[1], high[1])
    drawn = "".join(
        _path(points, True, place, most) if "." in name or len(points) == len(run) else _path(run, False, place, most)
        for run, points in zip(every, finite, strict=True)
        if points
    )
    thin = "1.5" if len(known) == 1 else ".75"
    return (
        f'<svg class="spark" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        'font-size="13">'
        f"<title>{escape(spelled(name))}</title><desc>{escape(spelled(description))}</desc>"
        f'<text y="13">{escape(fitted(in_words(name), 20))}</text>'
        f'<text x="{WIDTH}" y="13" text-anchor="end" class="quiet">'
        f"{fmean(run[-1][1] for run in known):.3g}</text>"
        f'<path d="{drawn}" stroke-width="{thin}"/></svg>'
    )


@dataclass(frozen=True)
class Place:
    """What the picture holds: steps from left to right, values from below."""

    first: float
    last: float
    low: float
    high: float

    def of(self, step: float, value: float) -> tuple[float, float]:
        """A point of the picture."""
        across = (step - self.first) / (self.last - self.first) if self.last > self.first else 0.0
        up = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return 2 + across * (WIDTH - 4), BOTTOM - up * (BOTTOM - TOP)


def _path(pairs: Sequence[Pair], whole: bool, place: Place, most: int) -> str:
    """Every n-th point and the last; beside a gap, and so perhaps alone, each point."""
    stride, last = math.ceil(len(pairs) / most), len(pairs) - 1
    runs: list[list[tuple[float, float]]] = [[]]
    for number in [*range(0, last, stride), last] if whole else range(len(pairs)):
        step, value = pairs[number]
        if value is None or not math.isfinite(value):
            runs.append([])
        elif not runs[-1] or number % stride == 0 or number == last:
            runs[-1].append(place.of(step, value))
    return "".join(path(run, decimals=int(most == MOST)) for run in runs if run)


def _finite(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    return [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]


def _span(values: Iterable[float]) -> str:
    low, high = min(numbers := list(values)), max(numbers)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
