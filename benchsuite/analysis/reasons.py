"""The parts of a verdict's reason, in words."""

from collections.abc import Callable, Collection

from benchsuite.analysis.power import AIM, MOST
from benchsuite.analysis.stats import ALPHA, Paired

Amount = Callable[[float], str]
"""A difference without its sign, with its unit."""


def amount(unit: str) -> Amount:
    """Of fractions in percentage points, of anything else as it is."""

    def shown(value: float) -> str:
        return f"{100 * abs(value):.2f} {unit}" if unit else f"{abs(value):.4g}"

    return shown


def ends(low: float, high: float, unit: str) -> str:
    """An interval."""
    scale, digits = (100, ".2f") if unit else (1, ".4g")
    return f"{scale * low:+{digits}} to {scale * high:+{digits}}"


def difference(pair: Paired, unit: str) -> str:
    """The mean difference with its interval, not corrected."""
    assert pair.difference is not None
    side = "above" if pair.difference > 0 else "below"
    shown = amount(unit)(pair.difference)
    text = f"{shown} {side} the reference" if pair.difference else "No difference from the reference"
    seeds = "over 1 seed" if pair.n == 1 else f"over {pair.n} seeds"
    if pair.low is None or pair.high is None:
        return f"{text} {seeds}"
    return f"{text} {seeds} (95% CI {ends(pair.low, pair.high, unit)})"


def significance(pair: Paired, corrected: float | None, family: str, size: int) -> str:
    """p, and p in the family."""
    if corrected is None or pair.p is None:
        return pair.too_small
    text = f", {p_value(corrected)} after Holm's correction for {size} {family}" if size > 1 else ""
    note = f"; {pair.note}" if pair.note else ""
    return f"p {p_value(pair.p)}{text}{note}"


def false_discovery(pair: Paired, rate: float | None) -> str:
    """p, and the false-discovery rate among all exploratory comparisons of the table."""
    if rate is None or pair.p is None:
        return pair.too_small
    return f"p {p_value(pair.p)}, false-discovery rate {p_value(rate)}" + f"; {pair.note}" * bool(pair.note)


def equivalence(
    pair: Paired, half: float | None, interest: float | None, level: float, corrected: float | None, unit: str
) -> str:
    """Why the rows are equivalent."""
    assert pair.difference is not None
    assert half is not None
    assert interest is not None
    interval = ends(pair.difference - half, pair.difference + half, unit)
    significant = corrected is not None and corrected <= ALPHA
    small = "significant, but too small to matter: " if significant else ""
    stated = f"± {amount(unit)(interest)}, the smallest difference of interest"
    return f"{small}the {100 * (1 - level):.5g}% CI in the family, {interval}, lies within {stated}"


def outlook(confirmable: float | None, shown: Amount) -> str:
    """What could have been confirmed."""
    return "" if confirmable is None else f"smallest difference that could have been confirmed: {shown(confirmable)}"


def power_for(chance: float | None, published: float | None, stand_in: bool, shown: Amount) -> str:
    """The power for the published difference."""
    if chance is None or published is None:
        return ""
    what = "a difference as large as the published one" if stand_in else "the published difference"
    return f"power for {what} ({shown(published)}): {percentage(chance)}"


def plan(seeds: int | None, interest: float | None, confirmable: float | None, shown: Amount) -> str:
    """How many seeds the smallest difference of interest takes."""
    if confirmable is None:
        return ""
    if interest is None:
        return "the recipe states no smallest difference of interest"
    number = f"{seeds} seeds" if seeds else f"more than {MOST} seeds"
    return f"{100 * AIM:g}% power for {shown(interest)}, the smallest difference of interest, takes {number}"


def not_exercised(pair: Paired) -> str:
    """That what the rows differ in changed nothing."""
    seeds = "the one shared seed" if pair.n == 1 else f"all {pair.n} shared seeds"
    return f"Both rows have equal numbers in all protocols on {seeds}: what they differ in changed nothing."


def equal_seeds(equal: Collection[int], pair: Paired) -> str:
    """The shared seeds on which all numbers are equal."""
    return _seeds(sorted(set(equal) & set(pair.seeds)), "both rows have equal numbers in all protocols on")


def unpaired_seeds(pair: Paired) -> str:
    """The seeds that were skipped."""
    text = _seeds(pair.unpaired, "skipped")
    return f"{text}: only one of the two rows has a run" if text else ""


def _seeds(seeds: Collection[int], what: str) -> str:
    return f"{what} seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}" if seeds else ""


def percentage(share: float) -> str:
    """A power."""
    return "below 1%" if share < 0.01 else "above 99%" if share > 0.99 else f"{100 * share:.0f}%"


def p_value(p: float) -> str:
    """A p-value, short."""
    return f"{p:.3g}" if p >= 0.0001 else "below 0.0001"
