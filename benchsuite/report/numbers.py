"""Numbers the way pages and terminals show them: fractions as percentages, other numbers as they are."""

from collections.abc import Sequence

from benchsuite.analysis.stats import Paired
from benchsuite.analysis.tables import Cell, TableRow, TableView
from benchsuite.papers.claims import Claim

DASH = "–"
MINUS = "−"


def published(cell: Cell) -> str:
    """As printed, percentages with two decimals at least."""
    if cell.source is None:
        return DASH
    printed = f"{cell.source.value:g}"
    short = cell.column.unit == "percent" and len(printed.partition(".")[2]) < 2
    return f"{cell.source.value:.2f}" if short else printed


def measured(cell: Cell) -> str:
    """Mean ± half of its 95% interval over seeds, with one seed the value alone."""
    if cell.mean is None:
        return DASH
    shown = percent if cell.column.unit == "percent" else plain
    return shown(cell.mean) if cell.half is None else f"{shown(cell.mean)} ± {shown(cell.half)}"


def difference(cell: Cell) -> str:
    """Ours minus the published number, signed, in the column's unit; a dash where either is missing."""
    if cell.mean is None or cell.published is None:
        return DASH
    return signed(cell.mean - cell.published, cell.column.unit)


def seeds(n: int) -> str:
    """`1 seed`, `3 seeds`."""
    return counted(n, "seed")


def counted(n: int, what: str) -> str:
    """`1 table`, `3 tables`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def counts(row: TableRow) -> str:
    """Over how many seeds the numbers of a row are: `3`, or `2–3` where its cells differ."""
    found = sorted({cell.n for cell in row.cells if cell.n})
    return DASH.join(map(str, dict.fromkeys((found[0], found[-1])))) if found else "–"


def units(view: TableView) -> str:
    """What the numbers of a table are."""
    others = [column.label for column in view.columns if column.unit == "number"]
    if len(others) == len(view.columns):
        return "Plain numbers"
    return f"Percent ({', '.join(dict.fromkeys(others))}: plain numbers)" if others else "Percent"


OURS = "mean ± half of its 95% interval over n seeds"
"""What `measured` shows, for whoever shows it."""


def percent(value: float) -> str:
    """A fraction as a percentage."""
    return f"{100 * value:.1f}"


def plain(value: float) -> str:
    """Any other number."""
    return f"{value:.3f}"


def exact(value: float) -> str:
    """A number that is no share, whole ones without decimals."""
    return (f"{value:.0f}" if value == round(value) else plain(value)).replace("-", MINUS)


def in_unit(value: float, unit: str) -> str:
    """As a percentage or as it is."""
    return percent(value) if unit == "percent" else plain(value)


def signed(value: float, unit: str) -> str:
    """A difference with its sign; none for what rounds to nothing."""
    shown = in_unit(value, unit)
    if not float(shown):
        return shown.removeprefix("-")
    return f"{MINUS}{shown[1:]}" if shown.startswith("-") else f"+{shown}"


def paired(pair: Paired | None, unit: str, lower: bool = False) -> str:
    """A mean paired difference ± half of its interval; with `lower` in the direction that is better."""
    if pair is None or pair.difference is None:
        return DASH
    told = signed(-pair.difference if lower else pair.difference, unit)
    if pair.low is None or pair.high is None:
        return told
    return f"{told} ± {in_unit((pair.high - pair.low) / 2, unit)}"


def our_gain(claim: Claim, pair: Paired | None) -> str:
    """By how much our runs have the claim's row ahead."""
    return paired(pair, claim.column.unit, claim.column.better == "lower")


def gain(claim: Claim) -> str:
    """By how much the printed numbers have it ahead, in the column's unit."""
    if claim.published is None:
        return DASH
    return f"{claim.published:+.2f}".replace("-", MINUS) if claim.column.unit == "percent" else f"{claim.published:+g}"


def p(value: float | None) -> str:
    """A p value, short."""
    if value is None:
        return DASH
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def times(ratio: float | None) -> str:
    """How many times as much."""
    return DASH if ratio is None else f"× {ratio:.2f}"


def megabytes(size: int | None) -> str:
    """A number of bytes."""
    return DASH if size is None else f"{size / 1e6:,.0f} MB"


def thousands(count: int | None) -> str:
    """A large number."""
    return DASH if count is None else f"{count:,}"


def sort_key(value: float | None) -> float | str:
    """What a table sorts by; nothing for what is missing, which comes last in either direction."""
    return "" if value is None else value


def order(cell: Cell) -> float | str:
    """A cell sorts by our mean."""
    return sort_key(cell.mean)


def places(view: TableView) -> list[int]:
    """By column, the most digits behind the point in it, so that its points stand in one line."""
    return [_places([row.cells[number] for row in view.rows]) for number in range(len(view.columns))]


def _places(cells: Sequence[Cell]) -> int:
    shown = [text for cell in cells for text in (published(cell), measured(cell).partition(" ")[0])]
    return min(max((len(text.partition(".")[2]) for text in shown), default=1), 4)
