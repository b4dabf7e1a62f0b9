"""Overall boards: for each setup, all configurations of methods beside each other on all of its protocols."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from benchsuite.analysis.labels import labels, recipes_of, titles
from benchsuite.analysis.pairing import unpairable
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.stats import Paired, Rank, Ranking, compare, ranking, t_quantile
from benchsuite.analysis.table_view import TableView
from benchsuite.cards import Card
from benchsuite.errors import require_known
from benchsuite.grouping import by_key
from benchsuite.papers import Column
from benchsuite.records.method_version import stale
from benchsuite.records.schema import Record, Result, of_each_search
from benchsuite.registry import tasks
from benchsuite.setup import Setup

Runs = Mapping[int, Record]
"""A configuration's records by seed."""
Configuration = tuple[str, ...]
"""What the replicates of a row share."""


@dataclass(frozen=True)
class PrimaryMeasure:
    """A column of an overall board: one number of one protocol."""

    protocol: str
    metric: str
    title: str
    unit: Literal["percent", "number"]
    better: Literal["higher", "lower", "neither"]
    registered: bool = True
    """Whether the task is registered here: without its plugin, its title and what is better are not known."""

    @property
    def measure(self) -> str:
        return f"{self.protocol}.{self.metric}"

    @cached_property
    def column(self) -> Column:
        """As a column of a table, so that its cells are those of tables."""
        about = {"group": self.title, "label": self.protocol, "unit": self.unit, "better": self.better}
        return Column.model_validate({"key": self.protocol, "measure": self.measure, **about})


def primary_measure(protocol: str, results: Sequence[Result]) -> PrimaryMeasure | None:
    """The number that a board shows for a protocol: one that all runs have; none if they share none.

    It is the task's headline; of a task without one the first metric, or else the first measure. Metrics are
    fractions, and higher is better; a measure ranks nothing unless its task says what is better.
    """
    first = results[0]
    card = tasks.card(first.task) if first.task in tasks else None
    declared = _declared(card) if card else ()
    shared = [
        name
        for name in declared or (*first.metrics, *first.measures)
        if all(name in result.metrics or name in result.measures for result in results)
    ]
    if not shared:
        return None
    is_fraction = shared[0] in first.metrics
    about = card.about if card and declared else {}
    return PrimaryMeasure(
        protocol=protocol,
        metric=shared[0],
        title=card.title if card else first.task,
        unit=about.get("unit", "percent" if is_fraction else "number"),
        better=about.get("better", "higher" if is_fraction else "neither"),
        registered=card is not None,
    )


def _declared(card: Card) -> tuple[str, ...]:
    """The metrics that the task declares as its headline, by preference; none if it declares none."""
    headline = card.about.get("headline", ())
    names = (headline,) if isinstance(headline, str) else tuple(headline)
    known = (*card.about.get("metrics", ()), *card.about.get("measures", ()))
    for name in names:
        require_known("metric", name, known, f"task {card.name}, headline: ")
    return names


@dataclass(frozen=True)
class BoardRow:
    """A row of a board: one configuration of a method, with its runs."""

    label: str
    """The method's title, and how this configuration differs from the others of the method here; unique."""
    records: Runs
    cells: Mapping[str, Cell]
    """By protocol, of the tasks of the board: cells as those of a table, of which no paper printed any."""

    @property
    def record(self) -> Record:
        """Any of its runs: method and setup are the same in all."""
        return _any(self.records)

    @property
    def method(self) -> str:
        return self.record.method.name

    @property
    def method_id(self) -> str:
        return self.record.method_id

    @property
    def longer(self) -> float:
        """The multiple of the setup's steps for which it trained."""
        return self.record.method.longer

    @cached_property
    def stale(self) -> str:
        """Why its numbers are out of date, if they are."""
        return stale(self.record)

    def cell(self, task: PrimaryMeasure) -> Cell:
        return self.cells[task.protocol]

    def values(self, task: PrimaryMeasure) -> Mapping[int, float]:
        """Its number on a task by seed."""
        return self.cells[task.protocol].values


