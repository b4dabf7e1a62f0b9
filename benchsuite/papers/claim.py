"""What a table claims: that a row beats another on a column. Derived from its roles, or made in the paper's text.

Of rows that a user adds to a table, what they are compared with.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from benchsuite.papers.questions import Premise, TextClaim
from benchsuite.papers.schema import Column, Row, RowKey, Table, row_name


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
    headline: bool = False
    """Whether it is of the family of its paper that has verdicts; of an added row, whether it asks the same."""
    added: bool = False
    """Whether it is not the paper's but a question about a row that a user added."""

    @property
    def name(self) -> str:
        """`row beats reference on column`."""
        return f"{row_name(self.row)} beats {row_name(self.reference)} on {self.column.name}"

    def depends_on(self, premise: Premise, concerned: Collection[RowKey]) -> bool:
        """Whether it may depend on a premise, which concerns claims on these rows; none: on any."""
        rows = not concerned or not {self.row, self.reference}.isdisjoint(concerned)
        return rows and (not premise.columns or self.column.key in premise.columns)

    @property
    def said(self) -> "Said | None":
        """What the text says, which several claims can follow from; none if the claim follows from the table alone."""
        return Said(self.locator, self.statement, self.note) if self.locator else None


class Said(NamedTuple):
    """A statement of a paper's text."""

    locator: str
    statement: str
    note: str


def headline_claims(tables: Iterable[Table]) -> int:
    """How many headline claims tables make, whether they were run or not."""
    return sum(claim.headline for table in tables for claim in _of_text(table).values())


def headline_rows(table: Table) -> list[str]:
    """Names of the rows that its headline claims compare, and of those that the claims' premises look at."""
    claims = [claim for claim in _of_text(table).values() if claim.headline]
    compared = [key for claim in claims for key in (claim.row, claim.reference)]
    for premise in table.premises:
        concerned = {table.row(name).key for name in premise.concerns}
        if any(claim.depends_on(premise, concerned) for claim in claims):
            compared += [table.row(name).key for name in premise.rows]
    return list(dict.fromkeys(map(row_name, compared)))


def claims_of(table: Table) -> list[Claim]:
    """All claims, each comparison once: headline claims, then others of the text, then what follows from the cells."""
    claims = _of_text(table)
    for claim in _derived(table):
        claims.setdefault(_asked(claim), claim)
    return list(claims.values())


def _of_text(table: Table) -> dict[object, Claim]:
    """Those that the text makes, headline claims first, by what they ask. All headline claims are among them."""
    claims = [
        _claim(table, table.row(text.row), table.row(text.reference), table.column(key), text)
        for text in table.claims
        for key in text.columns
    ]
    found: dict[object, Claim] = {}
    for claim in sorted(claims, key=lambda claim: not claim.headline):
        found.setdefault(_asked(claim), claim)
    return found


def _asked(claim: Claim) -> object:
    """Which two rows it compares, and on what."""
    return frozenset((claim.row, claim.reference)), claim.column.key


def claims_of_added(table: Table, added: Sequence[RowKey]) -> list[Claim]:
    """That rows which the table does not have beat its reference under the same setup, on each column.

    Where the table has headline claims, those on the same columns are such.
    """
    asked = {claim.headline for claim in table.claims} - {""}
    return [
        Claim(table.name, key, reference.key, column, published=None, headline=column.key in asked, added=True)
        for key in added
        if (reference := reference_of(table, *key[:2]))
        for column in table.columns
        if column.better != "neither"
    ]


def reference_of(table: Table, backbone: str, variant: str) -> Row | None:
    """The first baseline of a backbone and variant that a method reproduces; without baselines the first step, or row.

    It depends on the table alone, and not on which rows were run or what came out.
    """
    rows = [row for row in table.rows if row.method and (row.backbone, row.variant) == (backbone, variant)]
    by_role = (row for role in ("baseline", "step", "proposed") for row in rows if row.role == role)
    return next(by_role, None)


def _derived(table: Table) -> Iterator[Claim]:
    """The proposed method against each baseline, and steps against each other, under the same setup.

    The direction is the printed one: where a baseline's number is the better one, the claim is the baseline's. Of two
    rows of which one has no published number at all, the proposed one is claimed to be better.
    """
    for left, right in combinations(table.rows, 2):
        if not _compared(table, left, right):
            continue
        proposed = (left.role == "proposed") - (right.role == "proposed")
        for column in table.columns:
            difference = gain(left, right, column) if left.published and right.published else proposed
            if column.better != "neither" and difference:
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
        headline=bool(text and text.headline == column.key),
    )
