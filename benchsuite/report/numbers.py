"""Numbers the way pages and terminals show them: fractions as percentages, other numbers as they are."""

from benchsuite.analysis.table import Cell, TableView


def published(cell: Cell) -> str:
    """As printed, percentages with two decimals at least."""
    if cell.source is None:
        return "–"
    printed = f"{cell.source.value:g}"
    short = cell.column.unit == "percent" and len(printed.partition(".")[2]) < 2
    return f"{cell.source.value:.2f}" if short else printed


def measured(cell: Cell) -> str:
    """Mean ± standard deviation over seeds, with one seed the value alone."""
    if cell.mean is None:
        return "–"
    shown = _percent if cell.column.unit == "percent" else _plain
    return shown(cell.mean) if cell.sd is None else f"{shown(cell.mean)} ± {shown(cell.sd)}"


def seeds(n: int) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{n} seed" if n == 1 else f"{n} seeds"


def units(view: TableView) -> str:
    """What the numbers of a table are."""
    plain = [column.label for column in view.columns if column.unit == "number"]
    if len(plain) == len(view.columns):
        return "Plain numbers"
    return f"Percent ({', '.join(dict.fromkeys(plain))}: plain numbers)" if plain else "Percent"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _plain(value: float) -> str:
    return f"{value:.3f}"
