"""`benchsuite run`: one method, one seed."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.measuring import without_weights
from benchsuite.cli.shared.options import AsJson, Backbone, parse_settings, require_reported
from benchsuite.cli.shared.terminal import result_lines, say, say_json
from benchsuite.cli.shared.training_options import KeepWeights, TrackingOptions, TrainingOptions, with_groups
from benchsuite.errors import UsageError
from benchsuite.execution.joining import launched

if TYPE_CHECKING:
    from benchsuite.planning.plan import Run
    from benchsuite.work.session import Session


@with_groups
def run(
    method: Annotated[str, typer.Argument(help="A registered method.", metavar="METHOD")],
    options: TrainingOptions,
    tracking: TrackingOptions,
    recipe: Annotated[
        str, typer.Option(help="Training setup: a name from `benchsuite list recipes`, or a TOML file.")
    ] = "scenes-small",
    backbone: Backbone = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, batches and augmentations.")] = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Hyper-parameter as name=value. May be repeated.")
    ] = None,
    keep_weights: KeepWeights = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the run, the estimated time and all problems; train nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train and evaluate one method with one seed.

    The record is stored; `benchsuite report` shows it on the board of its setup. The processes of a setup for several
    are started here. If torchrun or srun starts this command, it joins the processes that these started.
    """
    from benchsuite.cli.shared.training_options import show_reading
    from benchsuite.planning.plan import plan_run
    from benchsuite.planning.recipe import read_recipe
    from benchsuite.records.method_version import edited
    from benchsuite.work.duration import duration
    from benchsuite.work.session import failure

    require_reported([seed])
    options.use_machine(tracking)
    joins = launched() > 1
    if joins and (options.devices or options.cluster or dry_run):
        given = "--devices" if options.devices else "--cluster" if options.cluster else "--dry-run"
        raise UsageError(f"{given}: torchrun or srun has started the processes already. Leave it out.")

    def tower() -> str:
        return backbone or next(iter(read_recipe(recipe).backbones))

    def plan() -> "Run":
        options.load_own()
        given = parse_settings(settings)
        planned = plan_run(method, recipe, tower(), seed, given, options.folders)
        return planned.model_copy(update={"keep_weights": keep_weights or planned.keep_weights})

    session = options.session()
    store = session.store
    if joins:
        from benchsuite.execution.attempt import agree
        from benchsuite.training.distributed import leaving_at_the_end, rank

        with leaving_at_the_end():
            planned, wanted = agree(plan, partial(is_to_do, session=session))
            failed, first = session.do_together(planned) if wanted else [], rank() == 0
        if not first:
            return
    else:
        show_reading()
        planned = plan()
        wanted = is_to_do(planned, session, stored=not dry_run)
        if dry_run:
            time = duration([planned] if wanted else [], session.workplace.jobs_for([planned]), store.read().records)
            state = "to do" if wanted else "stored"
            say(f"{state}  {planned.run_id}  {planned.label}{time}", *filter(None, [planned.setup.trained]))
            if as_json:
                say_json({"run_id": planned.run_id, "label": planned.label, "state": state})
            return
        failed = session.do([planned]) if wanted else []
    if failed:
        raise failure(failed, 1, store.logs)
    contents = store.read()
    record = contents.records[planned.run_id]
    if not wanted:
        say("stored before, not trained again", *edited([record.method]))
    if planned.keep_weights and record.weights is None:
        say(without_weights(1, store.folder))
    values = record.method.hyperparameters.items()
    shown = (f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in values)
    say(
        f"{record.method.title} on {recipe}, {record.setup.called(tower())}, seed {seed}: run {record.run_id}",
        f"  {', '.join(shown)}",
    )
    if (factor := record.setup.temperature_factor) != 1:
        say(f"  (the recipe multiplies all temperatures by {factor:g}; shown are the multiplied values)")
    say(*result_lines(record.results))
    file = next(each for each in contents.files if each.record and each.record.run_id == record.run_id)
    say(f"record: {(file.pack or file.file).resolve()}")
    if as_json:
        say_json({
            "run_id": record.run_id,
            "label": planned.label,
            "state": "stored",
            "method": record.method.name,
            "seed": record.seed,
            "hyperparameters": dict(record.method.hyperparameters),
            "metrics": {name: dict(result.metrics) for name, result in record.results.items()},
            "measures": {name: dict(result.measures) for name, result in record.results.items()},
        })  # fmt: skip


def is_to_do(run: "Run", session: "Session", stored: bool = True) -> bool:
    """Whether it is not stored yet; refused where it cannot be done, or not be stored if it is to be."""
    from benchsuite.execution.preflight import require_ready

    contents = session.store.read()
    if refused := contents.refused_runs.get(run.run_id):
        raise refused.refusal()
    if run.run_id in contents.records:
        return False
    require_ready(session.check([run]))
    if stored:
        session.store.require_writable()
    return True
