"""Numbers the way pages and terminals show them: fractions as percentages, other numbers as they are."""

from benchsuite.analysis.table import Cell, TableRow, TableView


def published(cell: Cell) -> str:
    """As printed, percentages with two decimals at least."""
    if cell.source is None:
        return "–"
    printed = f"{cell.source.value:g}"
    short = cell.column.unit == "percent" and len(printed.partition(".")[2]) < 2
    return f"{cell.source.value:.2f}" if short else printed


def measured(cell: Cell) -> str:
    """Mean ± half of its 95% interval over seeds, with one seed the value alone."""
    if cell.mean is None:
        return "–"
    shown = _percent if cell.column.unit == "percent" else _plain
    return shown(cell.mean) if cell.half is None else f"{shown(cell.mean)} ± {shown(cell.half)}"


def difference(cell: Cell) -> str:
    """Ours minus the published number, signed, in the column's unit; a dash where either is missing."""
    if cell.mean is None or cell.published is None:
        return "–"
    shown = (_percent if cell.column.unit == "percent" else _plain)(cell.mean - cell.published)
    if not float(shown):
        return shown.removeprefix("-")
    return f"−{shown[1:]}" if shown.startswith("-") else f"+{shown}"


def seeds(n: int) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{n} seed" if n == 1 else f"{n} seeds"


def counts(row: TableRow) -> str:
    """Over how many seeds the numbers of a row are: `3`, or `2–3` where its cells differ."""
    found = sorted({cell.n for cell in row.cells if cell.n})
    return "–".join(map(str, dict.fromkeys((found[0], found[-1])))) if found else "–"


def units(view: TableView) -> str:
    """What the numbers of a table are."""
    plain = [column.label for column in view.columns if column.unit == "number"]
    if len(plain) == len(view.columns):
        return "Plain numbers"
    return f"Percent ({', '.join(dict.fromkeys(plain))}: plain numbers)" if plain else "Percent"


OURS = "mean ± half of its 95% interval over n seeds"
"""What `measured` shows, for whoever shows it."""


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _plain(value: float) -> str:
    return f"{value:.3f}"
