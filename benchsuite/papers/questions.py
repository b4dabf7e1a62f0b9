"""What a table file asks of runs: the claims that the paper's text makes, and what must hold for them to be tested."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from benchsuite.parts import Part

HEADLINES = 3
"""The most headline claims of a table."""
OVER = {"last": "last value", "mean": "mean over steps", "swing": "highest over lowest value"}


class TextClaim(Part):
    """A claim in the paper's text, with or without a number: a row beats another."""

    statement: str
    locator: str
    row: str
    """Label, backbone/label or backbone/variant/label."""
    reference: str
    columns: list[str] = Field(min_length=1)
    by: float | None = None
    """The difference as claimed, in the column's unit; with several columns, each."""
    headline: str = ""
    """One of its columns, if this is one of the table's headline claims: at most three of what the abstract, the
    introduction or the conclusions say. They are the primary family of their paper."""
    note: str = ""
    """What is inferred, and where the claim does not fit the cells."""


class Premise(Part):
    """What must hold in the runs for claims to be tested at all: the baseline has a gap, the swaps happened."""

    statement: str
    rows: list[str] = []
    """The rows whose runs must have it, as labels, backbone/label or backbone/variant/label. Empty: both rows of each
    claim that it concerns."""
    column: str = ""
    """The column whose mean over seeds is looked at. Or:"""
    gauge: str = ""
    """The curve of the records that is looked at, as the mean over seeds: "gap", "temperature", "swapped"."""
    per: str = ""
    """Another curve; then it is the quotient of both: a bound that holds for tuned temperatures too."""
    over: Literal["last", "mean", "swing"] = "last"
    """Of a curve its last value, the mean of its points, or its highest point divided by its lowest."""
    at_least: float | None = None
    at_most: float | None = None
    """In the unit of the column (percent as printed) or of the gauge."""
    apart: float | None = None
    """How far the number must be from 1, on either side: of a quotient, by which share its parts differ."""
    concerns: list[str] = []
    """Rows of which claims depend on it: those whose row or reference is one of them. Empty: all claims."""
    columns: list[str] = []
    """And only claims on these columns; empty: on all."""
    unmet: dict[str, str] = {}
    """Scales at which it is known not to hold, with the reason, so that nobody needs to run them to learn it. A premise
    that no column or gauge can show is stated with this alone."""

    @model_validator(mode="after")
    def _looks_at_one_number(self) -> Self:
        looks, bounded = bool(self.column or self.gauge), bool(self.bounds)
        if (self.column and self.gauge) or looks != bounded or not (looks or self.unmet):
            raise ValueError(f'premise "{self.statement}" needs a column or a gauge, and at_least, at_most or apart')
        if (self.per or self.over != "last") and not self.gauge:
            raise ValueError(f'premise "{self.statement}": per and over are for a gauge')
        return self

    @property
    def gauges(self) -> list[str]:
        return [name for name in (self.gauge, self.per) if name]

    @property
    def needed(self) -> str:
        """What is looked at, and its bounds; "" if nothing is."""
        gauge = f"{self.gauge}{f' / {self.per}' if self.per else ''} ({OVER[self.over]})"
        return f"{self.column or gauge} {' and '.join(self.bounds)}" if self.bounds else ""

    @property
    def bounds(self) -> list[str]:
        """What its number must be, in words."""
        bounds = (("at least", self.at_least), ("at most", self.at_most), ("apart from 1 by at least", self.apart))
        return [f"{words} {bound:g}" for words, bound in bounds if bound is not None]

    def admits(self, value: float | None) -> bool:
        """Whether it holds with this number."""
        low, high, apart = self.at_least, self.at_most, self.apart
        within = value is not None and (low is None or value >= low) and (high is None or value <= high)
        return within and (apart is None or value is None or abs(value - 1) >= apart)

    def shown(self, curves: Mapping[str, Sequence[float | None]]) -> float | None:
        """The gauge's number in one record; none if the record does not show it."""
        value, divisor = self._number(curves.get(self.gauge, ())), self._number(curves.get(self.per, ()))
        if not self.per:
            return value
        return value / divisor if value is not None and divisor else None

    def _number(self, curve: Sequence[float | None]) -> float | None:
        known = [value for value in curve if value is not None and not math.isnan(value)]
        if not known:
            return None
        if self.over == "swing":
            return max(known) / min(known) if min(known) else None
        return known[-1] if self.over == "last" else fmean(known)


class Act(Part):
    """How the decorator of a method says that its mechanism acts."""

    premise: Premise
    off: list[dict[str, Any]]
    """Hyper-parameters under which there is no such mechanism. The name of a field stands for its value."""

    def is_off(self, given: Mapping[str, Any]) -> bool:
        """Whether a method's hyper-parameters turn it off."""
        return any(all(given[name] == given.get(value, value) for name, value in off.items()) for off in self.off)


def acts_of(about: Mapping[str, Any]) -> list[Act]:
    """What shows that a method's mechanism acts, from what its decorator says."""
    acts: Sequence[Mapping[str, Any]] = about.get("acts", ())
    return [
        Act.model_validate({"premise": {k: v for k, v in act.items() if k != "off"}, "off": list(act.get("off", ()))})
        for act in acts
    ]
