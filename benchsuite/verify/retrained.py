"""A record beside a second training of its run: do their numbers agree?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from scipy import special

from benchsuite.records.record_file import Finding
from benchsuite.records.schema import Record, of_each_search

DECIDES_DIGITS = ("platform", "processor", "device", "threads", "processes", "packages")
"""Of a record's environment: where all of these are equal, every digit must be."""
RARE = 0.001
"""How often one of a true record's numbers may be taken for a wrong one, on another machine."""
FEWEST = 3
"""Other seeds that it takes to say how far two trainings of a row lie apart."""
SHOWN = 8
"""Metrics that are shown as they were and are."""


class Moved(NamedTuple):
    """A number that is not what the record says."""

    measure: str
    stored: float
    again: float

    def __str__(self) -> str:
        return f"{self.measure} is {self.stored:.6g} in the record and {self.again:.6g} now"


@dataclass(frozen=True)
class Again:
    """A record, and that of the same run done here."""

    file: str
    record: Record
    again: Record
    row: Sequence[Record]
    """Records of the row's other seeds."""

    @property
    def copied(self) -> bool:
        """Whether nothing was trained again: the two are one record."""
        return self.record.digest == self.again.digest

    @property
    def unknown(self) -> list[str]:
        """Numbers that only one of the two has: a run has as many as its protocols."""
        return sorted(self.record.values().keys() ^ self.again.values().keys())

    @cached_property
    def moved(self) -> list[Moved]:
        """Numbers that are not equal in every digit: metrics, then measures; those that moved most first."""
        again = self.again.values()
        both = [Moved(name, value, again[name]) for name, value in self.record.values().items() if name in again]
        moved = [each for each in both if each.stored != each.again]
        return sorted(moved, key=lambda each: (each.measure not in self._metrics, -abs(each.stored - each.again)))

    @property
    def elsewhere(self) -> list[str]:
        """What of the machine and its packages is not as it was."""
        return [key for key in DECIDES_DIGITS if self.record.environment.get(key) != self.again.environment.get(key)]

    def problems(self) -> Iterator[Finding]:
        """Why the record cannot be what it says."""
        for kind in sorted(self.record.digests):
            if self.record.digests[kind] != self.again.digests.get(kind):
                yield Finding(self.file, f"run again: the digest of {kind} is another", "measure it again")
        if self.unknown:
            yield Finding(self.file, f"run again: {', '.join(self.unknown)}: not in both", "measure it again")
        if not self.elsewhere:
            if self.moved:
                count = f"{len(self.moved)} of its numbers differ on the same kind of machine with the same packages"
                yield Finding(self.file, f"run again: {count}: {self.moved[0]}", "measure it again")
        elif far := [moved for moved in self.moved if abs(moved.stored - moved.again) > self.limit(moved.measure)]:
            seeds = f"farther than trainings of its row lie apart ({len(self.row)} other seeds)"
            yield Finding(self.file, f"run again: {far[0]}, {seeds}", "measure it again")

    def limit(self, measure: str) -> float:
        """How far two trainings of the row lie apart at most, but for one in 1,000; infinite if seeds cannot say."""
        return apart(self._under_other_seeds(measure), len(self.record.values()))

    def _under_other_seeds(self, measure: str) -> list[float]:
        return [numbers[measure] for record in self.row if measure in (numbers := record.values())]

    @cached_property
    def _metrics(self) -> list[str]:
        return [f"{each.protocol}.{each.metric}" for each in self.record.numbers() if each.kind == "metric"]

    def notes(self) -> Iterator[Finding]:
        """What was seen, where it is no problem."""
        total = len(self.record.values())
        if not self.moved:
            yield Finding(self.file, f"run again: all {total} numbers are equal in every digit", "")
            return
        if self.elsewhere:
            unjudged = [moved.measure for moved in self.moved if not isfinite(self.limit(moved.measure))]
            judged = f"none farther than trainings of its row lie apart ({len(self.row)} other seeds)"
            if len(self.row) < FEWEST:
                judged = f"its row has too few other seeds to judge ({len(self.row)})"
            elif unjudged:
                judged += f", but for {', '.join(unjudged)}, equal under all of them"
            seen = f"{len(self.moved)} of {total} numbers moved; {judged}"
            if not any(self.problems()):
                yield Finding(self.file, f"run again ({', '.join(self.elsewhere)} not as then): {seen}", "")
        by_name = {moved.measure: moved for moved in self.moved}
        for name in [name for name in self._metrics if name in by_name][:SHOWN]:
            values = self._under_other_seeds(name)
            row = f"; other seeds: {fmean(values):.6g}, deviation {stdev(values):.2g}" if len(values) > 1 else ""
            yield Finding(self.file, f"{by_name[name]}{row}", "")


def apart(values: Sequence[float], comparisons: int, means_of: int = 1) -> float:
    """How far the means of that many trainings of a row lie apart at most, if its seeds gave these values.

    But for one true set of so many comparisons in 1,000; infinite if seeds cannot say.
    """
    if len(values) < FEWEST or len({*values}) == 1:
        return inf
    return float(-special.stdtrit(len(values) - 1, RARE / 2 / comparisons) * stdev(values) * sqrt(2 / means_of))


def is_other_seed(other: Record, record: Record) -> bool:
    """Whether it is of the same row under the same setup."""
    mine, its = ({(one.setup_id, one.configuration) for one in of_each_search(each)} for each in (record, other))
    return bool(mine & its) and other.seed != record.seed
