"""Whether searches were long enough: what the second half of each found beyond the first."""

from collections.abc import Mapping, Sequence

from benchsuite.analysis.stats import Paired, compare
from benchsuite.records.trials import Trial, best


def climb(searches: Mapping[int, Sequence[Trial]], count: int) -> Paired:
    """By replicate, the best of so many trials less the best of half as many."""

    def scores(most: int) -> dict[int, float]:
        found = {number: best(one for one in trials if one.number < most) for number, trials in searches.items()}
        return {number: one.score for number, one in found.items() if one and one.score is not None}

    return compare(scores(count), scores(count // 2))
