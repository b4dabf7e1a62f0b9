"""From names to what will be run: a recipe's setup with its data's digests, a method with all of its settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchsuite.errors import SeveralError, UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.fields import resolve, temperatures
from benchsuite.methods import described_method, method_class
from benchsuite.models.pretrained import opened, text_folder
from benchsuite.parts import NOTHING
from benchsuite.planning.data_folders import protocols_of_classes, read_as, require_fitting, resolve_data
from benchsuite.planning.problems import and_more
from benchsuite.planning.recipe import Recipe
from benchsuite.records.method_version import file_digest
from benchsuite.records.schema import MethodPart
from benchsuite.registry import methods, tasks
from benchsuite.setup import Data, Protocol, Setup
from benchsuite.tower_settings import TextTower


def resolve_setup(
    recipe: Recipe,
    backbone: str,
    folders: Mapping[str, str] = NOTHING,
    variants: Sequence[str] = (),
    replicate: int | None = None,
    towers: bool = True,
) -> Setup:
    """The recipe on a backbone with the data's digests and the protocols' versions and options filled in.

    With a replicate's number, on data of its own wherever the dataset can be drawn or cut anew. Without `towers`,
    the models that they are sides of are not opened.
    """
    setup = recipe.setup(backbone, variants)
    setup = with_models(setup, folders) if towers else setup
    require_fitting(f'recipe "{recipe.title}", backbone {backbone}', setup)
    errors: dict[str, list[str]] = {}
    of_data: list[str] = []
    data, evaluated = setup.data, dict(setup.protocols)
    try:
        data = resolve_data(setup.data, folders, replicate)
        evaluated |= protocols_of_classes(recipe, data)
    except UsageError as error:
        of_data.append(str(error))
    protocols = {}
    for name, protocol in evaluated.items():
        try:
            protocols[name] = resolve_protocol(protocol, folders)
        except UsageError as error:
            errors.setdefault(str(error), []).append(f"protocol {name} (task {protocol.task})")
    if errors or of_data:
        raise SeveralError([*(f"{and_more(places)}: {what}" for what, places in errors.items()), *of_data])
    return setup.model_copy(update={"data": data, "protocols": protocols})


def with_models(setup: Setup, folders: Mapping[str, str]) -> Setup:
    """Towers of pretrained models with what these say of themselves, and data that are read as they take them."""
    changes: dict[str, Any] = {}
    for side in ("image", "text"):
        tower = getattr(setup, side)
        if isinstance(tower, TextTower) and tower.pretrained:
            changes[side] = _with_folder(tower, folders)
        if tower is None or not tower.model:
            continue
        place = tower.given(folders) or tower.place or tower.model
        wanted, found, weights = opened(place)
        size, mean, std, fit = found.pictures
        says = {"mean": tuple(mean), "std": tuple(std), "max_tokens": found.max_tokens if side == "text" else 0}
        says |= {"model": wanted.shown, "weights": weights}
        if side == "image":
            changes["data"] = _read_as(setup.data, size, fit)
            changes["protocols"] = {
                name: protocol.model_copy(update={"data": protocol.data and _read_as(protocol.data, size, fit)})
                for name, protocol in setup.protocols.items()
            }
        if tower.keeps_projection:
            changes["projection"] = setup.projection.model_copy(update={"width": found.width})
        filled = {name: says[name] for name in tower.filled}
        changes[side] = tower.model_copy(update={"place": place, **filled})
    return setup.model_copy(update=changes)


def _with_folder(tower: TextTower, folders: Mapping[str, str]) -> TextTower:
    """A pretrained text tower with what its folder says of itself; one of the hub as it is."""
    place = tower.given(folders) or tower.source
    if Path(place).is_dir():
        read = tower.model_copy(update={"transformer": place, "place": None, "weights": None})
        return tower.model_copy(update={"place": place, **text_folder(read.model_dump_json())})
    if tower.weights or place != tower.transformer:
        raise UsageError(f'text tower "{place}": no such folder. Say where its model is: --data text=FOLDER.')
    return tower


def _read_as(data: Data, size: int, fit: str) -> Data:
    """Data that are read as a model takes them, where the recipe does not say how."""
    return data.model_copy(update={"options": {**read_as(data.name, size, fit), **data.options}})


def resolve_protocol(protocol: Protocol, folders: Mapping[str, str]) -> Protocol:
    """The protocol with all options, its task's version, and its data's digest if it has data of its own."""
    options = create_task(protocol.task, **protocol.options).options()
    version = tasks.card(protocol.task).version
    data = protocol.data and resolve_data(protocol.data, folders)
    return protocol.model_copy(update={"options": options, "version": version, "data": data})


def resolve_method(
    name: str,
    hyperparameters: Mapping[str, Any],
    temperature_factor: float,
    tuned: Mapping[str, Any] = NOTHING,
    learning_rate: float | None = None,
) -> MethodPart:
    """The method with all hyper-parameters as they will be used, checked by making one.

    The factor multiplies temperatures as printed and defaults, but not those that tuning chose.
    """
    cls = method_class(name)
    options = resolve(cls, hyperparameters)
    scaled = {key: value * temperature_factor for key, value in options.items() if key in temperatures(cls)}
    checked = described_method(name, **{**options, **scaled, **tuned}).options()
    card = methods.card(name)
    return MethodPart(
        name=name,
        title=card.title,
        version=card.version,
        hyperparameters=checked,
        code=file_digest(card),
        owner=Path(card.owner).name,
        learning_rate=learning_rate,
    )
