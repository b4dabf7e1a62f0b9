"""What a table claims: that a row beats another on a column. Derived from its roles, or made in the paper's text."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from benchsuite.papers.schema import Column, Row, RowKey, Table, TextClaim, row_name


@dataclass(frozen=True)
class Claim:
    """Row beats reference on a column, as published."""

    table: str
    row: RowKey
    reference: RowKey
    column: Column
    published: float | None
    """By how much, in the column's unit; none if a cell is not printed."""
    statement: str = ""
    """The claim in words, if the text makes it."""
    locator: str = ""
    """Where the text makes it; "" if it follows from the table alone."""
    by: float | None = None
    """The difference that the text states."""
    note: str = ""

    @property
    def name(self) -> str:
        """`row beats reference on column`."""
        return f"{row_name(self.row)} beats {row_name(self.reference)} on {self.column.name}"


def claims_of(table: Table) -> list[Claim]:
    """All claims, each comparison once: those of the text first, then what else follows from the table's cells."""
    claims: dict[object, Claim] = {}
    for claim in (*_from_text(table), *_derived(table)):
        claims.setdefault((frozenset((claim.row, claim.reference)), claim.column.key), claim)
    return list(claims.values())


def _from_text(table: Table) -> Iterator[Claim]:
    for claim in table.claims:
        row, reference = table.row(claim.row), table.row(claim.reference)
        for key in claim.columns:
            yield _claim(table, row, reference, table.column(key), claim)


def _derived(table: Table) -> Iterator[Claim]:
    """The proposed method against each baseline, and steps against each other, under the same setup.

    The direction is the printed one: where a baseline's number is the better one, the claim is the baseline's.
    """
    for left, right in combinations(table.rows, 2):
        if not _compared(table, left, right):
            continue
        for column in table.columns:
            if column.better != "neither" and (difference := gain(left, right, column)):
                first, second = (left, right) if difference > 0 else (right, left)
                yield _claim(table, first, second, column)


def _compared(table: Table, left: Row, right: Row) -> bool:
    roles = {left.role, right.role}
    same_setup = left.backbone == right.backbone and left.variant == right.variant
    if roles == {"step"}:
        return same_setup or (left.backbone == right.backbone and bool(table.factors))
    return roles in ({"proposed", "baseline"}, {"proposed", "step"}) and same_setup


def gain(row: Row, reference: Row, column: Column) -> float | None:
    """By how much a printed number is better than another, without floating-point noise; none if one is missing."""
    ours, theirs = row.published.get(column.key), reference.published.get(column.key)
    if ours is None or theirs is None:
        return None
    return round(theirs.value - ours.value if column.better == "lower" else ours.value - theirs.value, 6)


def _claim(table: Table, row: Row, reference: Row, column: Column, text: TextClaim | None = None) -> Claim:
    return Claim(
        table=table.name,
        row=row.key,
        reference=reference.key,
        column=column,
        published=gain(row, reference, column),
        statement=text.statement if text else "",
        locator=text.locator if text else "",
        by=text.by if text else None,
        note=text.note if text else "",
    )
