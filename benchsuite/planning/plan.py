"""A plan: the runs that fill a table at a scale, each with its identity, before anything is trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError, require_known
from benchsuite.grouping import by_key
from benchsuite.methods import described_method
from benchsuite.papers import Row, Table, read_table
from benchsuite.parts import NOTHING, Part
from benchsuite.planning.chosen_trials import Trials
from benchsuite.planning.columns import NO_CLASSES, measured_columns
from benchsuite.planning.data_folders import (
    models_of,
    options_of,
    require_one_model,
    require_used,
    variants_without_data,
)
from benchsuite.planning.problems import Problem, Problems
from benchsuite.planning.recipe import Recipe, read_recipe, recipe_name
from benchsuite.planning.regime import Choice, Searched, as_printed
from benchsuite.planning.resolve import resolve_method, resolve_setup
from benchsuite.planning.rows import longer_rows, own_part, rows_to_run
from benchsuite.planning.subjects import Subject, require_tuning
from benchsuite.records.requests import AddedRow, Regime, TableRequest, file_digest, regimes
from benchsuite.records.schema import MethodPart, TunedBy, run_id, uncovered
from benchsuite.setup import Setup
from benchsuite.tower_settings import MODEL
from benchsuite.training.needs import passes, reads_paraphrases


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
    tuned: TunedBy | None = None
    """The trials that chose its hyper-parameters; none where they are as printed."""
    also_tuned: list[TunedBy] = []
    """Those of other searches that chose the same."""
    keep_weights: bool = False
    """Whether the trained towers are stored with the record."""

    @property
    def read(self) -> dict[str, str]:
        """The digests of what it reads that its setup's identity does not cover."""
        return uncovered(self.setup.data, self.paraphrases)

    @property
    def steps(self) -> int:
        return round(self.setup.training.steps * self.method.longer)

    @property
    def row(self) -> str:
        """The label without the seed."""
        return self.label.removesuffix(f" seed {self.seed}")


@dataclass(frozen=True)
class Plan:
    """A table's runs, and what was asked for."""

    request: TableRequest
    runs: Sequence[Run]
    problems: Sequence[Problem] = ()
    """Rows that cannot be resolved, so that they have no runs."""
    subjects: Sequence[Subject] = ()
    """What is tuned for its rows. Rows of one with too few trials are planned as printed."""
    not_run: Sequence[str] = ()
    """Rows, and parts of rows, that this scale has nothing for, with the reason."""


