"""Numbers as pages and terminals show them: fractions as percentages, other numbers as they are."""

from collections.abc import Iterable, Sequence

from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.analysis.stats import Paired
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import percentage
from benchsuite.papers import Column
from benchsuite.papers.claim import Claim

DASH = "–"
MINUS = "−"
APART = 1e6
"""More than any percentage."""
OURS = "mean ± half-width of the 95% CI over seeds"
"""What `measured` shows."""
DIGITS = {"percent": 1, "number": 3}
"""Decimals of our numbers by unit."""


def counted(n: int, noun: str) -> str:
    """`1 table`, `3 tables`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def seeds_of(counts: Iterable[int]) -> str:
    """`1 seed`, `3 seeds`, `2 to 3 seeds`."""
    least, most = min(numbers := list(counts)), max(numbers)
    return counted(most, "seed") if least == most else f"{least} to {most} seeds"


def in_unit(value: float, unit: str, digits: int | None = None) -> str:
    """As a percentage or as it is, with so many decimals; what rounds to zero has no sign."""
    decimals = DIGITS[unit] if digits is None else digits
    shown = float(f"{100 * value:.12g}") if unit == "percent" else value  # equal means print alike
    return f"{shown:z.{decimals}f}"


def signed(value: float, unit: str) -> str:
    """A difference with its sign; none for what rounds to zero."""
    shown = in_unit(value, unit)
    if not float(shown):
        return shown
    return f"{MINUS}{shown[1:]}" if shown.startswith("-") else f"+{shown}"


def published(cell: Cell) -> str:
    """As printed, percentages with two decimals at least."""
    if cell.source is None:
        return DASH
    printed = f"{cell.source.value:g}"
    short = cell.column.unit == "percent" and len(printed.partition(".")[2]) < 2
    return f"{cell.source.value:.2f}" if short else printed


def measured(cell: Cell) -> str:
    """Mean ± half of its 95% interval over seeds; for one seed its value."""
    if cell.mean is None:
        return DASH
    return _interval(in_unit(cell.mean, cell.column.unit), cell.half, cell.column.unit)


def _interval(mean: str, half: float | None, unit: str) -> str:
    return mean if half is None else f"{mean} ± {in_unit(half, unit)}"


def difference(cell: Cell) -> str:
    """Ours minus the published number, signed, in the column's unit; a dash where either is missing."""
    if cell.mean is None or cell.published is None:
        return DASH
    return signed(cell.mean - cell.published, cell.column.unit)


def counts(row: TableRow) -> str:
    """Number of seeds behind a row: `3`, or `2–3` where its cells differ."""
    seeds = [cell.n for cell in row.cells if cell.n]
    if not seeds:
        return DASH
    low, high = min(seeds), max(seeds)
    return f"{low}" if low == high else f"{low}{DASH}{high}"


def units(columns: Sequence[Column]) -> str:
    """What the numbers of a table are."""
    others = [column.label for column in columns if column.unit == "number"]
    if len(others) == len(columns):
        return "Plain numbers"
    return f"Percent ({', '.join(dict.fromkeys(others))}: plain numbers)" if others else "Percent"


def size(value: float | None, unit: str) -> str:
    """A difference without its sign, in the column's unit."""
    return DASH if value is None else in_unit(value, unit, DIGITS[unit] + (unit == "percent"))


def paired(pair: Paired | None, unit: str) -> str:
    """A mean paired difference ± half of its 95% interval."""
    if pair is None or pair.difference is None:
        return DASH
    half = None if pair.low is None or pair.high is None else (pair.high - pair.low) / 2
    return _interval(signed(pair.difference, unit), half, unit)


def climbed(count: int, gain: Paired) -> str:
    """What the second half of searches of so many trials found beyond the first."""
    return f"the best of {count} trials is {paired(gain, 'percent')} points above the best of {count // 2}"


def published_gain(claim: Claim) -> str:
    """By how much the printed numbers have it ahead, in the column's unit."""
    if claim.published is None:
        return DASH
    shown = f"{claim.published:+.2f}" if claim.column.unit == "percent" else f"{claim.published:+g}"
    return shown.replace("-", MINUS)


def tick(value: float) -> str:
    """A round number on the ruler of a difference, signed."""
    return "0" if value == 0 else f"{value:+g}".replace("-", MINUS)


def p(value: float | None) -> str:
    """A p-value, short."""
    if value is None:
        return DASH
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def share(value: float | None) -> str:
    """A power in whole percent."""
    return DASH if value is None else percentage(value)


def times(ratio: float | None) -> str:
    """How many times as much."""
    return DASH if ratio is None else f"×\N{NO-BREAK SPACE}{ratio:.2f}"


def megabytes(size: int | None) -> str:
    """A number of bytes."""
    return DASH if size is None else f"{size / 1e6:,.0f} MB"


def amount(value: float | None) -> str:
    """Any other quantity: large ones without decimals."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.4g}"


def sort_key(value: float | None) -> float | str:
    """What a column sorts by: nothing for a missing value, which comes last in either direction."""
    return "" if value is None else round(value, 6)


def order(value: float | None, unit: str) -> float | str:
    """What a column of several units sorts by: plain numbers are not mixed with percentages, but come after them."""
    return sort_key(None if value is None else value if unit == "percent" else value + APART)


def decimals(view: TableView) -> list[int]:
    """By column, the most digits behind the point, so that the points of a column are aligned."""
    columns = zip(*(row.cells for row in view.rows), strict=True)
    shown = (
        [text for cell in cells for text in (published(cell), measured(cell).partition(" ")[0])] for cells in columns
    )
    return [min(max(len(text.partition(".")[2]) for text in texts), 4) for texts in shown]
