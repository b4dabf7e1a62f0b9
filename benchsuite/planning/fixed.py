"""What a row's search keeps fixed. Reads cards, so it needs no torch.

docs/tuning.md has the rule, with an example.
"""

import json
from collections.abc import Mapping
from typing import Any

from benchsuite.canonical import canonical
from benchsuite.cards import Card
from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import space
from benchsuite.records.requests import Regime
from benchsuite.registry import methods


def complete(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    """A method's hyper-parameters: defaults where none is given, and whole numbers as such where any may stand."""
    numbers = {field.name for field in card.fields if field.range}
    whole = {**{field.name: field.default for field in card.fields}, **given}
    return {name: float(value) if name in numbers and type(value) is int else value for name, value in whole.items()}


def varied(table: Table, method: str) -> set[str]:
    """Hyper-parameters in which the table's rows of one method differ, defaults where a row gives none."""
    card = methods.card(method)
    rows = [complete(card, row.hyperparameters) for row in table.rows if row.method == method]
    return {name for name in (rows[0] if rows else ()) if len({canonical(row.get(name)) for row in rows}) > 1}


def fixed_by(table: Table, row: Row, part: TablePart, rule: Tuning, regime: Regime) -> dict[str, Any]:
    """What a row's search does not draw and is not the default: as printed, all; tuned, what the table is about.

    That is: what cannot be drawn, what differs between the table's rows of the method, what its file says to print,
    and what the part gives.
    """
    assert row.method is not None
    card = methods.card(row.method)
    defaults = complete(card, {})
    kept = varied(table, row.method) | {*table.printed, *part.hyperparameters}
    could = {coordinate.name for coordinate in space(card, rule.spread, {})}
    drawn = could - kept if regime == "tuned" else set()
    about = {
        name: value
        for name, value in complete(card, row.options(part)).items()
        if name not in drawn and (name in kept & could or canonical(value) != canonical(defaults.get(name)))
    }
    return dict(json.loads(json.dumps(about)))