def plan_table(
    name: str,
    scale: str,
    seeds: Sequence[int] | None = None,
    rows: Sequence[str] = (),
    extra: Sequence[str] = (),
    folders: Mapping[str, str] = NOTHING,
    trials: Trials | None = None,
    regime: Regime = "printed",
    count: int | None = None,
) -> Plan:
    """The runs of a table. `rows` selects by method or any name of a row; `extra` are methods to add as rows.

    `folders` are those of datasets read from files. A row or part that trains on another dataset than the recipe's is
    skipped, with the reason, if that folder is not given. If nothing is left, the table is refused. With `trials`, each
    row has what its search in each replicate chose, `count` trials or the rule's number; `Plan.subjects` names the
    searches. Without, rows are as printed at the recipe's learning rate.
    """
    table = read_table(name)
    require_known("scale", scale, table.recipes, f"{name}: ")
    stated = read_recipe(table.recipes[scale])
    absent = variants_without_data(stated, folders)
    recipe = stated.model_copy(update={"missing": {**absent, **stated.missing}})
    chosen = rows_to_run(table, recipe, rows, extra, tuned=regime == "tuned")

    replicates = seeds or range(recipe.seeds)

    @cache
    def setups(backbone: str, *variants: str) -> Mapping[int, Setup]:
        return {number: resolve_setup(recipe, backbone, folders, variants, number) for number in replicates}

    problems = Problems()
    search = Searched(table, recipe, table.recipes[scale], trials, folders, regime, count) if trials else None
    choose = search.choose if search else as_printed
    planned = [_plan_row(table, row, times, scale, recipe, setups, choose, problems) for row, times in chosen]
    used = {name for row, _ in chosen for name in (row.variant, *(part.variant for part in table.parts.values()))}
    first_runs = [run for each, _ in planned for run in each[:1]]
    nothing = not problems.rows and not first_runs
    if nothing and (reasons := [absent[variant] for variant in sorted(used & absent.keys())]):
        raise UsageError(f"{name} at scale {scale}: nothing can be run: {reasons[0]}.")
    unmeasured = {n: NO_CLASSES for run in first_runs for n in recipe.with_classes.keys() - run.setup.protocols}
    if not measured_columns(table, recipe, unmeasured).measures and unmeasured:
        raise UsageError(f"{name} at scale {scale}: no column can be measured: {NO_CLASSES}.")
    rule = recipe.tuning if search else None
    options: dict[str, Any] = {}
    for run in (run for each, _ in planned for run in each):  # parts of a row may be of several datasets
        for dataset, own in options_of(run.setup, run.seed, folders).items():
            options.setdefault(dataset, own)
    with_runs = zip(chosen, planned, strict=True)
    by_backbone = by_key((row.backbone, run.setup) for (row, _), (each, _) in with_runs for run in each)
    for backbone, own_setups in by_backbone.items():
        require_one_model(f"{name}, {backbone}", own_setups)
    models = {backbone: own for backbone, own_setups in by_backbone.items() if (own := models_of(own_setups[0]))}
    request = TableRequest(
        table=name,
        scale=scale,
        regime=regime if search else "printed",
        trials=rule.count(regime, count) if rule else 0,
        replicates=list(replicates),
        rows=[row.name for row, _ in chosen if row in table.rows],
        added=[
            AddedRow(method=row.method, backbone=row.backbone, variant=row.variant, longer=times)
            for row, times in chosen
            if row.method and row not in table.rows
        ],
        options={**options, MODEL: models} if models else options,
        table_digest=file_digest(table.at(scale)),
        recipe_digest=file_digest(stated),
    )
    runs = [run for each, _ in planned for run in each]
    not_run = [reason for _, reasons in planned for reason in reasons]
    return Plan(request, runs, problems.listed(), list(search.subjects.values()) if search else (), not_run)


def row_names(names: Sequence[str], scale: str) -> set[str]:
    """What a user may call the rows of tables at a scale, those of the reference trained longer too."""
    found: set[str] = set()
    for table in map(read_table, names):
        added = longer_rows(table.rows, read_recipe(table.recipes[scale]), ()) if scale in table.recipes else []
        found.update(*(row.names for row in (*table.rows, *(more.row for more in added))))
    return found


def plan_tables(
    names: Sequence[str],
    scale: str,
    seeds: Sequence[int] | None,
    rows: Sequence[str],
    extra: Sequence[str],
    folders: Mapping[str, str],
    *,
    regime: str | None,
    results: Path,
    count: int | None = None,
    anew: bool = False,
) -> list[Plan]:
    """Plans of tables with the trials that are stored: one for each regime, those of the recipe or the one asked for.

    `count`: trials of each search, if not the rule's number; 0: none, so rows as printed alone. `anew`: without trials
    that come with benchsuite.
    """
    recipes = {name: read_table(name).recipes.get(scale) for name in names}
    read = {recipe: read_recipe(recipe) for recipe in sorted({recipe for recipe in recipes.values() if recipe})}
    if count == 0 and regime in ("tuned", "both"):
        raise UsageError(f"--trials 0 and --regime {regime} exclude each other: only rows as printed need no trials.")
    if (count or regime in ("tuned", "both")) and read and not any(recipe.tuning for recipe in read.values()):
        require_tuning(next(iter(read.values())), next(iter(read)))
    stored = {
        name: Trials.stored(recipe_name(name), recipe.tuning, results, anew)
        for name, recipe in read.items()
        if recipe.tuning and count != 0
    }
    plans = []
    for name, recipe in recipes.items():
        trials, stated = stored.get(recipe or ""), read.get(recipe or "")
        rule = stated.tuning if stated and trials else None
        for each in regimes((regime or stated.regime) if stated and rule else "printed"):
            searched = trials if rule and rule.count(each, count) else None
            plans.append(plan_table(name, scale, seeds, rows, extra, folders, searched, each, count))
    return plans


