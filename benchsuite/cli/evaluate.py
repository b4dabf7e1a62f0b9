"""`benchsuite evaluate`: any task on trained towers, or on another library's model."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import AsJson, Plugins, Tables, load_own, parse_folders, parse_settings
from benchsuite.cli.shared.terminal import result_lines, say, say_json
from benchsuite.errors import UsageError
from benchsuite.registry import tasks

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
        typer.Option(
            help="A task (default: for a folder of ours, all protocols of its run), or clip-benchmark:COLLECTION, such "
            "as vtab+."
        ),
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
        str | None, typer.Option(help="Take data and protocols of this recipe; with --task, those of the task.")
    ] = None,
    interpolate: Annotated[
        str | None,
        typer.Option(
            help="Of a fine-tuned run: mix its weights with those before the training, by shares of its own such as "
            "0,.25,.5,.75,1, and show what each mixture scores (WiSE-FT).",
            metavar="SHARES",
        ),
    ] = None,
    pretrained: Annotated[
        str | None,
        typer.Option("--model", help="With --interpolate: where the pretrained model is now.", metavar="MODEL"),
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

    from benchsuite.cli.shared.training_options import show_reading
    from benchsuite.data.readers.files import json_of
    from benchsuite.encoders.evaluate import Wanted, evaluate_model, plan_evaluation
    from benchsuite.models.judged import interpolated, judged

    alphas = parse_shares(interpolate) if interpolate else []
    if pretrained and not alphas:
        raise UsageError(
            f"--model {pretrained} is for --interpolate alone: {model} is what is evaluated. Leave --model out."
        )
    bare = [text for text in data or () if "=" not in text]
    folders = parse_folders([text for text in data or () if "=" in text])
    named = list(dict.fromkeys([*bare, *(name for name in folders if "." not in name)]))
    if len(named) > 1 and bare:
        raise UsageError(f"--data names several datasets: {', '.join(named)}. Give one.")
    of_options = [name.partition(".")[0] for name in folders if "." in name]
    wanted = Wanted(
        task=task,
        options={
            name: json_of(value, f"--set {name}") if value.startswith("[") else value
            for name, value in parse_settings(settings).items()
        },
        recipe=recipe,
        dataset=next(iter([*named, *of_options]), None),
        folders=folders,
    )
    show_reading()
    opened = judged(model)
    if opened.exported and (threads := opened.exported.environment.get("threads")):
        torch.set_num_threads(threads)
    planned = plan_evaluation(opened, wanted)
    models = interpolated(opened, alphas, pretrained) if alphas else [opened]
    evaluations = [evaluate_model(each, planned) for each in models]
    if as_json:
        told = [{**each.model_dump(mode="json"), "notes": list(planned.notes)} for each in evaluations]
        say_json([{"alpha": alpha, **each} for alpha, each in zip(alphas, told, strict=True)] if alphas else told[0])
        return
    for note in planned.notes:
        say(f"note: {note}")
    if alphas:
        say(f"{opened.about.name}: alpha of its weights, 1 - alpha of those before the training; percent")
        say(*mixture_lines(dict(zip(alphas, evaluations, strict=True))))
        return
    (evaluation,), what = evaluations, evaluations[0].model
    size = f", pictures of {what.size} pixels" if what.size else ""
    say(f"{what.name} ({what.library}, weights {what.weights}{size}) on {evaluation.data.name}")
    say(*result_lines(evaluation.results))
    say(*(f"  {f'mean of {name}':<32} {100 * value:6.2f} %" for name, value in evaluation.means.items()))


def parse_shares(text: str) -> list[float]:
    """`0,.5,1` as numbers from 0 to 1."""
    refusal = UsageError(f'--interpolate "{text}": give numbers from 0 to 1 with commas, such as 0,.5,1.')
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        raise refusal from None
    if any(not 0 <= share <= 1 for share in shares):
        raise refusal
    return shares


def mixture_lines(evaluations: "Mapping[float, Evaluation]") -> Iterator[str]:
    """A line for each share, with the headline metric of each protocol that has one."""
    (first, *_) = evaluations.values()
    metrics = {name: tasks.card(result.task).about.get("headline") for name, result in first.results.items()}
    shown = [(name, key) for name, key in metrics.items() if key in first.results[name].metrics]
    names = [*(f"{name}.{key}" for name, key in shown), *(f"mean of {name}" for name in first.means)]
    yield "  ".join(["  alpha", *names])
    for alpha, each in evaluations.items():
        values = [*(each.results[name].metrics[key] for name, key in shown), *each.means.values()]
        cells = [100 * value for value in values]
        yield "  ".join([f"{alpha:>7g}", *(f"{cell:>{len(name)}.2f}" for name, cell in zip(names, cells, strict=True))])
