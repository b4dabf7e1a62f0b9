"""Resolve a setup's data: folders, versions and digests.

Paths are not hashed: `Data.folder` goes with a run to its worker, but is never written or digested. The content of the
folder is part of the identity, by the manifest's digest.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from benchsuite.data import PairDataset, create_dataset
from benchsuite.data.base import Shows
from benchsuite.errors import UsageError, unknown
from benchsuite.evaluation.base import create_task
from benchsuite.experiments.recipe import Recipe
from benchsuite.registry import datasets
from benchsuite.setup import Data, Setup

FOLDER = "folder"
"""The option that tells a dataset where its files are."""
REMEDIES: Mapping[Shows, str] = {
    "clips": 'Say how frames are pooled: frames = "mean" or "transformer".',
    "images": 'Remove the tower\'s `frames`, or use a video dataset (one with `shows = "clips"`).',
    "nothing": "Remove the tower, or use another dataset.",
}
"""By what the dataset shows."""


def open_dataset(data: Data) -> PairDataset:
    """The dataset under its options, at its folder if it has one."""
    folder = {} if data.folder is None else {FOLDER: data.folder}
    return create_dataset(data.name, **data.options, **folder)


def resolve_data(data: Data, folders: Mapping[str, str]) -> Data:
    """The data with all options, version and digest filled in, and the folder separate from the options."""
    given = dict(data.options)
    own = given.pop(FOLDER, data.folder)
    folder = next((folders[source] for source in sources(data.name) if source in folders), own)
    dataset = open_dataset(data.model_copy(update={"options": given, "folder": folder}))
    manifest, options = dataset.manifest(), dataset.options()
    folder = options.pop(FOLDER, None)
    return data.model_copy(
        update={"options": options, "version": manifest.version, "digest": manifest.digest, "folder": folder}
    )


def require_used(recipe: Recipe, folders: Mapping[str, str]) -> None:
    """Every folder must be for a dataset that the recipe, or a variant of it, reads from files."""
    from_variants = filter(None, (trained_on(recipe, variant) for variant in recipe.variants))
    read = [*read_by(recipe), *from_variants]
    known = {source for data in read for source in sources(data.name) if takes_folder(data.name)}
    for name in folders:
        if name not in known:
            raise unknown("dataset", name, known, f"--data {name}=...: {recipe.title}: ")


def read_by(recipe: Recipe) -> Iterator[Data]:
    """The data that is trained on, and that of protocols with data of their own."""
    yield recipe.data
    yield from (protocol.data for protocol in recipe.protocols.values() if protocol.data)


def trained_on(recipe: Recipe, variant: str) -> Data | None:
    """What a variant trains on, if that is another dataset than the recipe's."""
    change = recipe.variants[variant].change.get("data", {}) if variant in recipe.variants else {}
    return Data.model_validate(change) if "name" in change else None


def nowhere(recipe: Recipe, variants: Iterable[str], folders: Mapping[str, str]) -> str:
    """Why these variants cannot be run: they train on another dataset, whose folder was not given; "" if they can."""
    for data in filter(None, (trained_on(recipe, variant) for variant in variants)):
        given = FOLDER in data.options or any(source in folders for source in sources(data.name))
        if takes_folder(data.name) and not given:
            return f"no data was given: add --data {data.name}=FOLDER"
    return ""


def require_fitting(recipe: str, setup: Setup) -> None:
    """Refuse towers that do not fit the data (images or clips, captions or none), before anything is trained."""
    if setup.text and not cast(type[PairDataset], datasets.get(setup.data.name)).captioned:
        raise UsageError(
            f"{recipe}: dataset {setup.data.name} has no captions, which a text tower needs. Remove [text], or use "
            "a dataset with captions, such as pairs."
        )
    if setup.image is None:
        return
    takes = "clips" if setup.image.frames else "images"
    evaluated = {recipe: setup.data}
    for name, protocol in setup.protocols.items():
        if protocol.data and create_task(protocol.task, **protocol.options).needs_images:
            evaluated[f"{recipe}, protocol {name} ({protocol.task})"] = protocol.data
    for where, data in evaluated.items():
        shown = cast(type[PairDataset], datasets.get(data.name)).shows
        if shown != takes:
            raise UsageError(
                f'{where}: image tower "{setup.image.timm}" takes {takes}, but dataset {data.name} shows {shown}. '
                + REMEDIES[shown]
            )


def sources(name: str) -> Iterable[str]:
    """The dataset's own name, and that of the files it shares with another."""
    return dict.fromkeys((name, datasets.card(name).about.get("source", name)))


def takes_folder(name: str) -> bool:
    """Whether the dataset reads files."""
    return FOLDER in {field.name for field in datasets.card(name).fields}
