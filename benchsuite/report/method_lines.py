"""A method beside the reference as lines of forest plots: one for each board, better to the right."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from benchsuite.analysis.against import Against, Outcome, RelativeCost, all_tuned, principal
from benchsuite.analysis.boards import BoardRow
from benchsuite.report.figures.chart import Scale
from benchsuite.report.figures.model import Estimate
from benchsuite.report.figures.strips import ruler
from benchsuite.report.numbers import counted, paired

COLOURS = {"better": "reproduced", "worse": "opposite"}
"""Verdicts whose colours differences between rows have, too."""
OUTCOMES: tuple[Outcome, ...] = ("better", "worse", "equivalent", "undecided", "not compared")
"""In the order in which pages list them."""


@dataclass(frozen=True)
class MethodLine:
    """A row of a board on one measure, beside the board's reference."""

    one: Against

    @cached_property
    def estimate(self) -> Estimate | None:
        """The gain in points or as a plain number: positive is better, also where lower is better."""
        one = self.one
        return Estimate.of(one.gains, one.task.unit, COLOURS.get(one.outcome, one.outcome))

    @property
    def gained(self) -> str:
        """The gain as text: `−0.7 ± 0.5`."""
        return paired(self.one.gains, self.one.task.unit)

    @property
    def words(self) -> str:
        """What the strip shows."""
        if self.estimate is None:
            return "no seed in common"
        points = " points" if self.one.task.unit == "percent" else ""
        return f"{self.gained}{points} against {self.one.reference.label}, {counted(self.one.pair.n, 'seed')}"

    @property
    def remark(self) -> str:
        """Why a difference is undecided whose interval has no zero in it."""
        low, high = self.one.pair.low, self.one.pair.high
        excluded = low is not None and high is not None and not low <= 0 <= high
        return "after correction" if self.one.outcome == "undecided" and excluded else ""


@dataclass(frozen=True)
class MethodForest:
    """Lines of one unit on a common ruler."""

    unit: str
    lines: Sequence[MethodLine]

    @cached_property
    def ruler(self) -> Scale:
        return ruler(value for line in self.lines if line.estimate for value in line.estimate.values)


def forests(found: Iterable[Against]) -> list[MethodForest]:
    """Comparisons in their order: those on percentages, then those on plain numbers."""
    lines = [MethodLine(one) for one in found]
    of_unit = {unit: [line for line in lines if line.one.task.unit == unit] for unit in ("percent", "number")}
    return [MethodForest(unit, shown) for unit, shown in of_unit.items() if shown]


def first_measures(found: Iterable[Against]) -> list[Against]:
    """Of each row of a board its first measure."""
    first: dict[tuple[str, str], Against] = {}
    for one in found:
        first.setdefault((one.board.setup_id, one.row.label), one)
    return list(first.values())


def by_role(found: Sequence[Against]) -> tuple[list[Against], list[Against]]:
    """Of a method's rows those that stand for it, one on each board, and its other configurations."""
    rows: dict[str, dict[str, BoardRow]] = {}
    for one in found:
        rows.setdefault(one.board.setup_id, {}).setdefault(one.row.label, one.row)
    chosen = {setup: principal(shown.values()).label for setup, shown in rows.items()}
    roles: tuple[list[Against], list[Against]] = ([], [])
    for one in found:
        roles[one.row.label != chosen[one.board.setup_id]].append(one)
    return roles


def cost_range(
    costs: Mapping[str, Mapping[str, RelativeCost]], found: Iterable[Against]
) -> tuple[float, float, float] | None:
    """What training costs as a multiple of the reference's: the least, the median and the most of these rows, by their
    costs by setup and label. Of `by_role`'s first list it is the method's one number, on all pages."""
    known = [costs[one.board.setup_id][one.row.label].median for one in first_measures(found)]
    numbers = sorted(number for number in known if number is not None)
    return (numbers[0], median(numbers), numbers[-1]) if numbers else None


def unequal(found: Iterable[Against]) -> list[Against]:
    """Comparisons of a row that was not tuned with a reference that was."""
    return [one for one in found if all_tuned(one.reference) and not all_tuned(one.row)]


def by_gain(found: Iterable[Against]) -> list[Against]:
    """The furthest ahead first; what has no gain last."""
    return sorted(found, key=lambda one: -math.inf if one.gain is None else one.gain, reverse=True)
