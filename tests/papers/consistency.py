"""Where published numbers do not fit together. Nothing is corrected: each such place needs a note in its file."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import Any

from benchsuite.papers.claim import gain
from benchsuite.papers.schema import Column, PublishedCell, Row, Table, TablePart


@dataclass(frozen=True)
class Problem:
    """Something that does not fit, and whether the file says so."""

    where: str
    description: str
    noted: bool


@dataclass(frozen=True)
class Place:
    """A printed number with its place."""

    table: Table
    row: Row
    column: Column
    cell: PublishedCell

    @property
    def name(self) -> str:
        """Table, row and column."""
        return f"{self.table.name}, {self.row.name}, {self.column.group} {self.column.label}".rstrip()

    def mentions(self, value: float) -> bool:
        """Whether the file gives this other value here: in a note, or in a row of the same label."""
        notes = " ".join([self.cell.note, self.row.note, *self.table.notes])
        numbers = {float(number) for number in re.findall(r"-?\d+\.\d+", notes)}
        twins = [row for row in self.table.rows if row.label == self.row.label and self.column.key in row.published]
        return value in numbers | {row.published[self.column.key].value for row in twins}


def problems(table: Table) -> list[Problem]:
    """Means that are not those of their columns, and text claims that are not those of the cells."""
    return [*_means(table), *_claims(table)]


def disagreements(tables: Iterable[Table]) -> list[Problem]:
    """The same number of one paper, printed differently in two tables: same method, setup and measure.

    Figures are exempt: they print no numbers, and their files repeat those of tables.
    """
    places: dict[Any, list[Place]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = row.published.get(column.key)
                if cell and row.method and not table.table.startswith("figure"):
                    places[_what_is_measured(table, row, column)].append(Place(table, row, column, cell))
    return [_disagreement(group) for group in places.values() if len({place.cell.value for place in group}) > 1]


def _what_is_measured(table: Table, row: Row, column: Column) -> tuple[object, ...]:
    part = table.all_parts.get(column.part, TablePart())
    measure = column.measure if isinstance(column.measure, str) else tuple(sorted(column.measure.items()))
    variants = frozenset({row.variant, part.variant})
    options = repr(sorted(row.options(part).items()))
    return table.paper, row.backbone, variants, row.method, options, measure, bool(row.quoted)


def _disagreement(places: list[Place]) -> Problem:
    printed = "; ".join(f"{place.cell.value:g} in {place.name}" for place in places)
    values = {place.cell.value for place in places}
    noted = all(any(place.mentions(value) for value in values - {place.cell.value}) for place in places)
    return Problem(places[0].name, f"printed differently: {printed}", noted)


def _means(table: Table) -> Iterator[Problem]:
    for column in table.columns:
        for row in table.rows:
            cell = row.published.get(column.key)
            parts = [row.published[key] for key in column.mean_of if key in row.published]
            if cell is None or not parts or len(parts) < len(column.mean_of):
                continue
            mean = fmean(part.value for part in parts)
            if abs(mean - cell.value) > unit(cell.value, *(part.value for part in parts)):
                yield Problem(
                    Place(table, row, column, cell).name,
                    f"{cell.value:g} is printed, the mean of its columns is {mean:.4g}",
                    any([cell.note, *(part.note for part in parts)]),
                )


def _claims(table: Table) -> Iterator[Problem]:
    for claim in table.claims:
        row, reference = table.row(claim.row), table.row(claim.reference)
        for column in (table.column(key) for key in claim.columns):
            cell, other = row.published.get(column.key), reference.published.get(column.key)
            if claim.by is None or cell is None or other is None:
                continue
            difference = gain(row, reference, column)
            if abs(difference - claim.by) > unit(claim.by) / 2 + unit(cell.value, other.value):
                yield Problem(
                    f'{table.name}, claim "{claim.statement}" ({claim.locator})',
                    f"the text says {claim.by:g}, the cells say {difference:.4g}",
                    bool(claim.note),
                )


def unit(*values: float) -> float:
    """One unit of the last printed place, of the number with the most places: what rounding alone can change."""
    places = [max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent)) for value in values]
    return float(10.0 ** -max(places)) * 1.000001