@dataclass(frozen=True)
class Board:
    """What was measured under one setup."""

    title: str
    """Unique in a results folder."""
    setup: Setup
    setup_id: str
    tasks: Sequence[PrimaryMeasure]
    """In the setup's order."""
    rows: Sequence[BoardRow]
    """By mean rank, then by the mean position of their means: this order is not a ranking."""
    rankings: Mapping[str, Ranking]
    """By protocol."""
    unpairable: Mapping[tuple[str, str], Mapping[int, str]]
    """Pairs of labels, with the seeds at which they cannot be paired and the reasons."""
    outside: Sequence[Record]
    """Runs that no table shows."""

    @property
    def runs(self) -> int:
        return sum(len(row.records) for row in self.rows)

    @property
    def seeds(self) -> list[int]:
        """Seeds that any row has."""
        return sorted({seed for row in self.rows for seed in row.records})

    def rank(self, row: BoardRow, task: PrimaryMeasure) -> Rank | None:
        """A row's rank on a task, with the labels of those it is tied with; none where the task ranks nothing."""
        return self.rankings[task.protocol].ranks.get(row.label)

    def is_best(self, row: BoardRow, task: PrimaryMeasure) -> bool:
        """Whether the row has a star; see `Ranking.best`."""
        return row.label in self.rankings[task.protocol].best

    @property
    def separates(self) -> bool:
        """Whether any difference on any task is significant."""
        return any(ranking.decided for ranking in self.rankings.values())


