"""Self-contained HTML pages: no network, no scripts, everything escaped."""

import os
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from benchsuite import __version__
from benchsuite.analysis.claims import agreements, judged_claims
from benchsuite.analysis.table import TableView
from benchsuite.cards import Card
from benchsuite.errors import UsageError
from benchsuite.registry import methods
from benchsuite.report import numbers
from benchsuite.report.curves import curves_csv


def table_page(view: TableView, command: str) -> str:
    """The page of one table at one scale."""
    template = _environment().get_template("table.html")
    return template.render(
        view=view,
        command=command,
        methods=method_cards(view),
        units=numbers.units(view),
        ours=numbers.OURS,
        claims=judged_claims(view),
        orders=[one for one in agreements(view) if one.agreement.tau is not None],
        curves=curves_name(view),
    )


def method_cards(view: TableView) -> list[Card]:
    """What the methods of the rows say of themselves; those of plugins that are not loaded now are left out."""
    names = dict.fromkeys(row.method for row in view.rows if row.method)
    cards = methods.cards()
    return [cards[name] for name in names if name in cards]


def index_page(views: Sequence[TableView]) -> str:
    """The page that leads to the tables."""
    return _environment().get_template("index.html").render(views=views)


def write_site(folder: Path, views: Sequence[TableView]) -> list[Path]:
    """One page a table and an index; returns the files, the index first."""
    pages = {folder / "index.html": index_page(views)}
    pages |= {folder / f"{v.asked.name}.html": table_page(v, command(v)) for v in views}
    data = {folder / name: curves_csv(v) for v in views if (name := curves_name(v))}
    require_folder(folder)
    for file, text in (pages | data).items():
        file.write_text(text, "utf-8")
    return list(pages)


def curves_name(view: TableView) -> str:
    """The file of a figure's points; "" for a table without curves."""
    return f"{view.asked.name}-curves.csv" if view.table.plots else ""


def require_folder(folder: Path) -> None:
    """Make the folder for the pages, or say now that it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"report folder {folder}: {reason}. Name a writable one with --report.") from error


def command(view: TableView) -> str:
    """What to type to measure the table again."""
    return f"benchsuite repro {view.asked.table} --scale {view.asked.scale}"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchsuite.report"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["published"] = numbers.published
    environment.filters["measured"] = numbers.measured
    environment.filters["seeds"] = numbers.seeds
    environment.globals["version"] = __version__
    return environment
