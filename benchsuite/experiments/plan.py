"""A plan: the runs that fill a table at a scale, each with its identity, before anything is trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from benchsuite.errors import UsageError, each, unknown
from benchsuite.experiments.columns import measured_columns
from benchsuite.experiments.data import lacking, nowhere, require_used
from benchsuite.experiments.recipe import Recipe, read_recipe
from benchsuite.experiments.resolve import NO_FOLDERS, resolve_method, resolve_setup
from benchsuite.experiments.rows import select
from benchsuite.methods import create_method
from benchsuite.papers import Row, Table, read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import MethodPart, Record, run_id
from benchsuite.setup import Part, Setup
from benchsuite.training.needs import passes, reads_paraphrases

T = TypeVar("T")
SHOWN = 4
"""Rows that a problem names."""


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
    paraphrases: str | None = None
    """Digest of the paraphrases that the run reads, if `setup` does not cover them."""
    recipe: str = ""
    """Name or file of the recipe."""

    @property
    def row(self) -> str:
        """The label without the seed."""
        return self.label.removesuffix(f" seed {self.seed}")


@dataclass(frozen=True)
class Problem:
    """Why runs cannot be done, found before any of them starts."""

    where: str
    """The recipe and its part, or the table's row."""
    what: str
    rows: Sequence[str] = ()
    """Labels of the rows that it concerns, if `where` does not name one."""

    def __str__(self) -> str:
        more = f" and {len(self.rows) - SHOWN} more" if len(self.rows) > SHOWN else ""
        rows = f" [{', '.join(self.rows[:SHOWN])}{more}]" if self.rows else ""
        return f"{self.where}: {self.what}{rows}"


@dataclass(frozen=True)
class Problems:
    """Problems by where and what they are, with the rows that have them."""

    rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, where: str, what: str, row: str) -> None:
        """Note a problem of a row."""
        rows = self.rows.setdefault((where, what), [])
        rows += [row] if row not in rows else []

    def unless(self, where: str, row: str, make: Callable[[], T]) -> T | None:
        """What is made, or nothing and its problems noted."""
        try:
            return make()
        except UsageError as error:
            for what in each(error):
                self.add(where, what, row)
            return None

    def listed(self) -> list[Problem]:
        """All of them."""
        return [Problem(where, what, tuple(rows)) for (where, what), rows in self.rows.items()]


@dataclass(frozen=True)
class Plan:
    """A table's runs, and the request by which a report finds them."""

    request: TableRequest
    runs: Sequence[Run]
    problems: Sequence[Problem] = ()
    """Rows that cannot be resolved, so that they have no runs."""


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

    problems = Problems()
    under = Under(table.recipes[scale], recipe, setup, folders, problems)
    planned = [_plan_row(table, row, under, seeds or range(recipe.seeds)) for row in chosen]
    used = {name for row in chosen for name in (row.variant, *(part.variant for part in table.parts.values()))}
    nothing = not problems.rows and not any(runs for _, runs in planned)
    if nothing and (reason := nowhere(recipe, sorted(used), folders)):
        raise UsageError(f"{name} at scale {scale}: nothing can be run: {reason}.")
    if unmeasured := {what: why for _, runs in planned for run in runs[:1] for what, why in lacking(recipe, run.setup)}:
        columns = measured_columns(table, recipe, unmeasured)
        if not columns.measures:
            raise UsageError(f"{name} at scale {scale}: no column can be measured: {next(iter(unmeasured.values()))}.")
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
    return Plan(request, [run for _, runs in planned for run in runs], problems.listed())


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
    run = plan_under(recipe, method, backbone, seed, hyperparameters, folders, variant)
    return run.model_copy(update={"recipe": scale_recipe})


def recipe_name(recipe: str) -> str:
    """A recipe's name; of a file, its name without folder and ending."""
    return Path(recipe).stem if recipe.endswith(".toml") else recipe


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


@dataclass(frozen=True)
class Under:
    """What the rows of a table are planned under."""

    name: str
    """The recipe's."""
    recipe: Recipe
    setup: Callable[..., Setup]
    folders: Mapping[str, str]
    problems: Problems


def _plan_row(table: Table, row: Row, under: Under, seeds: Sequence[int]) -> tuple[RequestedRow, list[Run]]:
    recipe, folders = under.recipe, under.folders
    request = RequestedRow(label=row.label, backbone=row.backbone, variant=row.variant, method=row.method)
    if reason := row.not_run or recipe.lacks(row.backbone, row.variant) or nowhere(recipe, (row.variant,), folders):
        return request.model_copy(update={"not_run": reason}), []
    assert row.method is not None
    parts, missing, runs = {}, {}, []
    for name, part in table.all_parts.items():
        if reason := recipe.lacks(part.variant) or nowhere(recipe, (part.variant,), folders):
            missing[name] = reason
            continue
        label = " ".join(filter(None, (row.backbone, row.variant, row.label, name)))
        setup = under.problems.unless(
            f"recipe {under.name}", label, partial(under.setup, row.backbone, row.variant, part.variant)
        )
        factor = (setup or recipe).temperature_factor
        method = under.problems.unless(
            f'{table.name}, row "{row.label}"',
            label,
            partial(resolve_method, row.method, row.options(part), factor),
        )
        if setup is None or method is None:
            continue
        seconds = recipe.backbones[row.backbone].step_seconds
        own = [_run(setup, method, seed, label, seconds, under.name) for seed in seeds]
        parts[name] = RequestedRuns(
            setup_id=setup.setup_id,
            method_id=method.method_id,
            paraphrases=own[0].paraphrases,
            runs={run.seed: run.run_id for run in own},
        )
        request = request.model_copy(update={"title": method.title})
        runs += own
    return request.model_copy(update={"parts": parts, "missing": missing}), runs


def _run(setup: Setup, method: MethodPart, seed: int, label: str, step_seconds: float, recipe: str = "") -> Run:
    made = create_method(method.name, num_samples=1, **method.hyperparameters)
    paraphrases = setup.data.paraphrases if reads_paraphrases(made.needs, setup) else None
    return Run(
        run_id=run_id(setup.setup_id, method.method_id, seed, paraphrases),
        paraphrases=paraphrases,
        setup=setup,
        method=method,
        seed=seed,
        label=f"{label} seed {seed}",
        recipe=recipe,
        estimate=step_seconds * setup.training.steps * setup.training.accumulation * passes(made, setup),
    )
