"""A plan: the runs that fill a table at a scale, each with its identity, before anything is trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchsuite.errors import UsageError, unknown
from benchsuite.experiments.columns import measured_columns
from benchsuite.experiments.data import nowhere, require_used
from benchsuite.experiments.recipe import Recipe, read_recipe
from benchsuite.experiments.resolve import NO_FOLDERS, resolve_method, resolve_setup
from benchsuite.experiments.rows import select
from benchsuite.methods import create_method
from benchsuite.papers import Row, Table, read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import MethodPart, Record, run_id
from benchsuite.setup import Part, Setup
from benchsuite.training.needs import passes, require_served


class Run(Part):
    """One run to be done."""

    run_id: str
    setup: Setup
    method: MethodPart
    seed: int
    label: str
    """For progress: backbone, row and seed."""
    estimate: float
    """Seconds on one thread, estimated from the recipe."""


@dataclass(frozen=True)
class Plan:
    """A table's runs, and the request by which a report finds them."""

    request: TableRequest
    runs: Sequence[Run]


def plan_table(
    name: str,
    scale: str,
    seeds: Sequence[int] | None = None,
    rows: Sequence[str] = (),
    extra: Sequence[str] = (),
    folders: Mapping[str, str] = NO_FOLDERS,
) -> Plan:
    """The runs of a table. `rows` selects by method, label or backbone/label; `extra` are methods to add as rows.

    `folders` are those of datasets read from files. A row or part that trains on another dataset than the recipe's is
    skipped, with the reason, if that folder is not given. If nothing is left, the table is refused.
    """
    table = read_table(name)
    if scale not in table.recipes:
        raise unknown("scale", scale, table.recipes, f"{name}: ")
    recipe = read_recipe(table.recipes[scale])
    chosen = select(table, rows, extra)
    require_used(recipe, folders)
    columns = measured_columns(table, recipe)

    @cache
    def setup(backbone: str, *variants: str) -> Setup:
        return resolve_setup(recipe, backbone, folders, variants)

    planned = [_plan_row(table, row, recipe, setup, folders, seeds or range(recipe.seeds)) for row in chosen]
    used = {name for row in chosen for name in (row.variant, *(part.variant for part in table.parts.values()))}
    if not any(runs for _, runs in planned) and (reason := nowhere(recipe, sorted(used), folders)):
        raise UsageError(f"{name} at scale {scale}: nothing can be run: {reason}.")
    request = TableRequest(
        table=name,
        scale=scale,
        recipe=table.recipes[scale],
        track=recipe.track,
        description=recipe.description,
        assumptions=recipe.assumptions,
        tuned={what: f"{t.chosen}: {t.rule} ({t.trials} trials)" for what, t in recipe.tuned.items()},
        backbones={name: backbone.description for name, backbone in recipe.backbones.items()},
        variants={name: recipe.variants[name].description for name in recipe.variants if name in used},
        measures=columns.measures,
        stand_ins=columns.stand_ins,
        missing=columns.missing,
        temperature_factor=recipe.temperature_factor,
        setups={row.setup_key(part): runs.setup_id for row, _ in planned for part, runs in row.parts.items()},
        rows=[row for row, _ in planned],
    )
    return Plan(request, [run for _, runs in planned for run in runs])


def plan_run(
    method: str,
    scale_recipe: str,
    backbone: str,
    seed: int,
    hyperparameters: Mapping[str, Any],
    folders: Mapping[str, str] = NO_FOLDERS,
    variant: str = "",
) -> Run:
    """One run outside of any table. As in a table, the recipe's factor multiplies the temperatures that are given."""
    recipe = read_recipe(scale_recipe)
    require_used(recipe, folders)
    return plan_under(recipe, method, backbone, seed, hyperparameters, folders, variant)


def plan_under(
    recipe: Recipe,
    method: str,
    backbone: str,
    seed: int,
    hyperparameters: Mapping[str, Any],
    folders: Mapping[str, str] = NO_FOLDERS,
    variant: str = "",
) -> Run:
    """The same, under a recipe that is already read."""
    setup = resolve_setup(recipe, backbone, folders, (variant,))
    part = resolve_method(method, hyperparameters, setup.temperature_factor)
    return _run(setup, part, seed, f"{backbone} {method}", recipe.backbones[backbone].step_seconds)


def estimated_seconds(runs: Sequence[Run], jobs: int, records: Mapping[str, Record]) -> float:
    """How long the runs may take, from records of the same setup and method if any, else from the recipe."""
    measured: dict[tuple[str, str], list[float]] = {}
    for record in records.values():
        seconds = float(record.cost["seconds"]) + float(record.cost.get("evaluation_seconds", 0))
        measured.setdefault((record.setup_id, record.method.name), []).append(seconds)
    each = [max(measured.get((run.setup.setup_id, run.method.name), [run.estimate])) for run in runs]
    return max(sum(each) / jobs, max(each, default=0.0))


def _plan_row(
    table: Table,
    row: Row,
    recipe: Recipe,
    setup: Callable[..., Setup],
    folders: Mapping[str, str],
    seeds: Sequence[int],
) -> tuple[RequestedRow, list[Run]]:
    request = RequestedRow(label=row.label, backbone=row.backbone, variant=row.variant, method=row.method)
    if reason := row.not_run or recipe.lacks(row.backbone, row.variant) or nowhere(recipe, (row.variant,), folders):
        return request.model_copy(update={"not_run": reason}), []
    assert row.method is not None
    parts, missing, runs = {}, {}, []
    for name, part in table.all_parts.items():
        if reason := recipe.lacks(part.variant) or nowhere(recipe, (part.variant,), folders):
            missing[name] = reason
            continue
        try:
            under = setup(row.backbone, row.variant, part.variant)
            method = resolve_method(row.method, row.options(part), under.temperature_factor)
            label = " ".join(filter(None, (row.backbone, row.variant, row.label, name)))
            own = [_run(under, method, seed, label, recipe.backbones[row.backbone].step_seconds) for seed in seeds]
        except UsageError as error:
            raise UsageError(f'{table.name}, row "{row.label}": {error}') from error
        parts[name] = RequestedRuns(
            setup_id=under.setup_id, method_id=method.method_id, runs={run.seed: run.run_id for run in own}
        )
        request = request.model_copy(update={"title": method.title})
        runs += own
    return request.model_copy(update={"parts": parts, "missing": missing}), runs


def _run(setup: Setup, method: MethodPart, seed: int, label: str, step_seconds: float) -> Run:
    made = create_method(method.name, num_samples=1, **method.hyperparameters)
    require_served(made, setup)
    return Run(
        run_id=run_id(setup.setup_id, method.method_id, seed),
        setup=setup,
        method=method,
        seed=seed,
        label=f"{label} seed {seed}",
        estimate=step_seconds * setup.training.steps * setup.training.accumulation * passes(made, setup),
    )
