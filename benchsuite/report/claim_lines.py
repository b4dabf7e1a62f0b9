"""Claims as lines of forest plots: the published gain; ours with its interval, its seeds, and what they leave open.
Further claims of one table are a matrix of marks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from benchsuite.analysis.both_regimes import InBothRegimes
from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.stats import ALPHA
from benchsuite.analysis.table_view import TableView, grouped
from benchsuite.canonical import short_digest
from benchsuite.grouping import by_key
from benchsuite.papers import Column
from benchsuite.papers.claim import Claim
from benchsuite.papers.schema import RowKey
from benchsuite.report.figures.chart import Scale
from benchsuite.report.figures.model import Estimate
from benchsuite.report.figures.strips import ruler
from benchsuite.report.numbers import counted, paired, published_gain, size

Judged = tuple[TableView, JudgedClaim]
Unit = Literal["percent", "number"]


def anchor(judged: JudgedClaim, both: bool = False) -> str:
    """The place of a claim in a page; with `both` that of its line in both regimes."""
    regime = None if both else judged.regime
    return f"{'headline' if both else 'claim'}-{short_digest([judged.claim.table, judged.claim.name, regime])[:8]}"


def remark(judged: JudgedClaim) -> str:
    """Why there is no test of a claim; empty where its columns say all."""
    answer = judged.verdict
    compared = answer.paired is not None and (answer.p_adjusted is not None or answer.kind == "exploratory")
    return "" if compared else answer.reason


def in_common(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Backbone and variant, where two rows share them."""
    return ", ".join(a for a, b in zip(ours[:2], theirs[:2], strict=True) if a and a == b)


