"""`benchsuite weights`: a run's trained towers as a folder to load or to share."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from benchsuite.cli.shared.options import RESULTS, Results
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UsageError
from benchsuite.records.listing import find_run
from benchsuite.records.record_file import read_record


def weights(
    run: Annotated[str, typer.Argument(help="A run_id or its first characters, or a record's file.", metavar="RUN")],
    out: Annotated[Path, typer.Option(help="Folder to write: new, or empty.", metavar="FOLDER")],
    layout: Annotated[
        Literal["benchsuite", "transformers", "open_clip"],
        typer.Option("--format", help="Which library loads it: of a fine-tuned model, the model's own too."),
    ] = "benchsuite",
    interpolate: Annotated[
        float | None,
        typer.Option(
            help="With --format transformers or open_clip: so much of the run's weights, and the rest of those before "
            "the training (WiSE-FT).",
            min=0,
            max=1,
            metavar="SHARE",
        ),
    ] = None,
    pretrained: Annotated[
        str | None, typer.Option("--model", help="Where the pretrained model of the run is now.", metavar="MODEL")
    ] = None,
    results: Results = RESULTS,
) -> None:
    """Write a run's trained towers: model.safetensors, config.json and the tokenizer.

    Only what was kept can be written: --keep-weights on `run` and `repro`, or keep_weights = true in the recipe.
    """
    from benchsuite.encoders.export_weights import export_model, export_weights

    file = find_run(results, run)
    record = read_record(file)
    if layout != "benchsuite":
        export_model(file, record, out, layout, interpolate, pretrained)
    elif interpolate is None:
        export_weights(file, record, out)
    else:
        raise UsageError("--interpolate: mixed weights are no run's; give --format transformers or open_clip.")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"{out.resolve()}: {record.method.title}, seed {record.seed}, run {record.run_id}; {size / 1e6:,.1f} MB")
    if layout == "benchsuite":
        say(f'load:  benchsuite.load_encoder("{out}").images([...]), .texts([...])')
        say(f"next:  benchsuite evaluate {shlex.quote(str(out))}")
    else:
        say(f"next:  benchsuite evaluate {shlex.quote(f'{layout}:{out}')} --task retrieval --data NAME=FOLDER")
