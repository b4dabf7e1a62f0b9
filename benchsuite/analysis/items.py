"""Uncertainty from test items: how far would a difference move on other pictures of the same kind?

Seeds change the training and not the test. An item's difference is that of both rows over all seeds, because all of
these runs answer the same items.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from benchsuite.analysis.stats import ALPHA, Floats, half_width
from benchsuite.records.recompute import Outcomes, RankRule, Ranks
from benchsuite.records.schema import Record

KEPT = 512
"""Files, and outcomes of protocols, that are kept in memory: all runs of a table of 34 seeds."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Pair = tuple[Record, Record]
"""The runs of two rows at one seed, ours first."""


@dataclass(frozen=True)
class OverItems:
    """A mean paired difference over seeds with what test items leave open, or the reason why that is not known."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """Ends of the interval over items."""
    floor: float | None = None
    """See `item_floor`."""
    items: int = 0
    reason: str = ""


class Items:
    """What each test item added to the metrics of runs, from the ranks beside their records."""

    def __init__(self, ranks: Callable[[Record], Ranks], rules: Mapping[str, RankRule]) -> None:
        """`ranks` reads the arrays beside a record, by "protocol.name"; `rules` are `evaluation.rank_metrics.RULES`."""
        self._read, self._rules = ranks, rules
        self._files: dict[str, Ranks] = {}
        self._found: dict[tuple[str, str], Outcomes] = {}

    def outcomes(self, record: Record, measure: str) -> Floats | str:
        """A value for each item, whose mean is the run's "protocol.metric"; or why there are none."""
        protocol, _, metric = measure.rpartition(".")
        rule = self._rules.get(record.results[protocol].task)
        if rule is None or rule.items is None:
            return (rule and rule.why) or "its task gives no outcome of each test item"
        of_items = rule.items
        try:
            found = _kept(
                self._found, (record.run_id, protocol), lambda: of_items(_within(self._file(record), protocol))
            )
        except Exception as error:  # as in `records.recompute`: a rule given what anyone may have written
            return f"the ranks of run {record.run_id} cannot be read ({error})"
        return found.get(metric, "it is no mean over test items")

    def differences(self, pairs: Sequence[Pair], measure: str) -> Floats | str:
        """Ours minus theirs, [seeds, items]; or why there are none."""
        lines: list[Floats] = []
        for pair in pairs:
            if _items_of(pair[0], measure) != _items_of(pair[1], measure):
                return "the test items of the two rows differ"
            ours, theirs = (self.outcomes(record, measure) for record in pair)
            if isinstance(ours, str) or isinstance(theirs, str):
                return ours if isinstance(ours, str) else str(theirs)
            if len(ours) != len(theirs) or (lines and len(ours) != len(lines[0])):
                return "runs have different numbers of test items"
            lines.append(ours - theirs)
        return np.array(lines) if lines else "no seed is shared"

    def compare(self, pairs: Sequence[Pair], measure: str, alpha: float = ALPHA) -> OverItems:
        """The difference of two rows over these seeds by this measure."""
        found = self.differences(pairs, measure)
        return OverItems(reason=found) if isinstance(found, str) else over_items(found, alpha)

    def _file(self, record: Record) -> Ranks:
        return _kept(self._files, record.run_id, lambda: self._read(record))


def over_items(differences: Floats, alpha: float = ALPHA) -> OverItems:
    """Of ours minus theirs, [seeds, items]: the mean, with its interval (Student's t) over items."""
    each = differences.mean(axis=0)
    mean, items = float(each.mean()), len(each)
    if items < 2:
        return OverItems(mean, items=items)
    half = half_width(float(each.std(ddof=1)), items, alpha)
    return OverItems(mean, mean - half, mean + half, item_floor(differences), items)


def item_floor(differences: Floats) -> float | None:
    """The standard error over items of one seed's paired difference, from [seeds, items]: root mean square of seeds.

    A seed's difference is a mean over so many items. A sample standard deviation over few seeds that is below this is
    luck more often than precision.
    """
    items = differences.shape[1]
    return float(np.sqrt(differences.var(axis=1, ddof=1).mean() / items)) if items > 1 else None


def _items_of(record: Record, measure: str) -> object:
    """What decides which items a run answered."""
    protocol = record.setup.protocols[measure.rpartition(".")[0]]
    return protocol.task, protocol.options, protocol.data or record.setup.data


def _within(ranks: Ranks, protocol: str) -> Ranks:
    """The arrays of one protocol, by name."""
    names = (name.rpartition(".") for name in ranks)
    return {name: ranks[f"{owner}.{name}"] for owner, _, name in names if owner == protocol}


def _kept(cache: dict[K, T], key: K, make: Callable[[], T]) -> T:
    """Made once; the oldest is dropped where there are too many."""
    if key not in cache:
        while len(cache) >= KEPT:
            del cache[next(iter(cache))]
        cache[key] = make()
    return cache[key]
