"""Evaluate a model by name or folder: any task, through the protocols that runs are evaluated by."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
import torch

from benchsuite.data import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.execution.evaluate import evaluate, opened, results_of
from benchsuite.grouping import by_key
from benchsuite.models.judged import Judged
from benchsuite.parts import Part
from benchsuite.planning.data_folders import open_dataset, read_as, read_by, require_used, resolve_data
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_protocol, resolve_setup
from benchsuite.records.environment import environment
from benchsuite.records.schema import Result
from benchsuite.registry import datasets, tasks
from benchsuite.setup import Data, Protocol

NAMES = ("image", "text")
CLIP_BENCHMARK = "clip-benchmark"
OWN_PROMPTS = {"classes": "class", "templates": CLIP_BENCHMARK}
BY_KIND = {
    "classification": Protocol(task="zero-shot", options=OWN_PROMPTS),
    "multilabel": Protocol(task="multilabel", options=OWN_PROMPTS),
    "retrieval": Protocol(task="retrieval"),
    "matching": Protocol(task="matching"),
    "matching of pairs": Protocol(task="matching", options={"images": 2}),
}
"""How a dataset of a collection is evaluated."""


class Model(Part):
    """What was evaluated."""

    name: str
    """As it was asked for; of a folder its last name. Of a run's towers its method, seed and run."""
    library: str
    """With its version."""
    weights: str
    """Digest of all parameters and buffers."""
    sides: tuple[str, ...]
    """image, text, or both."""
    size: int | None = None
    """Side of its pictures in pixels."""
    run: str | None = None
    """The run_id, where the towers are those of a run."""


class Evaluation(Part):
    """A model under some protocols."""

    model: Model
    data: Data
    protocols: dict[str, Protocol]
    results: dict[str, Result]
    means: dict[str, float] = {}
    """Of a collection, the mean over its datasets here of each headline metric, as task.metric."""
    environment: dict[str, Any]
    created: str


@dataclass(frozen=True)
class Wanted:
    """What a model is to be evaluated on."""

    task: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the task."""
    recipe: str | None = None
    """Whose protocols, and data, are taken."""
    dataset: str | None = None
    folders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Planned:
    """Resolved data and protocols."""

    data: Data
    protocols: Mapping[str, Protocol]
    notes: Sequence[str] = ()
    of: str = ""
    """The collection, if it is one."""


def plan_evaluation(model: Judged, wanted: Wanted) -> Planned:
    """What is evaluated: a task, a recipe's protocols, or for a run's towers those of the run."""
    if wanted.options and (wanted.recipe or not wanted.task):
        raise UsageError("--set is for the options of one task: give --task, without --recipe.")
    collection = (wanted.task or "").partition(f"{CLIP_BENCHMARK}:")[2]
    if wanted.recipe:
        if wanted.dataset and wanted.dataset not in {name.partition(".")[0] for name in wanted.folders}:
            raise UsageError(f"--recipe {wanted.recipe} has data of its own: leave --data {wanted.dataset} out.")
        planned = _of_recipe(model, wanted.recipe, wanted.folders)
    elif collection:
        wanted, planned = replace(wanted, task=None), _of_collection(model, collection, wanted)
    elif wanted.task and (wanted.dataset or model.exported is None):
        planned = _of_task(model, wanted)
    elif model.exported is not None:
        planned = _of_run(model, wanted)
    else:
        raise UsageError("say what to evaluate: --task TASK --data NAME[=FOLDER], or --recipe NAME.")
    return _fitting(model, planned, wanted)


def _of_task(model: Judged, wanted: Wanted) -> Planned:
    assert wanted.task
    if not wanted.dataset:
        known = ", ".join(sorted(datasets))
        raise UsageError(f"say on which data: --data NAME, or NAME=FOLDER (datasets: {known}).")
    data = resolve_data(Data(name=wanted.dataset), _as_the_model_takes(model, wanted.dataset, wanted.folders))
    protocol = resolve_protocol(Protocol(task=wanted.task, options=dict(wanted.options)), wanted.folders)
    return Planned(data, {wanted.task: protocol})


def _of_collection(model: Judged, name: str, wanted: Wanted) -> Planned:
    """Each dataset of one of clip-benchmark's collections that is under the data root, by the task for its kind."""
    from benchsuite.data.real.clip_benchmark import ClipBenchmark, collection, found_under, unread_under

    if wanted.dataset != CLIP_BENCHMARK or f"{CLIP_BENCHMARK}.dataset" in wanted.folders:
        raise UsageError(f"--task {wanted.task}: give the root of its datasets, --data {CLIP_BENCHMARK}=FOLDER, alone.")
    folders = _as_the_model_takes(model, CLIP_BENCHMARK, wanted.folders)
    names, root = collection(name), folders.get(CLIP_BENCHMARK, "")
    lacks: dict[str, list[str]] = defaultdict(list)
    protocols = {}
    for each, dataset in found_under(root, names).items():
        kind = ClipBenchmark(dataset=dataset, folder=root).kind if dataset else f"not in {root}"
        if usual := BY_KIND.get(kind):
            given = {
                "options": {**usual.options, **wanted.options},
                "data": Data(name=CLIP_BENCHMARK, options={"dataset": dataset}),
            }
            protocols[each] = resolve_protocol(usual.model_copy(update=given), folders)
        else:
            lacks[kind].append(each)
    alone = len(names) == 1
    if not alone and (unread := unread_under(root, names)):
        lacks["there, but of no dataset of it"] = unread
    told = "; ".join(f"{why}: {', '.join(left)}" for why, left in lacks.items())
    note = f"{len(protocols)} of the {len(names)} datasets of {name} are evaluated"
    if not protocols:
        raise UsageError(f"{note}. Left out, {told}.")
    note += f". Left out, {told}." if told else "."
    (first, *_) = protocols.values()
    assert first.data
    return Planned(first.data, protocols) if alone else Planned(first.data, protocols, [note], name)


