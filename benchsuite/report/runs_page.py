"""Pages of runs: one for each configuration of a method under a setup, with all of its seeds beside each other.

What the seeds share stands there once; a run's place on the page is its run_id.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import Any

from benchsuite.analysis.curves import Curve, curve
from benchsuite.canonical import short_digest
from benchsuite.records.method_version import stale
from benchsuite.records.schema import Record
from benchsuite.registry import tasks
from benchsuite.report import numbers
from benchsuite.report.figures.model import MANY
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import slug

DIGITS = 16
"""Of a hash that pages show: as many as an id has. Whole ones are in the records."""
AMOUNT = "amount"
"""Unit of a count."""


@dataclass(frozen=True)
class SeedNumbers:
    """A number of each seed."""

    name: str
    unit: str
    values: Sequence[float | None]

    @property
    def label(self) -> str:
        """With the unit, where it has one."""
        return self.name.replace("_", " ") + {"percent": ", %", AMOUNT: ", count"}.get(self.unit, "")

    @property
    def known(self) -> list[float]:
        """Of the seeds that have it."""
        return [value for value in self.values if value is not None]

    @property
    def mean(self) -> str:
        """Over the seeds that have it."""
        return self._shown(fmean(self.known)) if self.known else numbers.DASH

    @property
    def spread(self) -> list[str]:
        """Mean, standard deviation, lowest and highest, over the seeds that have it."""
        sd = self._shown(stdev(self.known)) if len(self.known) > 1 else numbers.DASH
        ends = [self._shown(end(self.known)) if self.known else numbers.DASH for end in (min, max)]
        return [self.mean, sd, *ends]

    @property
    def common(self) -> bool:
        """Whether one number says it all: the count of what several runs were tested on."""
        return self.unit == AMOUNT and len(self.values) > 1 and len({*self.values}) == 1

    @property
    def by_seed(self) -> list[str]:
        """In the order of the seeds."""
        return [numbers.DASH if value is None else self._shown(value) for value in self.values]

    def _shown(self, value: float) -> str:
        show = {"percent": numbers.percent, AMOUNT: numbers.amount}.get(self.unit, numbers.exact)
        return show(value)


@dataclass(frozen=True)
class Configuration:
    """The runs of a method that differ in nothing but the seed."""

    records: Sequence[Record]
    """By seed."""

    @property
    def first(self) -> Record:
        """Any of them: method and setup are those of all."""
        return self.records[0]

    @property
    def many(self) -> bool:
        """Whether they are too many for a line each."""
        return len(self.records) > MANY

    @property
    def heads(self) -> list[str]:
        """Of the columns of `cells`."""
        if self.many:
            return ["Mean", "Standard deviation", "Lowest", "Highest"]
        seeds = [f"Seed {record.seed}" for record in self.records]
        return ["Mean", *seeds] if len(seeds) > 1 else seeds

    def cells(self, line: SeedNumbers) -> list[str]:
        """What a page shows of a number: its value with each seed, and their mean; of many seeds their spread."""
        if self.many:
            return line.spread
        return [line.mean, *line.by_seed] if len(self.records) > 1 else line.by_seed

    @cached_property
    def results(self) -> Mapping[str, list[SeedNumbers]]:
        """By protocol."""
        return {name: list(self._lines(name)) for name in self.first.results}

    def _lines(self, protocol: str) -> Iterator[SeedNumbers]:
        found = [record.results.get(protocol) for record in self.records]
        for unit, kind in (("percent", "metrics"), ("number", "measures"), (AMOUNT, "counts")):
            by_seed: list[Mapping[str, float]] = [getattr(result, kind) if result else {} for result in found]
            for name in dict.fromkeys(name for values in by_seed for name in values):
                yield SeedNumbers(name, unit, [values.get(name) for values in by_seed])

    @cached_property
    def curves(self) -> Mapping[str, list[Curve]]:
        """Of each run, by name."""
        names = dict.fromkeys(name for record in self.records for name in record.curves if name != "step")
        return {name: [curve(record, name) for record in self.records if name in record.curves] for name in names}

    @cached_property
    def costs(self) -> Mapping[str, list[str]]:
        """What the trainings cost, in words by seed."""
        return _by_seed([record.cost for record in self.records])

    @cached_property
    def environment(self) -> Mapping[str, list[str]]:
        """Where the runs ran, in words by seed; versions of packages too."""
        packages = [record.environment.get("packages") or {} for record in self.records]
        own = [{name: v for name, v in record.environment.items() if name != "packages"} for record in self.records]
        return _by_seed([{**one, **more} for one, more in zip(own, packages, strict=True)])

    @cached_property
    def digests(self) -> Mapping[str, list[str]]:
        """The beginnings of hashes by seed; those of the ranks and of the record last."""
        ends = [{"ranks": record.ranks.sha256, "record": record.digest} for record in self.records]
        found = [{**record.digests, **end} for record, end in zip(self.records, ends, strict=True)]
        return _by_seed([{name: digest[:DIGITS] for name, digest in one.items()} for one in found])


def configurations(records: Iterable[Record]) -> list[Configuration]:
    """Each record is in one of them."""
    found: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: (record.method.name, record.seed, record.run_id)):
        found.setdefault(page_of(record), []).append(record)
    return [Configuration(runs) for runs in found.values()]


def values(leaderboard: Leaderboard, shown: Configuration) -> Mapping[str, Any]:
    """The runs of one configuration, seed by seed."""
    every = (one for record in shown.records for one in leaderboard.appearances.get(record.run_id, []))
    rows = {(one.view.asked.name, one.row.key): one for one in every}
    setup = shown.first.setup_id, shown.first.setup
    on_board = any((board.setup_id, board.setup) == setup for board in leaderboard.boards)
    return {
        "shown": shown,
        "shown_in": list(rows.values()),
        "stale": stale(shown.first),
        "unregistered": {result.task for result in shown.first.results.values() if result.task not in tasks},
        "on_board": on_board,
    }


def title(leaderboard: Leaderboard, shown: Configuration) -> str:
    """Method, row and table: `TeMo, RN50, temo/table1 (latents, tuned): 10 seeds`; the row's label if it is another."""
    first = shown.first
    found = leaderboard.appearances.get(first.run_id, [])
    where = ""
    if found:
        row, asked = found[0].row, found[0].view.asked
        label = "" if row.shown == first.method.title else f", row {row.shown}"
        where = f", {row.backbone}, {asked.table}{label} ({asked.at})"
    seeds = numbers.counted(len(shown.records), "seed") if len(shown.records) > 1 else f"seed {first.seed}"
    return f"{first.method.title}{where}: {seeds}"


def page_of(record: Record) -> str:
    """The page that has the run, without its folder: it stays the same when seeds are added."""
    return f"{slug(record.method.name)}-{short_digest([record.setup_id, *record.configuration])}"


def alike(facts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What all seeds share."""
    return {name: values[0] for name, values in facts.items() if len(set(values)) == 1}


def apart(facts: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """What they do not."""
    return {name: values for name, values in facts.items() if len(set(values)) > 1}


def _by_seed(found: Sequence[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    names = dict.fromkeys(name for one in found for name in one)
    return {name: [_word(one.get(name)) for one in found] for name in names}


def _word(value: Any) -> str:
    if value is None:
        return numbers.DASH
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return numbers.amount(value) if is_number else str(value)
