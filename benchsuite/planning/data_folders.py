"""Resolve a setup's data: folders, versions and digests.

Paths are not hashed: `Data.folder` goes with a run to its worker, but is never written or digested. The content of the
folder is part of the identity, by the manifest's digest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from benchsuite.data import PairDataset, create_dataset
from benchsuite.data.base import Shows
from benchsuite.errors import UnknownError, UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.labelled import label_rows
from benchsuite.planning.recipe import Recipe
from benchsuite.registry import datasets
from benchsuite.setup import FOLDER, Data, Protocol, Settings, Setup
from benchsuite.tower_settings import MODEL, TEXT

REMEDIES: Mapping[Shows, str] = {
    "clips": 'Say how frames are pooled: frames = "mean" or "transformer".',
    "images": "Use a tower by its timm name, without `frames`.",
    "vectors": "Use an MLP: tower = { mlp = { layers = 1 } }.",
    "nothing": "Remove the tower, or use another dataset.",
}
"""By what the dataset shows."""


def open_dataset(data: Data) -> PairDataset:
    """The dataset under its options, at its folder if it has one."""
    folder = {} if data.folder is None else {FOLDER: data.folder}
    return create_dataset(data.name, **data.options, **data.apart, **folder)


def read_as(dataset: str, size: int, fit: str) -> dict[str, Any]:
    """The options by which a dataset reads pictures as a model takes them, as far as it has them."""
    known = {option.name for option in datasets.card(dataset).fields}
    return {name: value for name, value in {"size": size, "fit": fit}.items() if name in known}


def resolve_data(data: Data, folders: Mapping[str, str], replicate: int | None = None) -> Data:
    """The data with all options, version and digest filled in, and the folder separate from the options.

    An option that was given with the folders replaces the recipe's. A replicate's number is added to the option by
    which it draws data of its own.
    """
    given = dict(data.options) | options_given(data.name, folders)
    own = given.pop(FOLDER, data.folder)
    folder = next((folders[name] for name in folder_names(data.name) if name in folders), own)
    dataset = open_dataset(data.model_copy(update={"options": given, "folder": folder}))
    redrawn = data.redrawn if replicate is None else dataset.redrawn
    if replicate and redrawn:
        given[redrawn] = dataset.options()[redrawn] + replicate
        dataset = open_dataset(data.model_copy(update={"options": given, "folder": folder}))
    manifest, options = dataset.manifest(), dataset.options()
    folder = options.pop(FOLDER, None)
    apart = {name: options.pop(name) for name in dataset.apart}
    identity = {"version": manifest.version, "digest": manifest.digest, "paraphrases": manifest.paraphrases}
    return data.model_copy(
        update={"options": options, "folder": folder, "apart": apart, "redrawn": redrawn, **identity}
    )


def require_used(recipe: Recipe, folders: Mapping[str, str]) -> None:
    """Every folder must be for a dataset that the recipe, or a variant of it, reads from files."""
    towers = [recipe.text, *(backbone.tower for backbone in recipe.backbones.values())]
    read = [*read_by(recipe), *trained_on(recipe).values()]
    known = {given for data in read for given in folder_names(data.name)}
    for name in folders:
        dataset, dot, _ = name.partition(".")
        if name in (MODEL, TEXT):
            if not any(tower and tower.given({name: folders[name]}) for tower in towers):
                kind = "is a side of such a model" if name == MODEL else "of texts is pretrained by itself"
                raise UsageError(f"{'--model' if name == MODEL else '--data text'}: {recipe.title}: no tower {kind}.")
            continue
        if dataset not in ({data.name for data in read} if dot else known):
            raise UnknownError("dataset", dataset, known, f"--data {name}=...: {recipe.title}: ")


def options_given(name: str, folders: Mapping[str, str]) -> dict[str, str]:
    """The options of a dataset among the folders: `pairs.caption` is the option caption of pairs."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): value for key, value in folders.items() if key.startswith(prefix)}


