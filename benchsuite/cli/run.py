"""`benchsuite run`: one method, one seed."""

from typing import Annotated

import typer

from benchsuite.cli.options import (
    RESULTS,
    TRACKING,
    Folders,
    Plugins,
    Results,
    SkipBadPictures,
    Tables,
    TrackFolder,
    Tracks,
    Workers,
    load_own,
    parse_folders,
    require_reported,
    use_machine,
)
from benchsuite.errors import UsageError
from benchsuite.records.store import Store


def run(
    method: Annotated[str, typer.Argument(help="A registered method.", metavar="METHOD")],
    recipe: Annotated[
        str, typer.Option(help="Training setup: a name from `benchsuite list recipes`, or a TOML file.")
    ] = "scenes-small",
    backbone: Annotated[str | None, typer.Option(help="Backbone (default: the recipe's first).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, batches and augmentations.")] = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Hyper-parameter as name=value. May be repeated.")
    ] = None,
    data: Folders = None,
    plugin: Plugins = None,
    tables: Tables = None,
    results: Results = RESULTS,
    workers: Workers = None,
    skip_bad_pictures: SkipBadPictures = False,
    track: Tracks = None,
    track_dir: TrackFolder = None,
) -> None:
    """Train and evaluate one method with one seed.

    The record is stored; `benchsuite report` shows it on the board of its setup.
    """
    from benchsuite.cli.execute import execute, failure
    from benchsuite.cli.progress import show_reading
    from benchsuite.experiments.plan import plan_run
    from benchsuite.experiments.preflight import preflight, require_ready
    from benchsuite.experiments.recipe import read_recipe

    require_reported([seed])
    use_machine(workers, skip_bad_pictures, track, track_dir or results / TRACKING)
    load_own(tables, plugin)
    show_reading()
    chosen = dict(parse_setting(text) for text in settings or ())
    backbone = backbone or next(iter(read_recipe(recipe).backbones))
    planned = plan_run(method, recipe, backbone, seed, chosen, parse_folders(data))
    store = Store(results)
    contents = store.read()
    if refused := contents.refused_runs.get(planned.run_id):
        raise refused.refusal()
    if planned.run_id not in contents.records:
        checked = preflight([planned], results)
        for note in checked.notes:
            print(f"note: {note}")
        require_ready(checked.problems)
        store.require_writable()
        if failed := execute([planned], store, 1, plugin or ()):
            raise failure(failed, 1, store.logs)
    record = store.read().records[planned.run_id]
    print(f"{record.method.title} on {recipe}, {backbone}, seed {seed}: run {record.run_id}")
    print(
        "  "
        + ", ".join(
            f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}"
            for key, value in record.method.hyperparameters.items()
        )
    )
    if (factor := record.setup.temperature_factor) != 1:
        print(f"  (the recipe multiplies all temperatures by {factor:g}; shown are the multiplied values)")
    for protocol, result in record.results.items():
        for name, value in result.metrics.items():
            print(f"  {protocol + '.' + name:<32} {100 * value:6.2f} %")
        for name, value in result.measures.items():
            print(f"  {protocol + '.' + name:<32} {value:9.5g}")


def parse_setting(text: str) -> tuple[str, str]:
    """`tau=0.05` as ("tau", "0.05"); the method's types turn the text into a value."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f'--set "{text}": write name=value, for example --set tau=0.05.')
    return name.strip(), value.strip()
