"""Overall boards: for each setup, all configurations of methods beside each other on all of its protocols."""

import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchsuite.analysis.headline import Headline, headline
from benchsuite.analysis.naming import labels, titles
from benchsuite.analysis.pairing import apart
from benchsuite.analysis.table import Cell
from benchsuite.analysis.ties import Places, Rank, places
from benchsuite.records.asked import Asked
from benchsuite.records.schema import Record
from benchsuite.records.stale import stale
from benchsuite.setup import Setup

Runs = Mapping[int, Record]
"""A configuration's records by seed."""


@dataclass(frozen=True)
class Standing:
    """A row of a board: one configuration of a method, with its runs."""

    label: str
    """The method's title, and what tells this configuration from the others of the method here; no two are alike."""
    records: Runs
    cells: Mapping[str, Cell]
    """By protocol, of the tasks of the board: cells as those of a table, of which no paper printed any."""

    @property
    def record(self) -> Record:
        """Any of its runs: method and setup are the same in all."""
        return _any(self.records)

    @property
    def method(self) -> str:
        """The method's name."""
        return self.record.method.name

    @property
    def title(self) -> str:
        """The method's title."""
        return self.record.method.title

    @property
    def method_id(self) -> str:
        """Identity of the configuration."""
        return self.record.method_id

    @cached_property
    def stale(self) -> str:
        """Whether its numbers are not those of the code that is here."""
        return stale(self.record)

    def cell(self, task: Headline) -> Cell:
        """Its number on a task."""
        return self.cells[task.protocol]

    def values(self, task: Headline) -> Mapping[int, float]:
        """Its number on a task by seed."""
        return self.cells[task.protocol].values


@dataclass(frozen=True)
class Board:
    """What was measured under one setup."""

    title: str
    """No two boards of one folder have the same."""
    setup: Setup
    setup_id: str
    tasks: Sequence[Headline]
    """In the setup's order."""
    standings: Sequence[Standing]
    """By mean place, then by the mean position of their means: an order to show rows in, and no result."""
    places: Mapping[str, Places]
    """By protocol."""
    apart: Mapping[tuple[str, str], Mapping[int, str]]
    """Pairs of labels with the seeds that did not mean the same to both, and why: not compared there."""
    requests: Sequence[Asked]
    """Tables that asked for runs of this setup; they say what results at their scale can say."""

    @property
    def name(self) -> str:
        """For a file or an address: stays the same as runs are added."""
        return f"board-{self.setup_id}"

    @property
    def says(self) -> list[str]:
        """What results at this scale can say, as its recipe has it."""
        return list(dict.fromkeys(one.says for one in self.requests))

    @property
    def runs(self) -> int:
        """All of its runs."""
        return sum(len(one.records) for one in self.standings)

    @property
    def seeds(self) -> list[int]:
        """Seeds that any row has."""
        return sorted({seed for one in self.standings for seed in one.records})

    def rank(self, standing: Standing, task: Headline) -> Rank | None:
        """Its place on a task with the labels of those it is tied with; none where the task ranks nothing."""
        return self.places[task.protocol].ranks.get(standing.label)

    def is_best(self, standing: Standing, task: Headline) -> bool:
        """Whether no other row beats it, where any is beaten."""
        return self.places[task.protocol].is_best(standing.label)

    @property
    def separates(self) -> bool:
        """Whether any row beats another on any task."""
        return any(rank.place > 1 for found in self.places.values() for rank in found.ranks.values())

    def mean_place(self, standing: Standing) -> float | None:
        """Over the tasks that rank: to order rows by, and nothing else; none where no task ranks."""
        return _mean_place(standing.label, self.places)


def boards(records: Iterable[Record], asked: Sequence[Asked] = ()) -> list[Board]:
    """A board for each setup under which at least two configurations ran, those with most runs first.

    `asked` gives boards their names; without it they are called after their data and towers.
    """
    by_setup: defaultdict[str, defaultdict[str, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
    for record in sorted(records, key=lambda record: (record.method.name, record.method_id, record.seed)):
        by_setup[record.setup_id][record.method_id][record.seed] = record
    shared = {setup_id: list(rows.values()) for setup_id, rows in sorted(by_setup.items()) if len(rows) > 1}
    setups = {setup_id: _any(rows[0]).setup for setup_id, rows in shared.items()}
    named = titles(setups, asked)
    requests: defaultdict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        for setup_id in {runs.setup_id for row in one.rows for runs in row.parts.values()}:
            requests[setup_id].append(one)
    found = [_board(named[key], setup, shared[key], requests[key]) for key, setup in setups.items()]
    return sorted(found, key=lambda board: (-board.runs, board.title))


def _board(title: str, setup: Setup, rows: Sequence[Runs], requests: Sequence[Asked]) -> Board:
    results = {name: [record.results[name] for runs in rows for record in runs.values()] for name in setup.protocols}
    tasks = [task for name, some in results.items() if (task := headline(name, some))]
    standings = [
        Standing(label, runs, {task.protocol: Cell(task.column, None, runs, task.measure) for task in tasks})
        for label, runs in zip(labels([_any(runs) for runs in rows]), rows, strict=True)
    ]
    kept_apart = apart({one.label: one.records for one in standings})
    found = {
        task.protocol: places({one.label: one.values(task) for one in standings}, task.better, kept_apart)
        for task in tasks
    }
    positions = _positions(standings, tasks)
    ordered = sorted(standings, key=lambda one: (_mean_place(one.label, found) or 0, positions[one.label], one.label))
    return Board(title, setup, _any(rows[0]).setup_id, tasks, ordered, found, kept_apart, requests)


def _mean_place(label: str, found: Mapping[str, Places]) -> float | None:
    ranks = [one.ranks[label].place for one in found.values() if label in one.ranks]
    return statistics.fmean(ranks) if ranks else None


def _positions(standings: Sequence[Standing], tasks: Sequence[Headline]) -> dict[str, float]:
    """How many rows have a better mean, summed over the tasks that rank; seeds do not matter here, nor doubt."""
    found = dict.fromkeys((one.label for one in standings), 0.0)
    for task in tasks:
        if task.better != "neither":
            sign = -1 if task.better == "higher" else 1
            means = {one.label: sign * statistics.fmean(one.values(task).values()) for one in standings}
            ordered = sorted(means.values())
            for label, mean in means.items():
                found[label] += bisect_left(ordered, mean)
    return found


def _any(runs: Runs) -> Record:
    return next(iter(runs.values()))