def options_of(setup: Setup, replicate: int, folders: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """By dataset: the options that a user gave, as a run has them, but for what each replicate sets."""
    found: dict[str, dict[str, Any]] = {}
    for data in read_by(setup):
        given = options_given(data.name, folders).keys() & data.options.keys()
        own = {name: data.options[name] for name in sorted(given)}
        own |= {name: own[name] - replicate for name in own.keys() & {data.redrawn}}
        found |= {data.name: own} if own else {}
    return found


def models_of(setup: Setup) -> dict[str, str]:
    """By side: which pretrained model its tower is of, by the weights."""
    return {side: tower.weights for side in ("image", "text") if (tower := getattr(setup, side)) and tower.weights}


def require_one_model(name: str, setups: Iterable[Setup]) -> None:
    """A request knows the model of a backbone's side by one digest: rows of another would be given its runs."""
    planned = [*setups]
    for side in ("image", "text"):
        towers = [tower for setup in planned if (tower := getattr(setup, side)) and tower.weights]
        places = {tower.weights: str(tower.place) for tower in towers}
        if len(places) > 1:
            several = ", ".join(sorted(places.values()))
            raise UsageError(f"{name}: rows differ in the pretrained model of the {side} tower ({several}); give one.")


def read_by(settings: Settings) -> Iterator[Data]:
    """The data that is trained on, and that of protocols with data of their own."""
    yield settings.data
    yield from (protocol.data for protocol in settings.protocols.values() if protocol.data)


def trained_on(recipe: Recipe) -> dict[str, Data]:
    """What each variant trains on, if that is another dataset than the recipe's."""
    changes = {name: variant.change.get("data", {}) for name, variant in recipe.variants.items()}
    return {name: Data.model_validate(change) for name, change in changes.items() if "name" in change}


def variants_without_data(recipe: Recipe, folders: Mapping[str, str]) -> dict[str, str]:
    """Variants that train on another dataset whose folder was not given, with the reason. No folder may be unused."""
    require_used(recipe, folders)
    return {
        name: f"no data was given: add --data {data.name}=FOLDER"
        for name, data in trained_on(recipe).items()
        if (given := folder_names(data.name)) and FOLDER not in data.options and not folders.keys() & {*given}
    }


def require_fitting(recipe: str, setup: Setup) -> None:
    """Refuse towers that do not fit the data (images or clips, captions or none), before anything is trained."""
    if setup.text and not cast(type[PairDataset], datasets.get(setup.data.name)).captioned:
        raise UsageError(
            f"{recipe}: dataset {setup.data.name} has no captions, which a text tower needs. Remove [text], or use "
            "a dataset with captions, such as pairs."
        )
    towers = [tower for tower in (setup.image, setup.text) if tower]
    if all(tower.train == "none" and tower.keeps_projection for tower in towers):
        raise UsageError(
            f"{recipe}: all towers are frozen and keep their projections, so there is nothing to train. Give one of "
            'them train = "last 1", "lora" or "all", or projection = "new".'
        )
    if setup.image is None:
        return
    takes = "vectors" if setup.image.mlp else "clips" if setup.image.frames else "images"
    evaluated = {recipe: setup.data}
    for name, protocol in setup.protocols.items():
        if protocol.data and create_task(protocol.task, **protocol.options).needs_images:
            evaluated[f"{recipe}, protocol {name} ({protocol.task})"] = protocol.data
    for where, data in evaluated.items():
        shown = cast(type[PairDataset], datasets.get(data.name)).shows
        if shown != takes:
            raise UsageError(
                f'{where}: image tower "{setup.image.name}" takes {takes}, but dataset {data.name} shows {shown}. '
                + REMEDIES[shown]
            )


def protocols_of_classes(recipe: Recipe, data: Data) -> dict[str, Protocol]:
    """The recipe's protocols for data with classes, if it has some. A class that cannot be learned is refused."""
    if not recipe.with_classes:
        return {}
    dataset = open_dataset(data)
    if not dataset.class_names:
        return {}
    for protocol in recipe.with_classes.values():
        options = create_task(protocol.task, **protocol.options).options()
        name, split = options["classes"], options["split"]
        bank = options.get("bank", split)
        asked, taught = ({*label_rows(dataset, dataset.split(each), name).tolist()} for each in (split, bank))
        if untaught := sorted(asked - taught):
            raise UsageError(
                f'{data.name}: class "{dataset.class_names[name][untaught[0]]}" is in split {split} but not '
                f"in {bank}. Add an image of it to {bank}, cut with another seed, or leave classes out with "
                f"{data.name}.label=none."
            )
    return dict(recipe.with_classes)


def folder_names(name: str) -> Sequence[str]:
    """Names under which the folder of a dataset is given: its own and that of files it shares; none without files."""
    card = datasets.card(name)
    reads_files = any(field.name == FOLDER for field in card.fields)
    return tuple(dict.fromkeys((name, card.about.get("source", name)))) if reads_files else ()
