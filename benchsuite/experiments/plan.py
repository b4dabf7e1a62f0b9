"""A plan: the runs that fill a table at a scale, each with its identity, before anything is trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsuite.data import create_dataset
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import create_task
from benchsuite.experiments.recipe import Recipe, read_recipe
from benchsuite.fields import temperatures
from benchsuite.methods import create_method, method_class
from benchsuite.papers import Row, Table, read_table
from benchsuite.records.asked import Asked, AskedRow
from benchsuite.records.code_version import code_version
from benchsuite.records.schema import MethodPart, Record, run_id
from benchsuite.registry import methods, tasks
from benchsuite.setup import Part, Protocol, Setup
from benchsuite.training.needs import require_served

VIEWS = {"image_view", "image_view2", "text_view"}


class Run(Part):
    """One run to be done."""

    run_id: str
    setup: Setup
    method: MethodPart
    seed: int
    label: str
    """For progress: backbone, row and seed."""
    estimate: float
    """Seconds on one thread, guessed from the recipe."""


@dataclass(frozen=True)
class Plan:
    """A table's runs, and the request that leads a report to them."""

    asked: Asked
    runs: Sequence[Run]


def plan_table(
    name: str, scale: str, seeds: Sequence[int] | None = None, rows: Sequence[str] = (), extra: Sequence[str] = ()
) -> Plan:
    """The runs of a table. `rows` selects by method, label or backbone/label; `extra` are methods to add as rows."""
    table = read_table(name)
    if scale not in table.recipes:
        raise unknown("scale", scale, table.recipes, f"{name}: ")
    recipe = read_recipe(table.recipes[scale])
    chosen = select(table, recipe, rows, extra)
    setups = {backbone: resolve_setup(recipe, backbone) for backbone in dict.fromkeys(row.backbone for row in chosen)}
    _require_measures(table, recipe)
    asked_rows, runs = [], []
    for row in chosen:
        one, its_runs = _plan_row(name, row, recipe, setups[row.backbone], seeds or range(recipe.seeds))
        asked_rows.append(one)
        runs += its_runs
    asked = Asked(
        table=name,
        scale=scale,
        recipe=table.recipes[scale],
        track=recipe.track,
        says=recipe.says,
        tuned={what: f"{t.chosen}: {t.rule} ({t.trials} trials)" for what, t in recipe.tuned.items()},
        backbones={backbone: one.says for backbone, one in recipe.backbones.items()},
        temperature_factor=recipe.temperature_factor,
        setups={backbone: setup.setup_id for backbone, setup in setups.items()},
        rows=asked_rows,
    )
    return Plan(asked, runs)


def plan_run(method: str, scale_recipe: str, backbone: str, seed: int, hyperparameters: Mapping[str, Any]) -> Run:
    """One run outside of any table. As in a table, the recipe's factor multiplies the temperatures that are given."""
    recipe = read_recipe(scale_recipe)
    setup = resolve_setup(recipe, backbone)
    part = resolve_method(method, hyperparameters, recipe.temperature_factor)
    return _run(setup, part, seed, f"{backbone} {method}", recipe.backbones[backbone].step_seconds)


def select(table: Table, recipe: Recipe, wanted: Sequence[str], extra: Sequence[str]) -> list[Row]:
    """The table's rows that are wanted, and one on each backbone for methods that are no row: all, if none is named."""
    rows, added = list(table.rows), [] if wanted else list(extra)
    if wanted:
        matches = {
            w: [row for row in rows if w in (row.method, row.label, f"{row.backbone}/{row.label}")] for w in wanted
        }
        added += [w for w, found in matches.items() if not found and w in methods and w not in added]
        if lost := [w for w, found in matches.items() if not found and w not in added]:
            labels = {row.label for row in rows} | set(methods)
            raise unknown("row", lost[0], labels, f"{table.name}: ")
        rows = [row for row in rows if any(row in found for found in matches.values())]
    labels = {row.label for row in table.rows}
    for name in added:
        if methods.card(name).title in labels:
            raise UsageError(
                f'{table.name} has a row "{methods.card(name).title}": give method "{name}" another title.'
            )
    return rows + [
        Row(label=methods.card(name).title, backbone=backbone, method=name, published={})
        for backbone in recipe.backbones
        for name in added
    ]