def plan_run(
    method: str,
    scale_recipe: str,
    backbone: str,
    seed: int,
    hyperparameters: Mapping[str, Any],
    folders: Mapping[str, str] = NOTHING,
) -> Run:
    """One run outside of any table. As in a table, the recipe's factor multiplies the temperatures that are given."""
    recipe = read_recipe(scale_recipe)
    require_used(recipe, folders)
    run = plan_under(recipe, method, backbone, seed, hyperparameters, folders)
    return run.model_copy(update={"recipe": scale_recipe})


def plan_under(
    recipe: Recipe,
    method: str,
    backbone: str,
    seed: int,
    hyperparameters: Mapping[str, Any],
    folders: Mapping[str, str] = NOTHING,
) -> Run:
    """The same, under a recipe that is already read."""
    setup = resolve_setup(recipe, backbone, folders, replicate=seed)
    part = resolve_method(method, hyperparameters, setup.temperature_factor)
    run = make_run(setup, part, seed, f"{setup.called(backbone)} {method}", recipe.backbones[backbone].step_seconds)
    return run.model_copy(update={"keep_weights": recipe.keep_weights})


def _plan_row(
    table: Table,
    row: Row,
    times: float,
    scale: str,
    recipe: Recipe,
    setups: Callable[..., Mapping[int, Setup]],
    choose: Callable[..., list[Choice]],
    problems: Problems,
) -> tuple[list[Run], list[str]]:
    """A row's runs, and why it, or a part of it, has none.

    `setups`: of a backbone and variants, with each replicate's data. `choose`: the methods of a row and a part, one for
    each replicate.
    """
    if reason := row.not_run or recipe.lacks(row.backbone, row.variant):
        return [], [f"{row.name}: {reason}"]
    name, missing, runs = table.recipes[scale], [], []
    for part_name, whole in table.all_parts.items():
        part = own_part(row, times, whole)
        if reason := recipe.lacks(part.variant):
            missing.append(f"{row.name}: {reason}")
            continue
        label = " ".join(filter(None, (row.backbone, row.variant, row.label, part_name)))
        found = problems.unless(f"recipe {name}", label, partial(setups, row.backbone, row.variant, part.variant))
        # without setups at least what is printed is looked at
        chosen, known = (choose, found) if found else (as_printed, {0: recipe})
        choices = problems.unless(f'{table.name}, row "{row.label}"', label, partial(chosen, row, part, times, known))
        if found is None or choices is None:
            continue
        seconds = recipe.backbones[row.backbone].step_seconds
        for (seed, setup), choice in zip(found.items(), choices, strict=True):
            shown = label.replace(row.backbone, setup.called(row.backbone), 1)
            run = make_run(setup, choice.method, seed, shown, seconds, name, choice.tuned)
            # where a search is still to be done, the row's identity stands for the method's
            identity = run.run_id if choice.known else run_id(setup.setup_id, choice.row_id, seed, run.read)
            runs.append(run.model_copy(update={"keep_weights": recipe.keep_weights, "run_id": identity}))
    return runs, list(dict.fromkeys(missing))


def make_run(
    setup: Setup,
    method: MethodPart,
    seed: int,
    label: str,
    step_seconds: float,
    recipe: str = "",
    tuned: TunedBy | None = None,
) -> Run:
    """The run of a method under a setup, with its identity."""
    made = described_method(method.name, **method.hyperparameters)
    paraphrases = setup.data.paraphrases if reads_paraphrases(made.needs, setup) else None
    steps = setup.training.steps * method.longer
    return Run(
        run_id=run_id(setup.setup_id, method.method_id, seed, uncovered(setup.data, paraphrases)),
        paraphrases=paraphrases,
        setup=setup,
        method=method,
        seed=seed,
        label=f"{label} seed {seed}",
        recipe=recipe,
        estimate=step_seconds * steps * setup.training.accumulation * passes(made, setup),
        tuned=tuned,
    )