def _of_recipe(model: Judged, name: str, folders: Mapping[str, str]) -> Planned:
    recipe = read_recipe(name)
    require_used(recipe, folders)
    own = dict(folders)
    for dataset in sorted({data.name for data in read_by(recipe)}):
        own = _as_the_model_takes(model, dataset, own)
    setup = resolve_setup(recipe, next(iter(recipe.backbones)), own, towers=False)
    return Planned(setup.data, setup.protocols)


def _of_run(model: Judged, wanted: Wanted) -> Planned:
    """The run's own protocols and data, or one task on its data."""
    assert model.exported
    setup = model.exported.setup
    data = resolve_data(setup.data, wanted.folders)
    notes = []
    if data.digest != setup.data.digest:
        notes.append(f"the data {data.name} is not that of the run: its content has another digest.")
    protocols = setup.protocols
    if wanted.task:
        protocols = {wanted.task: Protocol(task=wanted.task, options=dict(wanted.options))}
    resolved = {name: resolve_protocol(protocol, wanted.folders) for name, protocol in protocols.items()}
    for name, protocol in resolved.items():
        if not wanted.task and protocol.version != setup.protocols[name].version:
            notes.append(
                f"{name}: task {protocol.task} has version {protocol.version} here, and had another in the run."
            )
    return Planned(data, resolved, notes)


def _as_the_model_takes(model: Judged, dataset: str, folders: Mapping[str, str]) -> dict[str, str]:
    """The folders, with pictures read at the model's size and cut as it was trained, where nothing else is asked."""
    own = read_as(dataset, model.size, model.fit) if model.size else {}
    return {f"{dataset}.{name}": str(value) for name, value in own.items()} | dict(folders)


def _fitting(model: Judged, planned: Planned, wanted: Wanted) -> Planned:
    """Protocols that the model can do; of a recipe others are left out with a note, and a task is refused."""
    fitting, notes = {}, list(planned.notes)
    for name, protocol in planned.protocols.items():
        if wanted.task and protocol.task != wanted.task:
            continue
        if not (reason := _unfit(model, planned.data, protocol)):
            fitting[name] = protocol
        elif wanted.task:
            raise UsageError(f"{name} (task {protocol.task}): {reason}")
        else:
            notes.append(f"{name} (task {protocol.task}) is left out: {reason}")
    if not fitting:
        of = f" of task {wanted.task}" if wanted.task else ""
        raise UsageError(f"no protocol{of} can be evaluated. {' '.join(notes)}".strip())
    problems = [
        f"{name} (task {protocol.task}): {problem}"
        for name, protocol in fitting.items()
        for problem in create_task(protocol.task, **protocol.options).problems(
            open_dataset(protocol.data or planned.data)
        )
    ]
    if problems:
        raise UsageError("nothing was evaluated. " + " ".join(problems))
    return replace(planned, protocols=fitting, notes=notes)


def _unfit(model: Judged, data: Data, protocol: Protocol) -> str:
    """Why the model cannot do a protocol; "" if it can."""
    task = create_task(protocol.task, **protocol.options)
    if lacks := sorted(task.embeds - model.embeds):
        has = " and ".join(f"an {side}" if side == "image" else f"a {side}" for side in NAMES if side in model.embeds)
        return f"it embeds {lacks[0]}s, but {model.about.name} has {has} side alone."
    name = (protocol.data or data).name
    shown = cast(type[PairDataset], datasets.get(name)).shows
    if task.needs_images and shown != model.takes:
        return f"dataset {name} shows {shown}, but {model.about.name} takes {model.takes}."
    if "text" in task.embeds and shown == "vectors" != model.takes:
        return f"the texts of dataset {name} are vectors, but {model.about.name} takes words."
    return ""


def evaluate_model(model: Judged, planned: Planned) -> Evaluation:
    """What the model scores."""
    dataset = opened(planned.data)
    scores = evaluate(model.sides, planned.protocols, dataset)
    what = Model(
        name=model.about.name,
        library=model.about.library,
        weights=model.about.weights,
        sides=tuple(side for side in NAMES if side in model.embeds),
        size=model.size,
        run=model.exported.run["run_id"] if model.exported else None,
    )
    results = results_of(planned.protocols, scores, dataset)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Evaluation(
        model=what,
        data=planned.data,
        protocols=dict(planned.protocols),
        results=results,
        means=means_of(results) if planned.of else {},
        environment=environment(device, torch.get_num_threads(), 1),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def means_of(results: Mapping[str, Result]) -> dict[str, float]:
    """The mean of each task's headline metric over its protocols."""
    headlines = ((result, tasks.card(result.task).about["headline"]) for result in results.values())
    found = by_key((f"{result.task}.{metric}", result.metrics[metric]) for result, metric in headlines)
    return {name: float(np.mean(values)) for name, values in found.items()}
