"""`benchsuite evaluate`: any task on trained towers, or on another library's model."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import AsJson, Plugins, Tables, load_own, parse_folders, parse_setting
from benchsuite.cli.shared.terminal import result_lines, say, say_json
from benchsuite.errors import UsageError

if TYPE_CHECKING:
    from benchsuite.encoders.evaluate import Evaluation


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            help="A folder of `benchsuite weights`, or open_clip:NAME?pretrained=TAG, transformers:NAME, timm:NAME "
            "(each NAME may be a local folder).",
            metavar="MODEL",
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(help="A task (default: for a folder of ours, all protocols of its run)."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            help="A dataset, NAME=FOLDER if it has files, NAME.OPTION=VALUE. May be repeated.",
            metavar="NAME[=FOLDER]",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Option of the task as option=value. May be repeated.")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="Take data and protocols of this recipe; with --task, those of the task."),
    ] = None,
    as_json: AsJson = False,
    plugin: Plugins = None,
    tables: Tables = None,
) -> None:
    """Evaluate a model through the protocols that runs are evaluated by; nothing is trained.

    Trained towers get exactly the metrics of their record. Other models read pictures at their own size.
    """
    load_own(tables, plugin)
    import torch

    from benchsuite.cli.shared.progress import show_reading
    from benchsuite.encoders.evaluate import Wanted, evaluate_model, plan_evaluation
    from benchsuite.models.judged import judged

    dataset, folders = parse_data(data)
    wanted = Wanted(
        task=task,
        options={
            name: json.loads(value) if value.startswith("[") else value
            for name, value in map(parse_setting, settings or ())
        },
        recipe=recipe,
        dataset=dataset,
        folders=folders,
    )
    show_reading()
    opened = judged(model)
    if opened.exported and (threads := opened.exported.environment.get("threads")):
        torch.set_num_threads(threads)
    planned = plan_evaluation(opened, wanted)
    evaluation = evaluate_model(opened, planned)
    if as_json:
        say_json({**evaluation.model_dump(mode="json"), "notes": list(planned.notes)})
        return
    for note in planned.notes:
        say(f"note: {note}")
    show(evaluation)


def show(evaluation: "Evaluation") -> None:
    """The numbers, as `benchsuite run` prints them."""
    what = evaluation.model
    size = f", pictures of {what.size} pixels" if what.size else ""
    say(f"{what.name} ({what.library}, weights {what.weights}{size}) on {evaluation.data.name}")
    say(*result_lines(evaluation.results))


def parse_data(texts: list[str] | None) -> tuple[str | None, dict[str, str]]:
    """The dataset that is named, and folders and options as everywhere."""
    bare = [text for text in texts or () if "=" not in text]
    folders = parse_folders([text for text in texts or () if "=" in text])
    named = list(dict.fromkeys([*bare, *(name for name in folders if "." not in name)]))
    if len(named) > 1 and bare:
        raise UsageError(f"--data names several datasets: {', '.join(named)}. Give one.")
    options = [name.partition(".")[0] for name in folders if "." in name]
    return next(iter([*named, *options]), None), folders
