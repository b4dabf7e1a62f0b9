"""What a track's page shows: its data, some of its test items, its deviations, and how far it agrees with others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchsuite.analysis.against import Against
from benchsuite.analysis.boards import Board, PrimaryMeasure
from benchsuite.analysis.table_view import TableView
from benchsuite.cards import Card
from benchsuite.records.schema import Record
from benchsuite.registry import datasets
from benchsuite.report.items import Shown, in_words, items_of
from benchsuite.report.leaderboard import Leaderboard

SHOWN = 24
"""Test items."""
Spread = tuple[float, float, float]
"""Least, median, most."""


@dataclass(frozen=True)
class Deviation:
    """Of a primary measure of a board, how much rows vary over seeds, and their differences within a seed."""

    board: Board
    task: PrimaryMeasure
    rows: Spread
    """Standard deviations of rows over seeds."""
    differences: Spread
    """Standard deviations of the differences to the reference, paired by seed: what seeds do to both rows cancels."""
    interest: float
    """The smallest difference of interest."""


def values(leaderboard: Leaderboard, scale: str, views: Sequence[TableView]) -> Mapping[str, Any]:
    """By name in the template."""
    records = {record.setup_id: record for view in views for record in view.runs}
    names = dict.fromkeys(record.setup.data.name for record in records.values())
    boards = [board for board in leaderboard.boards if board.setup_id in records]
    cards = [datasets.card(name) for name in names if name in datasets]
    items = next(filter(None, map(_items, records.values())), ())
    others = dict.fromkeys(str(card.about.get("shown_by")) for card in cards)
    shown_by = [] if items else [datasets.card(name) for name in others if name in datasets]
    return {
        "scale": scale,
        "views": views,
        "recipes": {view.setting.name: view.setting.recipe for view in views},
        "cards": cards,
        "items": items or [item for card in shown_by for item in _alike(card)],
        "shown_by": shown_by,
        "deviations": [one for board in boards for one in _deviations(board, leaderboard.comparisons[board.setup_id])],
        "agreements": [one for one in leaderboard.agreements if scale in (one.first, one.second)],
        "others": sorted({view.asked.scale for view in leaderboard.views} - {scale}),
    }


def _items(record: Record) -> Sequence[tuple[Shown, Sequence[str]]]:
    """The first test items of a run that can be told: what each shows, and its captions in all splits that have it."""
    told = [found[:SHOWN] for protocol in record.setup.protocols if (found := in_words(record, protocol))]
    shown = [item for item, _ in told[0]] if told else []
    captions = [[caption for _, caption in found] for found in told if [item for item, _ in found] == shown]
    return [(item, list(dict.fromkeys(several))) for item, *several in zip(shown, *captions, strict=True)]


def _alike(card: Card) -> Sequence[tuple[Shown, Sequence[str]]]:
    """Of data that are not included, items of included data that show the same things."""
    return [(item, [caption]) for item, caption in items_of(card.name, "single")[:SHOWN]]


def _deviations(board: Board, found: Sequence[Against]) -> Iterator[Deviation]:
    for task in board.tasks:
        of_task = [one for one in found if one.task is task and one.interest is not None]
        rows = [sd for row in board.rows if (sd := row.cell(task).sd) is not None]
        differences = [one.pair.sd for one in of_task if one.pair.sd is not None]
        if rows and any(differences):  # of untrained towers there are none
            yield Deviation(board, task, _spread(rows), _spread(differences), of_task[0].interest or 0.0)


def _spread(values: Sequence[float]) -> Spread:
    return min(values), median(values), max(values)
