"""Uncertainty from test items: how far would a difference move on other pictures of the same kind?

Seeds change the training and not the test. Items are resampled jointly for both rows and all seeds, because all of
these runs answer the same items.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from benchsuite.analysis.stats import ALPHA, Floats
from benchsuite.records.recompute import Outcomes, RankRule, Ranks
from benchsuite.records.schema import Record
from benchsuite.streams import numpy_stream

RESAMPLES = 2_000
"""Bootstrap samples of the items."""
KEPT = 512
"""Files, and outcomes of protocols, that are kept in memory: all runs of a table of 34 seeds."""
SMALL = 2_000
"""The most items of which the samples are kept: 32 MB."""
FEW = 8
"""Items for each value from which on it is faster to draw how many items have which value."""
DECIMALS = 12
"""Values that differ by less are one value: sums of fractions are rounded."""

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
    """Ends of the percentile interval of a bootstrap over items."""
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

    def compare(self, asked: Sequence[tuple[Sequence[Pair], str]], alpha: float = ALPHA) -> list[OverItems]:
        """For each the difference of two rows over these seeds by this measure."""
        found = [self.differences(pairs, measure) for pairs, measure in asked]
        over = iter(each_over_items([one for one in found if not isinstance(one, str)], alpha))
        return [OverItems(reason=one) if isinstance(one, str) else next(over) for one in found]

    def _file(self, record: Record) -> Ranks:
        return _kept(self._files, record.run_id, lambda: self._read(record))


def over_items(differences: Floats, alpha: float = ALPHA) -> OverItems:
    """Of ours minus theirs, [seeds, items]: the mean, with the interval of a bootstrap over items."""
    return each_over_items([differences], alpha)[0]


def each_over_items(found: Sequence[Floats], alpha: float = ALPHA) -> list[OverItems]:
    """The same of many: those over equally many items share the samples, so their means are one product."""
    each = [differences.mean(axis=0) for differences in found]
    over = []
    for differences, items, means in zip(found, each, _resampled_means(each), strict=True):
        ends = np.quantile(means, (alpha / 2, 1 - alpha / 2), method="inverted_cdf").round(DECIMALS)
        low, high = ends.tolist()
        over.append(OverItems(float(items.mean()), low, high, item_floor(differences), len(items)))
    return over


def _resampled_means(found: Sequence[Floats]) -> list[Floats]:
    """The means of bootstrap samples of each; the same samples for all comparisons over equally many, few items."""
    rounded = [each.round(DECIMALS) for each in found]
    small: dict[int, list[int]] = {}
    for number, each in enumerate(rounded):
        if len(each) <= SMALL:
            small.setdefault(len(each), []).append(number)
    means: dict[int, Floats] = {}
    for n, numbers in small.items():
        samples = _times(n) @ np.stack([rounded[number] for number in numbers], axis=1) / n
        means |= dict(zip(numbers, samples.T, strict=True))
    return [means[number] if number in means else _means_of_many(each) for number, each in enumerate(rounded)]


def _means_of_many(each: Floats) -> Floats:
    """Of many items, those of one value are exchangeable: where values are few, as differences of shares are, how many
    items of each are in a sample is drawn, and not each item."""
    n = len(each)
    rng = numpy_stream(0, "items", n)
    values, counts = np.unique(each, return_counts=True)
    if FEW * len(values) > n:
        return np.array([each[rng.integers(n, size=n)].mean() for _ in range(RESAMPLES)])
    means: Floats = rng.multinomial(n, counts / n, size=RESAMPLES) @ values / n
    return means


@lru_cache(maxsize=4)
def _times(n: int) -> Floats:
    """How often each item is in each bootstrap sample, [samples, items]."""
    return numpy_stream(0, "items", n).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)


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
