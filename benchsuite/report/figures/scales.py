"""From values to places in a drawing, with few round ticks."""

import math
from collections.abc import Sequence
from functools import cached_property

from matplotlib.ticker import LogLocator, MaxNLocator

from benchsuite.report.figures.model import Axis

ROOM = 0.04
"""How far an axis reaches beyond its values, as a share of their range."""
STEPS = [1, 2, 2.5, 5, 10]
"""Between ticks, times a power of ten."""
SAME = 1e-6
"""Values nearer to each other than that, beside their size, are one."""


class Scale:
    """One axis of a drawing: from its values to pixels."""

    def __init__(
        self, axis: Axis, values: Sequence[float], start: float, end: float, ticks: int = 5, within: float = ROOM
    ) -> None:
        shown = [axis.shown(value) for value in values if math.isfinite(value)]
        self._axis, self._start, self._end, self._most = axis, start, end, ticks
        low, high = self._placed(min(shown)), self._placed(max(shown))
        room = (high - low) * within
        if high - low <= SAME * max(abs(low), abs(high)):
            room = abs(high) * 0.1 or 1.0
        self._low, self._high = low - room, high + room

    def at(self, value: float) -> float:
        """Where a value lies."""
        share = (self._placed(self._axis.shown(value)) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def all(self, values: Sequence[float]) -> list[float]:
        """Where they lie."""
        return [self.at(value) for value in values]

    @cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """Where they are, and what they say."""
        low, high = self._low, self._high
        if self._axis.log:
            low, high = 10**low, 10**high
            subs = (1.0,) if math.log10(high / low) > 2 else (1.0, 2.0, 5.0)
            found = LogLocator(subs=subs, numticks=self._most + 2).tick_values(low, high)
        else:
            found = MaxNLocator(self._most, steps=STEPS, integer=self._axis.whole).tick_values(low, high)
        inside = [float(tick) for tick in found if low <= tick <= high]
        size = max((abs(tick) for tick in inside), default=0.0)
        return [(self._pixel(tick), _label(tick, size)) for tick in inside]

    def _pixel(self, shown: float) -> float:
        share = (self._placed(shown) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def _placed(self, shown: float) -> float:
        return math.log10(shown) if self._axis.log else shown


def _label(tick: float, size: float) -> str:
    """Rounded so that what is left of computing it does not show; thousands as k, with a true minus."""
    rounded = 0.0 if abs(tick) < 1e-9 * size else tick
    for limit, factor, unit in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= limit:
            return f"{rounded / factor:.6g}{unit if rounded else ''}".replace("-", "−")
    return f"{rounded:.6g}".replace("-", "−")
