"""A curve as a picture of a line's height, for pages of runs: no library, as there are thousands of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import in_words
from benchsuite.report.figures.words import fitted

WIDTH, HEIGHT = 220, 64
TOP, BOTTOM = 24, 60
"""Where the greatest and the least value lie; above it is text."""
MOST, FEWER = 60, 20
"""The most points that are drawn of one run, and of each of several: to whole pixels then."""
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
    low = min((min(run, key=_value) for run in known), key=_value)
    high = max((max(run, key=_value) for run in known), key=_value)
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
    drawn = known if "." in name else [run for run, points in zip(every, finite, strict=True) if points]
    path = "".join(_path(run, place, most) for run in drawn)
    thin = "1.5" if len(known) == 1 else ".75"
    return (
        f'<svg class="spark" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        'font-size="13">'
        f"<title>{escape(spelled(name))}</title><desc>{escape(spelled(description))}</desc>"
        f'<text x="0" y="13" fill="currentColor">{escape(fitted(in_words(name), 20))}</text>'
        f'<text x="{WIDTH}" y="13" text-anchor="end" class="quiet" fill="currentColor">'
        f"{fmean(run[-1][1] for run in known):.3g}</text>"
        f'<path class="s1" d="{path}" fill="none" stroke="currentColor" stroke-width="{thin}" stroke-linejoin="round" '
        'stroke-linecap="round"/></svg>'
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


def _path(pairs: Sequence[tuple[float, float | None]], place: Place, most: int) -> str:
    stride, digits = math.ceil(len(pairs) / most), int(most == MOST)
    path, drawn, alone = "", False, False
    whole = all(value is not None and math.isfinite(value) for _, value in pairs)
    numbers = sorted({*range(0, len(pairs), stride), len(pairs) - 1}) if whole else range(len(pairs))
    for number in numbers:
        step, value = pairs[number]
        if value is None or not math.isfinite(value):
            path += "h0" if alone else ""
            drawn = alone = False
        elif not drawn or number % stride == 0 or number == len(pairs) - 1:
            x, y = place.of(step, value)
            path += f"{'L' if drawn else 'M'}{x:.{digits}f} {y:.{digits}f}"
            drawn, alone = True, not drawn
    return path + ("h0" if alone else "")


def _finite(pairs: Sequence[tuple[float, float | None]]) -> list[tuple[float, float]]:
    return [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]


def _span(values: Iterable[float]) -> str:
    low, high = min(numbers := list(values)), max(numbers)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _value(point: tuple[float, float]) -> float:
    return point[1]