def boards(records: Iterable[Record], views: Sequence[TableView] = ()) -> list[Board]:
    """A board for each setup under which at least two configurations or a run of no table ran, most runs first.

    Setups that differ in clusters or experts alone share one: rows that both read them are paired if these are equal.

    `views` say which runs tables show, and give boards their titles.
    """
    by_setup: defaultdict[str, defaultdict[Configuration, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
    first: dict[str, str] = {}
    tables = {record.run_id for view in views for record in view.runs}
    found = [of_each_search(record) for record in records]
    each = [one for searches in found for one in searches]
    each.sort(key=lambda record: (record.created, record.run_id), reverse=True)
    # of several setups and of several runs of a seed first the one that a table shows, then the latest
    for record in sorted(each, key=lambda r: (r.run_id not in tables, r.method.name, r.seed)):
        board = first.setdefault(record.setup.shared_id, record.setup_id)
        by_setup[board][record.configuration].setdefault(record.seed, record)
    longer = dict(pair for searches in found for pair in _longer(searches))
    for rows in by_setup.values():
        for configuration in [one for one in rows if _left_over(one, rows, longer)]:
            del rows[configuration]
    outside = {
        setup_id: [record for runs in rows.values() for record in runs.values() if record.run_id not in tables]
        for setup_id, rows in by_setup.items()
    }
    shown = {setup_id: rows for setup_id, rows in sorted(by_setup.items()) if len(rows) > 1 or outside[setup_id]}
    setups = {setup_id: _any(next(iter(rows.values()))).setup for setup_id, rows in shown.items()}
    recipes = recipes_of(record for rows in by_setup.values() for runs in rows.values() for record in runs.values())
    named = titles(setups, views, recipes)
    made = [_board(named[setup_id], [*rows.values()], outside[setup_id]) for setup_id, rows in shown.items()]
    return sorted(made, key=lambda board: (-board.runs, board.title))


def _longer(searches: Sequence[Record]) -> Iterator[tuple[tuple[str, Configuration], Configuration]]:
    """Of a run, each search that a longer one of the same hyper-parameters goes on with, and the row of the longest."""
    of_same = by_key(
        (tuple(sorted(tuned.searched)), (tuned.trials, one.configuration)) for one in searches if (tuned := one.tuned)
    )
    for each in of_same.values():
        *shorter, (_, longest) = sorted(each)
        yield from (((searches[0].run_id, configuration), longest) for _, configuration in shorter)


def _left_over(
    configuration: Configuration,
    rows: Mapping[Configuration, Runs],
    longer: Mapping[tuple[str, Configuration], Configuration],
) -> bool:
    """Whether a row is what a longer search left of a shorter one: at the seeds whose best trial stayed the best.

    Such seeds are no sample of its seeds.
    """
    runs = rows[configuration].values()
    whole = [longer.get((record.run_id, configuration)) for record in runs]
    return all(one and len(rows.get(one, ())) > len(runs) for one in whole)


def _board(title: str, configurations: Sequence[Runs], outside: Sequence[Record]) -> Board:
    setup = _any(configurations[0]).setup
    records = [record for runs in configurations for record in runs.values()]
    measures = [primary_measure(name, [record.results[name] for record in records]) for name in setup.protocols]
    tasks = [task for task in measures if task]
    rows = [
        BoardRow(label, runs, {task.protocol: Cell(task.column, None, runs, task.measure) for task in tasks})
        for label, runs in zip(labels([_any(runs) for runs in configurations]), configurations, strict=True)
    ]
    reasons = unpairable({row.label: row.records for row in rows})
    rankings = {
        task.protocol: ranking({row.label: row.values(task) for row in rows}, task.better, reasons) for task in tasks
    }
    return Board(title, setup, records[0].setup_id, tasks, _ordered(rows, tasks, rankings), rankings, reasons, outside)


def _ordered(
    rows: Sequence[BoardRow], tasks: Sequence[PrimaryMeasure], rankings: Mapping[str, Ranking]
) -> list[BoardRow]:
    """By mean rank; rows of equal mean rank by how many rows have a better mean, over the tasks that rank."""
    ranked = [task for task in tasks if task.better != "neither"]
    signs = [1 if task.better == "higher" else -1 for task in ranked]
    means = np.array([[row.cell(task).mean for task in ranked] for row in rows], float) * signs  # [rows, tasks]

    def position(number: int) -> tuple[int, int, str]:
        label = rows[number].label
        better_means = int(np.count_nonzero(means > means[number]))
        return sum(rankings[task.protocol].ranks[label].rank for task in ranked), better_means, label

    return [rows[number] for number in sorted(range(len(rows)), key=position)]


def _any(runs: Runs) -> Record:
    return next(iter(runs.values()))


def paired(board: Board, ours: BoardRow, theirs: BoardRow, task: PrimaryMeasure) -> Paired:
    """The paired difference of two rows on a task, over the seeds at which they may be paired."""
    pair = (min(ours.label, theirs.label), max(ours.label, theirs.label))
    skipped = board.unpairable.get(pair, {})
    a, b = ({seed: v for seed, v in row.values(task).items() if seed not in skipped} for row in (ours, theirs))
    return compare(a, b)


DIGITS = 6


def comparison(board: Board) -> dict[str, Any]:
    """Everything that a page needs to pair any two rows, ready for JSON; percent columns as fractions.

    `seeds` are all that any row has; `values` of a row are a list for each task, in the order of `seeds`, null where
    the row lacks one. `unpairable` has two rows' numbers and the seeds at which they may not be paired; `quantiles`,
    by number of pairs, how many standard errors the 95% interval of their mean difference reaches to either side.
    """
    seeds, number = board.seeds, {row.label: i for i, row in enumerate(board.rows)}

    def values(row: BoardRow, task: PrimaryMeasure) -> list[float | None]:
        by_seed = row.values(task)
        return [round(by_seed[seed], DIGITS) if seed in by_seed else None for seed in seeds]

    return {
        "tasks": [
            {"id": task.protocol, "metric": task.metric, "title": task.title, "unit": task.unit} for task in board.tasks
        ],
        "seeds": seeds,
        "rows": [
            {"label": row.label, "values": [values(row, task) for task in board.tasks]} for row in board.rows
        ],
        "unpairable": [[number[a], number[b], sorted(reasons)] for (a, b), reasons in board.unpairable.items()],
        "quantiles": {str(n): round(t_quantile(n), DIGITS) for n in range(2, len(seeds) + 1)},
    }  # fmt: skip
