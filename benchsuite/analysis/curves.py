"""Curves of runs over the training: as stored, their mean over seeds, and fewer points of long ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchsuite.records.schema import Record

MOST = 120
"""The most points of a curve that is drawn."""


@dataclass(frozen=True)
class Curve:
    """Values at steps, which are counted from 1; NaN where there is none."""

    steps: Sequence[float]
    values: Sequence[float]

    @property
    def told(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if not math.isnan(value)]


def curve(record: Record, name: str) -> Curve:
    """A record's curve. What is evaluated now and then ("protocol.metric") has points only where it was."""
    pairs = zip(record.curves["step"], record.curves.get(name, ()), strict=False)
    found = [(step + 1, math.nan if value is None else value) for step, value in pairs if step is not None]
    if "." in name:
        found = [(step, value) for step, value in found if not math.isnan(value)]
    return Curve([step for step, _ in found], [value for _, value in found])


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean where every curve has a step; no value where any of them has none."""
    by_step = [dict(zip(one.steps, one.values, strict=True)) for one in curves]
    steps = [step for step in curves[0].steps if all(step in one for one in by_step)]
    return Curve(steps, [fmean(one[step] for one in by_step) for step in steps])


def span_of(curves: Sequence[Curve], steps: Sequence[float]) -> tuple[list[float], list[float]]:
    """The least and the greatest value of any curve at each of the steps."""
    by_step = [dict(zip(one.steps, one.values, strict=True)) for one in curves]
    at = [[one[step] for one in by_step if not math.isnan(one[step])] or [math.nan] for step in steps]
    return [min(values) for values in at], [max(values) for values in at]


def thinned(found: Curve, most: int = MOST) -> Curve:
    """Every so manieth point of a long curve, and its last one."""
    stride = math.ceil(len(found.steps) / most)
    if stride < 2:
        return found
    last = len(found.steps) - 1
    kept = [number for number in range(len(found.steps)) if number % stride == 0 or number == last]
    return Curve([found.steps[number] for number in kept], [found.values[number] for number in kept])
