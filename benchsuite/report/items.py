"""Single test items: what data sets say that they show, and under two rows of a table the rank of each right answer,
and what was retrieved first, where a record knows it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchsuite.analysis.pairing import pairable
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.table_view import TableView
from benchsuite.cards import Card
from benchsuite.errors import BenchsuiteError
from benchsuite.papers.claim import Claim
from benchsuite.papers.schema import row_name
from benchsuite.parts import NOTHING
from benchsuite.records.ranks import NEAREST, Whole, are_pictures, open_ranks
from benchsuite.records.record_file import FileError
from benchsuite.records.schema import Record
from benchsuite.registry import datasets
from benchsuite.report.claim_lines import in_common
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.setup import Data

SHOWN = 12
"""Queries that one of the two rows finds alone: so many of each."""
RECALL = re.compile(r"(i2t|t2i)_r(\d+)")


class Shown(NamedTuple):
    """What an item shows: in words, or as an emoji, which stands there where it has no picture."""

    what: str
    picture: bytes = b""


Items = Sequence[tuple[Shown, str]]
"""Of each item what it shows, and its caption."""
Half = Shown | str
"""Of an item: what it shows, or its caption."""


class Answer(NamedTuple):
    """Of a row to a query."""

    rank: str
    """Of the right answer."""
    wrong: tuple[Half, Half] | None
    """The nearest wrong one, if its record knows: what it retrieved first unless the rank is 1. With its other half."""


class Query(NamedTuple):
    """What two rows make of it."""

    asked: Half
    right: Half
    ours: Answer
    theirs: Answer


class Retrieved(NamedTuple):
    """What a record knows of its queries: ranks of right answers, and the nearest wrong ones, counted from 1."""

    ranks: Whole
    nearest: Whole | None


def describing(record: Record, protocol: str) -> Card | None:
    """The card of a run's data, if a protocol reads these and readers can be told what their items show."""
    used, name = record.setup.protocols[protocol], record.setup.data.name
    card = datasets.card(name) if name in datasets and not used.data and "split" in used.options else None
    return card if card and card.built_in and card.about.get("in_words") else None


def in_words(record: Record, protocol: str) -> Items:
    """The items that a protocol reads, in their order; none where the data here are not those of the record."""
    if not describing(record, protocol):
        return ()
    return _told(record.setup.data.model_dump_json(), record.setup.protocols[protocol].options["split"])


@lru_cache(maxsize=8)
def _told(data: str, split: str) -> Items:
    """Of many claims about the same data once."""
    used = Data.model_validate_json(data)
    try:
        dataset = datasets.get(used.name)(**used.options)
    except BenchsuiteError:  # another version had these options
        return ()
    return items_of(used.name, split, used.options) if dataset.manifest().digest == used.digest else ()


def items_of(name: str, split: str, options: Mapping[str, Any] = NOTHING) -> Items:
    """The items of a split of a dataset, in their order."""
    dataset = datasets.get(name)(**options)
    items = dataset.in_words(split)
    pictures = dataset.in_pictures(split) or [b""] * len(items)
    return [(Shown(what, picture), caption) for picture, (what, caption) in zip(pictures, items, strict=True)]


