"""Fractions as percentages, the way pages and terminals show them."""

from benchsuite.analysis.table import Cell


def percent(value: float | None, digits: int = 2) -> str:
    """`0.2164` as `21.64`; a dash for nothing."""
    return "–" if value is None else f"{100 * value:.{digits}f}"


def measured(cell: Cell) -> str:
    """Mean ± standard deviation over seeds, with one seed the value alone."""
    if cell.mean is None:
        return "–"
    return percent(cell.mean, 1) if cell.sd is None else f"{percent(cell.mean, 1)} ± {percent(cell.sd, 1)}"


def seeds(n: int) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{n} seed" if n == 1 else f"{n} seeds"
