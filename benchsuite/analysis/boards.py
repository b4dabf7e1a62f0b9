"""Overall boards: for each setup, all configurations of methods beside each other on all of its protocols."""

import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from benchsuite.analysis.labels import labels, titles
from benchsuite.analysis.pairing import apart
from benchsuite.analysis.ranking import Rank, Ranking, places
from benchsuite.analysis.stats import Paired, compare, t_quantile
from benchsuite.analysis.tables import Cell
from benchsuite.cards import Card
from benchsuite.errors import unknown
from benchsuite.papers import Column
from benchsuite.records.code_version import stale
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record, Result
from benchsuite.registry import tasks
from benchsuite.setup import Setup

Runs = Mapping[int, Record]
"""A configuration's records by seed."""


@dataclass(frozen=True)
class Headline:
    """A column of an overall board: one number of one protocol."""

    protocol: str
    metric: str
    task: str
    title: str
    """The task's."""
    version: int
    unit: Literal["percent", "number"]
    better: Literal["higher", "lower", "neither"]

    @property
    def measure(self) -> str:
        """ "protocol.metric"."""
        return f"{self.protocol}.{self.metric}"

    @cached_property
    def column(self) -> Column:
        """As a column of a table, so that its cells are those of tables."""
        about = {"group": self.title, "label": self.protocol, "unit": self.unit, "better": self.better}
        return Column.model_validate({"key": self.protocol, "measure": self.measure, **about})


def headline(protocol: str, results: Sequence[Result]) -> Headline | None:
    """What stands for a protocol on a board, of what all of its runs have; none if they have nothing in common.

    A task that does not declare it has its first metric there, or else its first measure. Metrics are shares, of which
    more is better; a measure ranks nothing unless its task says what is better.
    """
    first = results[0]
    card = tasks.card(first.task) if first.task in tasks else None
    declared = _declared(card)
    candidates = declared or (*first.metrics, *first.measures)
    metric = next((name for name in candidates if all(_has(result, name) for result in results)), None)
    if metric is None:
        return None
    plain = metric not in first.metrics
    about = card.about if card and declared else {}
    return Headline(
        protocol=protocol,
        metric=metric,
        task=first.task,
        title=card.title if card else first.task,
        version=first.version,
        unit=about.get("unit", "number" if plain else "percent"),
        better=about.get("better", "neither" if plain else "higher"),
    )


def _declared(card: Card | None) -> Collection[str]:
    """What the task says stands for it, the first of these that a run has; nothing if it does not say."""
    said = card.about.get("headline", ()) if card else ()
    names = (said,) if isinstance(said, str) else tuple(said)
    if card and names:
        known = (*card.about.get("metrics", ()), *card.about.get("measures", ()))
        for name in names:
            if name not in known:
                raise unknown("metric", name, known, f"task {card.name}, headline: ")
    return names


def _has(result: Result, name: str) -> bool:
    return name in result.metrics or name in result.measures


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
    places: Mapping[str, Ranking]
    """By protocol."""
    apart: Mapping[tuple[str, str], Mapping[int, str]]
    """Pairs of labels with the seeds that did not mean the same to both, and why: not compared there."""
    requests: Sequence[TableRequest]
    """Tables that asked for runs of this setup; they say what results at their scale can say."""

    @property
    def name(self) -> str:
        """For a file or an address: stays the same as runs are added."""
        return f"board-{self.setup_id}"

    @property
    def descriptions(self) -> list[str]:
        """What results at this scale can say, as its recipe has it."""
        return list(dict.fromkeys(one.description for one in self.requests))

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
        return any(rank.rank > 1 for found in self.places.values() for rank in found.ranks.values())

    def mean_place(self, standing: Standing) -> float | None:
        """Over the tasks that rank: to order rows by, and nothing else; none where no task ranks."""
        return _mean_place(standing.label, self.places)


def boards(records: Iterable[Record], requests: Sequence[TableRequest] = ()) -> list[Board]:
    """A board for each setup under which at least two configurations ran, those with most runs first.

    `requests` gives boards their names; without it they are called after their data and towers.
    """
    by_setup: defaultdict[str, defaultdict[str, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
    for record in sorted(records, key=lambda record: (record.method.name, record.method_id, record.seed)):
        by_setup[record.setup_id][record.method_id][record.seed] = record
    shared = {setup_id: list(rows.values()) for setup_id, rows in sorted(by_setup.items()) if len(rows) > 1}
    setups = {setup_id: _any(rows[0]).setup for setup_id, rows in shared.items()}
    named = titles(setups, requests)
    by_setup_requests: defaultdict[str, list[TableRequest]] = defaultdict(list)
    for one in requests:
        for setup_id in {runs.setup_id for row in one.rows for runs in row.parts.values()}:
            by_setup_requests[setup_id].append(one)
    found = [_board(named[key], setup, shared[key], by_setup_requests[key]) for key, setup in setups.items()]
    return sorted(found, key=lambda board: (-board.runs, board.title))


def _board(title: str, setup: Setup, rows: Sequence[Runs], requests: Sequence[TableRequest]) -> Board:
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


def _mean_place(label: str, found: Mapping[str, Ranking]) -> float | None:
    ranks = [one.ranks[label].rank for one in found.values() if label in one.ranks]
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


DIGITS = 6


def comparison(board: Board) -> dict[str, Any]:
    """Everything that a paired comparison needs, ready for JSON; percent columns as fractions.

    `seeds` are all that any row has; `values` of a row are a list for each task, in the order of `seeds`, null where
    the row lacks one. `apart` has two rows' numbers and the seeds at which they may not be paired; `quantiles`, by
    number of pairs, how many standard errors the 95% interval of their mean difference reaches to either side.
    """
    seeds = board.seeds
    number = {one.label: i for i, one in enumerate(board.standings)}
    return {
        "name": board.name,
        "title": board.title,
        "tasks": [_task(task) for task in board.tasks],
        "seeds": seeds,
        "rows": [_row(one, board, seeds) for one in board.standings],
        "apart": [[number[a], number[b], sorted(some)] for (a, b), some in board.apart.items()],
        "quantiles": {str(n): round(t_quantile(n), DIGITS) for n in range(2, len(seeds) + 1)},
    }


def paired(board: Board, ours: Standing, theirs: Standing, task: Headline) -> Paired:
    """Two rows on a task, at the seeds that meant the same to both."""
    pair = (ours.label, theirs.label)
    left_out = {seed for key in (pair, pair[::-1]) for seed in board.apart.get(key, ())}
    a, b = ({seed: v for seed, v in one.values(task).items() if seed not in left_out} for one in (ours, theirs))
    return compare(a, b)


def _task(task: Headline) -> dict[str, str]:
    named = {"id": task.protocol, "metric": task.metric, "title": task.title}
    return {**named, "unit": task.unit, "better": task.better}


def _row(one: Standing, board: Board, seeds: list[int]) -> dict[str, Any]:
    by_task = [one.values(task) for task in board.tasks]
    values = [[round(by_seed[seed], DIGITS) if seed in by_seed else None for seed in seeds] for by_seed in by_task]
    return {"id": one.method_id, "method": one.method, "label": one.label, "values": values}