@dataclass(frozen=True)
class Single:
    """A claim about a recall, query by query."""

    claim: Claim
    within: int
    """The rank up to which an answer counts."""
    items: Items
    """Of the first seed."""
    images_ask: bool
    found: Mapping[int, tuple[Retrieved, Retrieved]]
    """By seed, of the claim's row and its reference."""

    @property
    def counts(self) -> Iterator[tuple[int, ...]]:
        """By seed: the seed, queries that both find, that our row finds alone, the reference alone, neither."""
        for seed, pair in self.found.items():
            ours, theirs = (each.ranks <= self.within for each in pair)
            found = (ours & theirs, ours & ~theirs, ~ours & theirs, ~(ours | theirs))
            yield seed, *(int(np.count_nonzero(one)) for one in found)

    @property
    def gains(self) -> Mapping[int, float]:
        """By seed: the share of queries by which our row is ahead."""
        return {seed: (gained - lost) / self.queries for seed, _, gained, lost, _ in self.counts}

    @property
    def names(self) -> tuple[str, str]:
        """Of the claim's row and its reference, short if that sets them apart."""
        (*_, ours), (*_, theirs) = keys = self.claim.row, self.claim.reference
        return (ours, theirs) if ours != theirs else (row_name(keys[0]), row_name(keys[1]))

    @property
    def where(self) -> str:
        """Backbone and variant that both rows have."""
        return in_common(self.claim.row, self.claim.reference)

    @property
    def seed(self) -> int:
        """The first."""
        return next(iter(self.found))

    @property
    def queries(self) -> int:
        """Of a seed."""
        return len(self.found[self.seed][0].ranks)

    @property
    def knows_first(self) -> bool:
        """Whether the records of the first seed know what was retrieved first."""
        return all(each.nearest is not None for each in self.found[self.seed])

    @cached_property
    def alone(self) -> tuple[Sequence[Query], Sequence[Query]]:
        """Of the first seed, the first queries that our row finds alone, and those that the reference does."""
        ours, theirs = self.found[self.seed]
        right = [each.ranks <= self.within for each in (ours, theirs)]
        first, second = (
            [self._query(int(n), ours, theirs) for n in np.flatnonzero(one)[:SHOWN]]
            for one in (right[0] & ~right[1], right[1] & ~right[0])
        )
        return first, second

    def _query(self, number: int, ours: Retrieved, theirs: Retrieved) -> Query:
        asks, answers = (0, 1) if self.images_ask else (1, 0)

        def answer(of: Retrieved) -> Answer:
            rank, last = int(of.ranks[number]), max(10, math.ceil(np.median(of.ranks)))
            wrong = None if of.nearest is None else self.items[of.nearest[number] - 1]
            return Answer(str(rank) if rank <= last else f"over {last}", wrong and (wrong[answers], wrong[asks]))

        item = self.items[number]
        return Query(item[asks], item[answers], answer(ours), answer(theirs))


def asked_of(views: Sequence[TableView]) -> list[tuple[Claim, Cell, Cell]]:
    """The headline claims of a table about recalls whose items can be told, with the cells that they compare."""
    view, found = views[-1], []
    for claim in (claim for claim in view.claims if claim.headline):
        ours, theirs = (view.cell(key, claim.column.key) for key in (claim.row, claim.reference))
        if ours and theirs and RECALL.fullmatch((ours.measure or "").rpartition(".")[2]) and _cards(ours):
            found.append((claim, ours, theirs))
    return found


def _cards(cell: Cell) -> list[Card]:
    """Those of the data that a cell was measured on, by run, as far as their items can be told."""
    protocol = (cell.measure or "").rpartition(".")[0]
    return [card for record in cell.records.values() if (card := describing(record, protocol))]


def values(leaderboard: Leaderboard, views: Sequence[TableView]) -> Mapping[str, Any]:
    """What the page of a table's single queries shows."""
    files = {file.record.run_id: file.file for file in leaderboard.contents.files if file.record}
    asked = asked_of(views)
    singles = [single for one in asked if (single := _single(*one, views[-1].table.factors, files))]
    return {"view": views[-1], "singles": singles, "card": _cards(asked[0][1])[0]}


def _single(claim: Claim, ours: Cell, theirs: Cell, factors: Sequence[str], files: Mapping[str, Path]) -> Single | None:
    protocol, _, metric = (ours.measure or "").rpartition(".")
    way, within = RECALL.fullmatch(metric).groups()  # type: ignore[union-attr]
    found = {}

    def file_of(record: Record) -> Path:
        return files[record.run_id].with_name(record.ranks.file)

    for seed in sorted(ours.records.keys() & theirs.records.keys()):
        both = ours.records[seed], theirs.records[seed]
        if pairable(*both, factors):
            continue
        if all(file_of(record).is_file() for record in both):  # of one that comes with benchsuite there may be none
            first, second = (_read(file_of(record), record, f"{protocol}.{way}") for record in both)
            found[seed] = first, second
    if not found:
        return None
    seed = next(iter(found))
    record = ours.records[seed]
    if not (items := in_words(record, protocol)):
        return None
    for cell, retrieved in zip((ours, theirs), found[seed], strict=True):
        _require_told(file_of(cell.records[seed]), retrieved, len(items))
    return Single(claim, int(within), items, way == "i2t", found)


def _read(file: Path, record: Record, name: str) -> Retrieved:
    ranks = open_ranks(file, file.read_bytes(), record.results)
    return Retrieved(ranks[name], ranks.get(name + NEAREST))


def _require_told(file: Path, retrieved: Retrieved, items: int) -> None:
    """Anyone may have written the file: its numbers must be of these items, each of which has one caption."""
    told = retrieved.nearest is None or are_pictures(retrieved.nearest, items, items)
    if not (len(retrieved.ranks) == items and told):
        raise FileError(file, f"its ranks are not those of the {items:,} test items", "`benchsuite verify` says more")