def resolve_setup(recipe: Recipe, backbone: str) -> Setup:
    """The recipe on a backbone with the data's digest and the protocols' versions and options filled in."""
    setup = recipe.setup(backbone)
    dataset = create_dataset(setup.data.name, **setup.data.options)
    manifest = dataset.manifest()
    data = setup.data.model_copy(
        update={"options": dataset.options(), "version": manifest.version, "digest": manifest.digest}
    )
    protocols = {name: _resolve_protocol(protocol) for name, protocol in setup.protocols.items()}
    return setup.model_copy(update={"data": data, "protocols": protocols})


def resolve_method(name: str, hyperparameters: Mapping[str, Any], temperature_factor: float) -> MethodPart:
    """The method with all hyper-parameters as they will be used, checked by making one."""
    cls = method_class(name)
    options = create_method(name, num_samples=1, **hyperparameters).options()
    scaled = {key: value * temperature_factor for key, value in options.items() if key in temperatures(cls)}
    checked = create_method(name, num_samples=1, **{**options, **scaled}).options()
    card = methods.card(name)
    return MethodPart(name=name, title=card.title, hyperparameters=checked, code=code_version(card), owner=card.owner)


def estimated_seconds(runs: Sequence[Run], jobs: int, records: Mapping[str, Record]) -> float:
    """How long the runs may take, from records of the same setup and method if any, else from the recipe."""
    measured: dict[tuple[str, str], list[float]] = {}
    for record in records.values():
        seconds = float(record.cost["seconds"]) + float(record.cost.get("evaluation_seconds", 0))
        measured.setdefault((record.setup_id, record.method.name), []).append(seconds)
    each = [max(measured.get((run.setup.setup_id, run.method.name), [run.estimate])) for run in runs]
    return max(sum(each) / jobs, max(each, default=0.0))


def _plan_row(table: str, row: Row, recipe: Recipe, setup: Setup, seeds: Sequence[int]) -> tuple[AskedRow, list[Run]]:
    if row.method is None:
        return AskedRow(label=row.label, backbone=row.backbone, not_run=row.not_run), []
    try:
        part = resolve_method(row.method, row.hyperparameters, recipe.temperature_factor)
    except UsageError as error:
        raise UsageError(f'{table}, row "{row.label}": {error}') from error
    label = f"{row.backbone} {row.label}"
    runs = [_run(setup, part, seed, label, recipe.backbones[row.backbone].step_seconds) for seed in seeds]
    asked = AskedRow(
        label=row.label,
        backbone=row.backbone,
        method=row.method,
        title=part.title,
        setup_id=setup.setup_id,
        method_id=part.method_id,
        runs={run.seed: run.run_id for run in runs},
    )
    return asked, runs


def _run(setup: Setup, method: MethodPart, seed: int, label: str, step_seconds: float) -> Run:
    made = create_method(method.name, num_samples=1, **method.hyperparameters)
    require_served(made, setup)
    passes = 1 + len(made.needs & VIEWS) / 2 if setup.towers == "pair" else 2
    return Run(
        run_id=run_id(setup.setup_id, method.method_id, seed),
        setup=setup,
        method=method,
        seed=seed,
        label=f"{label} seed {seed}",
        estimate=step_seconds * setup.training.steps * setup.training.accumulation * passes,
    )


def _resolve_protocol(protocol: Protocol) -> Protocol:
    card = tasks.card(protocol.task)
    options = create_task(protocol.task, **protocol.options).options()
    return protocol.model_copy(update={"version": card.about["version"], "options": options})


def _require_measures(table: Table, recipe: Recipe) -> None:
    """Every column must be measured by something the recipe evaluates."""
    for column in table.columns:
        measure = column.measure.get(recipe.track)
        if measure is None:
            raise UsageError(f'{table.name}, column {column.key}: no measure for track "{recipe.track}".')
        protocol, _, metric = measure.rpartition(".")
        if protocol not in recipe.protocols:
            raise unknown("protocol", protocol, recipe.protocols, f"{table.name}, column {column.key}: ")
        known = tasks.card(recipe.protocols[protocol].task).about["metrics"]
        if metric not in known:
            raise unknown("metric", metric, known, f"{table.name}, column {column.key}: ")