@dataclass(frozen=True)
class ClaimLine:
    """A line: a claim, and the table that it is of."""

    view: TableView
    judged: JudgedClaim
    others: Sequence[JudgedClaim] = ()
    """Claims of the paper's other tables that the same comparison of the same runs answers."""
    both: InBothRegimes | None = None
    """Of a line as tuned: the claim in both regimes."""

    @property
    def tables(self) -> str:
        return ", ".join([self.view.asked.table, *(other.claim.table for other in self.others)])

    @property
    def found(self) -> bool:
        """Whether exploration has found a difference."""
        rate = self.judged.verdict.false_discovery_rate
        return rate is not None and rate <= ALPHA

    @property
    def also(self) -> str:
        """Other published gains that the same comparison answers, each with its column, as of other data."""
        claims = [other.claim for other in self.others if other.claim.published is not None]
        gains = dict.fromkeys((one.column.label or one.column.name, published_gain(one)) for one in claims)
        own = published_gain(self.claim)
        return "; ".join(f"also {column}, published {gain}" for column, gain in gains if gain != own)

    @property
    def remarks(self) -> Sequence[str]:
        """What the people of the folder say of its verdict, in any of its tables."""
        return [*dict.fromkeys(one.remark for one in (self.judged, *self.others) if one.remark)]

    @property
    def row_notes(self) -> Sequence[str]:
        """What the table says of its two rows, such as what the paper does not print."""
        return [f"{row.label}: {row.note}" for row in self.table_rows if row and row.note]

    @property
    def table_rows(self) -> Sequence[TableRow | None]:
        """Row and reference as the table has them; none where one was not asked for."""
        return [self.view.row(key) for key in (self.claim.row, self.claim.reference)]

    @property
    def claim(self) -> Claim:
        return self.judged.claim

    @property
    def rows(self) -> tuple[str, str]:
        """Row and reference, without what both have in common; that is `common`."""
        ours, theirs = self._keys
        apart = [a != b for a, b in zip(ours, theirs, strict=True)]
        names = [[part for part, own in zip(key, apart, strict=True) if part and own] for key in (ours, theirs)]
        first, second = (" ".join(name) or key[2] for name, key in zip(names, (ours, theirs), strict=True))
        return first, second

    @property
    def method(self) -> str:
        """The proposed method's title where the paper's label of the row does not have it; else empty."""
        row = self.view.row(self.claim.row)
        title = row.records[0].method.title if row and row.records else ""
        return title if title.casefold() not in " ".join([*self.claim.row, *self.claim.reference]).casefold() else ""

    @property
    def contradicted(self) -> bool:
        """Whether the paper's table has the opposite sign of what its text claims."""
        return self.claim.published is not None and self.claim.published < 0

    @property
    def common(self) -> str:
        """Backbone and variant, where row and reference share them."""
        return in_common(*self._keys)

    @property
    def about(self) -> str:
        """The method, what is measured, what rows share, and what else the same comparison answers."""
        lower = ", lower is better" if self.claim.column.better == "lower" else ""
        return " · ".join(filter(None, (self.method, self.claim.column.name + lower, self.common, self.also)))

    @property
    def _keys(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of row and reference, with backbones as the page calls them."""
        (backbone, *ours), (other, *theirs) = self.claim.row, self.claim.reference
        return (self.view.tower(backbone), *ours), (self.view.tower(other), *theirs)

    @cached_property
    def estimate(self) -> Estimate | None:
        """Our gain in points or as a plain number: positive speaks for the claim, also where lower is better."""
        answer = self.judged.verdict
        return Estimate.of(self.judged.gains, self.claim.column.unit, answer.kind, answer.confirmable)

    @property
    def gained(self) -> str:
        """Our gain as text: `−0.7 ± 0.5`."""
        return paired(self.judged.gains, self.claim.column.unit)

    @property
    def words(self) -> str:
        """What the strip shows."""
        answer, unit = self.judged.verdict, self.claim.column.unit
        if self.estimate is None or answer.paired is None:
            return "no difference was measured"
        points = " points" if unit == "percent" else ""
        said = f"our gain {self.gained}{points}, {counted(answer.paired.n, 'seed')}"
        left_open = size(answer.confirmable, unit)
        return said if answer.confirmable is None else f"{said}; less than {left_open}{points} could not be confirmed"

    @property
    def published_words(self) -> str:
        """The published gain as text with its unit."""
        if self.claim.published is None:
            return "no published difference"
        return f"published gain {published_gain(self.claim)}{' points' * (self.claim.column.unit == 'percent')}"


@dataclass(frozen=True)
class ClaimForest:
    """Lines of one unit on two common rulers: one for published gains, one for ours."""

    unit: Unit
    lines: Sequence[ClaimLine]

    @property
    def has_published(self) -> bool:
        """Whether any line has a published gain; without one there is no column for them."""
        return any(line.claim.published is not None for line in self.lines)

    @property
    def has_ours(self) -> bool:
        """Whether any line has a gain of ours; without one there is no column for them either."""
        return any(line.estimate for line in self.lines)

    @cached_property
    def published(self) -> Scale:
        return ruler(line.claim.published for line in self.lines if line.claim.published is not None)

    @cached_property
    def ours(self) -> Scale:
        return ruler(value for line in self.lines if line.estimate for value in line.estimate.values)


@dataclass(frozen=True)
class ClaimMatrix:
    """A line for each pair of rows, a column for each measure: many claims in one look."""

    columns: Sequence[Column]
    lines: Sequence[Sequence[Sequence[ClaimLine]]]
    """By line and column; claims that differ in nothing but their words share a place."""
    untested: Sequence[Column]
    """Columns of which no claim was tested; they have no place."""
    bare: int
    """Pairs of rows of which none was tested; they have no line."""

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over the columns, each with its width."""
        return grouped(self.columns)


def matrix(view: TableView, judged_claims: Iterable[JudgedClaim]) -> ClaimMatrix:
    """Claims of one table."""
    lines = [ClaimLine(view, judged) for judged in judged_claims]
    by_place = by_key(((_pair(line.claim), line.claim.column.key), line) for line in lines)
    measured = [line.claim for line in lines if line.judged.gain is not None]
    order = [row.key for row in view.table.rows]
    pairs = sorted({_pair(claim) for claim in measured}, key=lambda pair: [order.index(key) for key in pair])
    answered = {claim.column.key for claim in measured}
    columns = [column for column in view.columns if column.key in answered]
    asked = {line.claim.column.key for line in lines}
    return ClaimMatrix(
        columns,
        [[by_place.get((pair, column.key), []) for column in columns] for pair in pairs],
        [column for column in view.columns if column.key in asked - answered],
        len({_pair(line.claim) for line in lines}) - len(pairs),
    )


def _pair(claim: Claim) -> tuple[RowKey, RowKey]:
    return claim.row, claim.reference


def untested(claims: Iterable[JudgedClaim]) -> tuple[list[JudgedClaim], dict[str, int]]:
    """Headline claims without a number of ours, and for each reason how many other comparisons have none."""
    missing = [one for one in claims if one.gain is None]
    others = Counter(one.verdict.reason for one in missing if not one.claim.headline)
    return [one for one in missing if one.claim.headline], dict(others.most_common())


def forests(claims: Iterable[Judged]) -> list[ClaimForest]:
    """The claims in their order: those on percentages, then those on plain numbers."""
    lines = [ClaimLine(view, judged) for view, judged in claims]
    units: tuple[Unit, ...] = ("percent", "number")
    of_unit = {unit: [line for line in lines if line.claim.column.unit == unit] for unit in units}
    return [ClaimForest(unit, shown) for unit, shown in of_unit.items() if shown]
