"""Which of a recipe's protocols measures each column of a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchsuite.errors import UnknownError, UsageError
from benchsuite.papers import Column, Table
from benchsuite.parts import NOTHING
from benchsuite.planning.recipe import Recipe
from benchsuite.registry import tasks


@dataclass(frozen=True)
class Measured:
    """By column key: what is measured, what replaces the paper's data, or why nothing is measured."""

    measures: dict[str, str]
    stand_ins: dict[str, str]
    missing: dict[str, str]
    means: dict[str, list[str]]
    """Of columns that are computed from others: the keys of those."""


NO_CLASSES = "the data has no classes"


def measured_columns(table: Table, recipe: Recipe, lacking: Mapping[str, str] = NOTHING) -> Measured:
    """The recipe's measure for every column, or its reason why there is none.

    `lacking` is what the data turned out not to allow, a protocol or "protocol.metric", with the reason.
    """
    protocols = recipe.all_protocols
    measured, published = Measured({}, {}, {}, {}), bool(table.source) or any(row.published for row in table.rows)
    for column in table.columns:
        where = f"{table.name}, column {column.key}: "
        measure = column.measured_at(recipe.track)
        if measure is None:
            raise UsageError(f'{where}no measure for track "{recipe.track}".')
        protocol, point, metric = measure.rpartition(".")
        if not point:
            raise UsageError(f'{where}measure "{measure}": write protocol.metric, such as retrieval.t2i_r1.')
        if reason := recipe.lacks(protocol, measure):
            measured.missing[column.key] = reason
            continue
        own = recipe.own(protocol)
        if own not in protocols:
            raise UnknownError("protocol", own, {*protocols, *recipe.stand_ins}, where)
        if protocols[own].task in tasks:
            require_metric(metric, protocols[own].task, where)
        if reason := lacking.get(own, lacking.get(f"{own}.{metric}", "")):
            measured.missing[column.key] = reason
            continue
        measured.measures[column.key] = f"{own}.{metric}"
        if description := _stand_in(column, protocol, recipe, published):
            measured.stand_ins[column.key] = description
    for column in table.columns:
        if column.key in measured.missing and column.mean_of:
            _compute(column, measured)
    return measured


def _compute(column: Column, measured: Measured) -> None:
    """Take the mean of other columns for a column that has no measure of its own, if there are all of those."""
    if reasons := [measured.missing[key] for key in column.mean_of if key in measured.missing]:
        measured.missing[column.key] = reasons[0]
        return
    del measured.missing[column.key]
    measured.means[column.key] = column.mean_of
    measured.measures[column.key] = f"mean({', '.join(measured.measures[key] for key in column.mean_of)})"
    replaced = dict.fromkeys(measured.stand_ins[key] for key in column.mean_of if key in measured.stand_ins)
    if replaced:
        measured.stand_ins[column.key] = "; ".join(replaced)


def metrics_of(task: str) -> Sequence[str]:
    """Everything a task measures."""
    about = tasks.card(task).about
    return (*about["metrics"], *about.get("measures", ()))


def require_metric(metric: str, task: str, where: str) -> None:
    """Refuse a metric that the task does not measure."""
    if metric not in (known := metrics_of(task)):
        raise UnknownError("metric", metric, known, where)


def _stand_in(column: Column, protocol: str, recipe: Recipe, published: bool) -> str:
    """What stands for a paper's data; of a table of no paper, the recipe's own protocols stand for nothing."""
    stand_in = recipe.stand_ins.get(protocol)
    if stand_in and (published or stand_in.protocol != protocol):
        return stand_in.description
    if not published:
        return column.stand_in.get(recipe.track, "")
    same = (stand_in.description for stand_in in recipe.stand_ins.values() if stand_in.protocol == protocol)
    return column.stand_in.get(recipe.track) or next(same, "")


def column_of(measure: str, recipe: Recipe) -> dict[str, str]:
    """A table's column for a measure: what its task says of it, which is a fraction unless it says otherwise."""
    protocol, _, metric = measure.rpartition(".")
    own = recipe.own(protocol)
    protocols = recipe.all_protocols
    about = tasks.card(protocols[own].task).about if own in protocols else {}
    words: dict[str, str] = {}
    if metric in about.get("measures", ()):
        headline = about.get("headline", ())
        known = about if metric in ([headline] if isinstance(headline, str) else headline) else {}
        words = {"unit": known.get("unit", "number"), "better": known.get("better", "neither")}
    key = re.sub(r"[^a-z0-9]+", "_", measure.lower()).strip("_")
    return {"key": key, "group": "", "label": measure, "measure": measure, **words}
