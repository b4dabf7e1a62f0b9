"""What a plan makes of a table's rows, without torch and without data: setups, methods, and requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchsuite.papers import Row, Table, read_table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.search_space import complete, fixed_by, is_temperature, space
from benchsuite.records.requests import Regime, TableRequest, file_digest
from benchsuite.records.schema import MethodPart, Result, TunedBy
from benchsuite.registry import Registry, datasets, methods, tasks
from benchsuite.setup import Data, Setup


def setup_of(recipe: Recipe, backbone: str, variants: Sequence[str] = (), digest: str = "d" * 64) -> Setup:
    """The recipe's setup as a run has it."""
    planned = recipe.setup(backbone, variants)
    protocols = {
        name: one.model_copy(
            update={
                "options": _whole(tasks, one.task, one.options),
                "version": tasks.card(one.task).version,
                "data": one.data and _data(one.data, digest),
            }
        )
        for name, one in planned.protocols.items()
    }
    return planned.model_copy(update={"data": _data(planned.data, digest), "protocols": protocols})


def _data(data: Data, digest: str) -> Data:
    return data.model_copy(
        update={"options": _whole(datasets, data.name, data.options), "version": 1, "digest": digest}
    )


def _whole(registry: Registry, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    options = {field.name: field.default for field in registry.card(name).fields} | dict(given)
    return {key: value for key, value in options.items() if key != "folder"}


def method_of(row: Row, recipe: Recipe, part: TablePart | None = None, **changes: Any) -> MethodPart:
    """The row's method as printed, temperatures multiplied by the recipe's factor."""
    assert row.method
    card, options = methods.card(row.method), row.options(part or TablePart())
    warm = {field.name for field in card.fields if is_temperature(field)}
    values = {
        name: value * recipe.temperature_factor if name in warm else value
        for name, value in complete(card, options).items()
    }
    told = {"name": card.name, "title": card.title, "version": card.version, "code": "c0de", "owner": card.owner}
    return MethodPart.model_validate({**told, "hyperparameters": values, **changes})


def tuned_of(table: Table, row: Row, recipe: Recipe, regime: Regime = "tuned", **changes: Any) -> TunedBy:
    """What the record of a searched row says of its trials, which are nowhere."""
    assert row.method
    assert recipe.tuning
    fixed = fixed_by(table, row, TablePart(), recipe.tuning, regime)
    drawn = space(methods.card(row.method), recipe.tuning.spread, fixed) if regime == "tuned" else ()
    trials = recipe.tuning.trials if regime == "tuned" else recipe.tuning.printed_trials
    told = {"trials": trials, "trial": 0, "score": 0.5, "digest": "e" * 64}
    return TunedBy.model_validate({**told, "searched": sorted(each.name for each in drawn), **changes})


def results_of(setup: Setup, known: Mapping[str, Result]) -> dict[str, Result]:
    """Of each protocol a result, without a number where none is given."""
    return {
        name: known.get(name, Result(task=one.task, version=one.version or 1, metrics={}, counts={"items": 1}))
        for name, one in setup.protocols.items()
    }


def request_of(
    table: str | Table,
    scale: str,
    rows: Sequence[str] = (),
    replicates: Sequence[int] = (0,),
    recipe: Recipe | None = None,
    **changes: Any,
) -> TableRequest:
    """What was asked of a table; digests are those of its files."""
    table = read_table(table) if isinstance(table, str) else table
    recipe = recipe or read_recipe(table.recipes[scale])
    return TableRequest.model_validate(
        {
            "table": table.name, "scale": scale, "rows": list(rows), "replicates": list(replicates),
            "table_digest": file_digest(table.at(scale)), "recipe_digest": file_digest(recipe), **changes,
        }
    )  # fmt: skip
