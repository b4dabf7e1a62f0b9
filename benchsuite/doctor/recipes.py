"""What recipes would need here: data, towers' weights, time, processes. Nothing is trained, no torch imported."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchsuite.doctor.libraries import Fact, Status
from benchsuite.errors import UsageError
from benchsuite.planning.recipe import Backbone, Recipe, read_recipe, recipe_name
from benchsuite.records.schema import Record
from benchsuite.registry import datasets
from benchsuite.setup import Data

FOLDER = "folder"
TIME = ", time"
MOST = 50
"""Runs of a recipe that are looked at for time."""


@dataclass(frozen=True)
class Here:
    """What is known of this machine."""

    folders: Mapping[str, str]
    """Of data, as --data gives them."""
    records: Mapping[str, Record]
    hub: bool
    """Whether it answers."""
    devices: int = 0


def recipe_lines(name: str, here: Here, named: bool) -> Iterator[Fact]:
    """What a recipe would need; of one that was not named, in one line, where a lack is no problem."""
    try:
        recipe = read_recipe(name)
        lines = list(_needs(name, recipe, here))
    except UsageError as error:
        yield Fact("problem" if named else "note", name, str(error).rstrip("."))
        return
    if named:
        yield from lines
        return
    if lacks := [line.short or line.found for line in lines if line.status == "problem"]:
        yield Fact("note", name, f"needs {', '.join(dict.fromkeys(lacks))}")
    else:
        yield Fact("ok", name, next(line.found for line in lines if line.what.endswith(TIME)))


def _needs(name: str, recipe: Recipe, here: Here) -> Iterator[Fact]:
    yield from _data(name, recipe, here)
    yield from _pretrained(name, recipe, here)
    own = [record for record in here.records.values() if record.recipe == recipe_name(name)][:MOST]
    backbone, settings = next(iter(recipe.backbones.items()))
    yield _time(name, recipe, backbone, settings, own)
    if (processes := recipe.training.processes) > 1:
        fewer = f"{here.devices} GPUs" if here.devices else "no GPU"
        status: Status = "ok" if here.devices >= processes else "note"
        yield Fact(status, f"{name}, processes", f"the setup is for {processes}; {fewer} here")


def _data(name: str, recipe: Recipe, here: Here) -> Iterator[Fact]:
    read = [recipe.data, *(protocol.data for protocol in recipe.protocols.values() if protocol.data)]
    for dataset, data in {data.name: data for data in read}.items():
        card = datasets.card(dataset)
        if FOLDER not in {option.name for option in card.fields}:
            yield Fact("ok", f"{name}, data", f"{dataset} is made here")
            continue
        yield _files(f"{name}, data", dataset, card.about.get("source", dataset), data, here)


def _files(what: str, dataset: str, source: str, data: Data, here: Here) -> Fact:
    given = next((here.folders[key] for key in (dataset, source) if key in here.folders), None)
    given = given or data.options.get(FOLDER) or data.folder
    if not given:
        option = f"--data {source}=FOLDER"
        return Fact("problem", what, f"{dataset} is missing: {option}", "docs/real-data.md has its layout.", option)
    if Path(given).is_dir():
        return Fact("ok", what, f"{dataset} at {given}")
    if here.hub and not Path(given).is_absolute():
        return Fact("ok", what, f"{dataset}: {given} is no folder here, so a name on the hub")
    return Fact("problem", what, f"{dataset}: there is no folder {given}, and the hub is not reached")


def _pretrained(name: str, recipe: Recipe, here: Here) -> Iterator[Fact]:
    for model in _models(recipe):
        if Path(model).is_dir() or here.hub or _cached(model):
            where = "a folder" if Path(model).is_dir() else "in the cache" if _cached(model) else "from the hub"
            yield Fact("ok", f"{name}, weights", f"{model}: {where}")
        else:
            missing = f"pretrained {model} is neither a folder nor in the cache, and the hub is not reached"
            remedy = "Put its files in a folder and name that in the recipe."
            yield Fact("problem", f"{name}, weights", missing, remedy, f"pretrained {model}")


def _models(recipe: Recipe) -> Iterator[str]:
    """Pretrained models by name: towers, and frozen encoders."""
    towers = [backbone.tower for backbone in recipe.backbones.values() if backbone.tower]
    yield from dict.fromkeys(tower.timm for tower in towers[:1] if tower.pretrained)
    if recipe.text and recipe.text.pretrained:
        yield recipe.text.transformer
    experts = [recipe.experts.image, recipe.experts.text] if recipe.experts else []
    yield from (str(expert.options["model"]) for expert in experts if expert and "model" in expert.options)


def _cached(model: str) -> bool:
    """Whether the hub's cache has the model: timm's names stand for a repository of timm."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in (model, f"timm/{model}"):
        try:
            if isinstance(try_to_load_from_cache(repository, "config.json"), str):
                return True
        except HFValidationError:
            continue
    return False


def _time(name: str, recipe: Recipe, backbone: str, settings: Backbone, own: list[Record]) -> Fact:
    what = name + TIME
    runs = f"{recipe.seeds} seeds" if recipe.seeds > 1 else "1 seed"
    if own:
        seconds = median(float(record.cost["seconds"]) for record in own)
        return Fact("ok", what, f"a run about {_words(seconds)}, measured in {len(own)} runs; {runs} a row")
    steps = recipe.training.steps * recipe.training.accumulation
    if not settings.step_seconds:
        return Fact("note", what, f"no estimate for {steps:,} steps of {recipe.training.batch}; {runs} a row")
    seconds, run = settings.step_seconds * steps, f"a run of the reference method on {backbone}"
    return Fact("ok", what, f"{run} about {_words(seconds)} on one core, estimated; {runs} a row")


def _words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.0f} h"
