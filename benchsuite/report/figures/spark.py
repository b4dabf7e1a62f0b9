"""A curve as a picture of a line's height, for pages of runs: no library, as there are thousands of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import MANY, in_words
from benchsuite.report.figures.path import path
from benchsuite.report.figures.ruler import MINUS
from benchsuite.report.figures.words import fitted

WIDTH, HEIGHT = 220, 64
TOP, BOTTOM = 24, 60
"""Where the greatest and the least value lie; above it is text."""
MOST, FEWER = 60, 12
"""The most points that are drawn of one run, and of each of several: to whole pixels then."""
VALUE = itemgetter(1)
Pair = tuple[float, float | None]
Run = tuple[Sequence[float | None], Sequence[float | None]]
"""Steps and values."""


def sparkline(name: str, *runs: Run) -> str:
    """A small line for each run, or the mean of many with their range, on one scale, with the curve's name and the mean
    of last values; "" where there is no value. Gaps in the values are gaps."""
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
    extremes = f", least {low[1]:.4g} at step {low[0] + 1:g}, greatest {high[1]:.4g} at step {high[0] + 1:g}"
    description = (
        f"{name}{over} from step {first + 1:g} to {last + 1:g}: first {_span(run[0][1] for run in known)}, "
        f"last {_span(run[-1][1] for run in known)}"
        f"{extremes if len(known) <= MANY else ''}"
        f"{f', no value at {missing} steps' if missing else ''}."
    )
    drawn = known if "." in name else [run for run, points in zip(every, finite, strict=True) if points]
    place = Place(first, last, low[1], high[1])
    return (
        f'<svg class="spark" role="img" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<title>{escape(spelled(name))}</title><desc>{escape(spelled(description))}</desc>"
        f'<text y="13">{escape(fitted(in_words(name), 20))}</text>'
        f'<text x="{WIDTH}" y="13" class="last">'
        f"{_shown(fmean(run[-1][1] for run in known))}</text>"
        f"{(not missing and _banded(known, place)) or _lines(drawn, place)}</svg>"
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


def _lines(runs: Sequence[Sequence[Pair]], place: Place) -> str:
    """A line for each."""
    alone = len(runs) == 1
    drawn = "".join(_path(run, place, MOST if alone else FEWER) for run in runs)
    return f'<path d="{drawn}" stroke-width="{"1.5" if alone else ".75"}"/>'


def _banded(runs: Sequence[Sequence[tuple[float, float]]], place: Place) -> str:
    """The mean of many runs and the range of their values; "" of few, and of those that do not share all steps."""
    steps = [step for step, _ in runs[0]]
    if len(runs) <= MANY or any([step for step, _ in run] != steps for run in runs):
        return ""
    chosen = _thinned(len(steps), FEWER)
    at = [(steps[number], [run[number][1] for run in runs]) for number in chosen]
    lower, mean, upper = ([place.of(step, of(values)) for step, values in at] for of in (min, fmean, max))
    around = path([*lower, *reversed(upper)], decimals=0)
    band = f'<path class="band" d="{around}z"/>' if lower != upper else ""  # seeds share a schedule
    return f'{band}<path d="{path(mean)}" stroke-width="1.5"/>'


def _path(pairs: Sequence[Pair], place: Place, most: int) -> str:
    """Every n-th point and the last; beside a gap, and so perhaps alone, each point."""
    chosen = {*_thinned(len(pairs), most)}
    whole = all(value is not None and math.isfinite(value) for _, value in pairs)
    runs: list[list[tuple[float, float]]] = [[]]
    for number in sorted(chosen) if whole else range(len(pairs)):
        step, value = pairs[number]
        if value is None or not math.isfinite(value):
            runs.append([])
        elif not runs[-1] or number in chosen:
            runs[-1].append(place.of(step, value))
    return "".join(path(run, decimals=int(most == MOST)) for run in runs if run)


def _thinned(count: int, most: int) -> list[int]:
    """The numbers of every n-th point and of the last."""
    return [*range(0, count - 1, math.ceil(count / most)), count - 1]


def _finite(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    return [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]


def _shown(value: float) -> str:
    return f"{value:.3g}".replace("-", MINUS)


def _span(values: Iterable[float]) -> str:
    low, high = min(numbers := list(values)), max(numbers)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
