"""Where published numbers do not fit together. Nothing is mended: what does not fit needs a note in its file."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import Any

from benchsuite.papers.claims import gain
from benchsuite.papers.schema import Column, PublishedCell, Row, Table, TablePart


@dataclass(frozen=True)
class Problem:
    """Something that does not fit, and the notes that say so, if any do."""

    where: str
    description: str
    notes: tuple[str, ...]

    @property
    def noted(self) -> bool:
        """Whether the file says so."""
        return any(self.notes)


def problems(table: Table) -> list[Problem]:
    """Means that are not those of their columns, and claims of the text that are not those of the cells."""
    return [*_means(table), *_claims(table)]


def disagreements(tables: Iterable[Table]) -> list[Problem]:
    """The same number of one paper, printed differently in two tables: same method, setup and measure."""
    seen: dict[Any, list[tuple[str, PublishedCell, Row]]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = row.published.get(column.key)
                if cell and row.method:
                    where = f"{table.name}, {row.name}, {column.group} {column.label}".rstrip()
                    seen[_sameness(table, row, column)].append((where, cell, row))
    return [_disagreement(found) for found in seen.values() if len({cell.value for _, cell, _ in found}) > 1]


def _sameness(table: Table, row: Row, column: Column) -> tuple[object, ...]:
    part = table.all_parts.get(column.part, TablePart())
    measure = column.measure if isinstance(column.measure, str) else tuple(sorted(column.measure.items()))
    variants = frozenset({row.variant, part.variant})
    options = repr(sorted(row.options(part).items()))
    return table.paper, row.backbone, variants, row.method, options, measure, bool(row.quoted)


def _disagreement(found: list[tuple[str, PublishedCell, Row]]) -> Problem:
    told = "; ".join(f"{cell.value:g} in {where}" for where, cell, _ in found)
    notes = tuple(note for _, cell, row in found for note in (cell.note, row.note) if note)
    return Problem(found[0][0], f"printed differently: {told}", notes)


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
                    f"{table.name}, {row.name}, {column.group} {column.label}".rstrip(),
                    f"{cell.value:g} is printed, the mean of its columns is {mean:.4g}",
                    (cell.note, *(part.note for part in parts)),
                )


def _claims(table: Table) -> Iterator[Problem]:
    for claim in table.claims:
        row, reference = table.row(claim.row), table.row(claim.reference)
        for column in (table.column(key) for key in claim.columns):
            cells = [one.published.get(column.key) for one in (row, reference)]
            found = gain(row, reference, column)
            if claim.by is None or found is None:
                continue
            if abs(found - claim.by) > unit(claim.by) / 2 + unit(*(cell.value for cell in cells if cell)):
                yield Problem(
                    f'{table.name}, claim "{claim.statement}" ({claim.locator})',
                    f"the text says {claim.by:g}, the cells say {found:.4g}",
                    (claim.note,),
                )


def unit(*values: float) -> float:
    """One unit of the last printed place, of the number with the most places: what rounding alone can move."""
    places = [max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent)) for value in values]
    return float(10.0 ** -max(places)) * 1.000001
