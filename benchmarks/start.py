"""Train recipes for two steps on generated data: their towers, precision, ZeRO, processes, and on GPUs their batch.

    python benchmarks/start.py cc12m-paper pairs-gpu --devices 8

Nothing is downloaded: pretrained towers have random weights. Without a GPU the batch has two pairs for each share.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from benchsuite.data import PairDataset, create_dataset
from benchsuite.errors import BenchsuiteError
from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.pool import Pool
from benchsuite.execution.space import gib
from benchsuite.planning.plan import Run, make_run
from benchsuite.planning.recipe import read_recipe, recipe_names
from benchsuite.planning.resolve import resolve_method, resolve_protocol
from benchsuite.registry import datasets, load_plugin
from benchsuite.setup import REFERENCES, Data, Protocol, Setup
from benchsuite.tower_settings import TextTower

PLUGIN = Path(__file__).with_name("stand_in.py")
load_plugin(PLUGIN)  # no import: new processes read this file again, and a plugin is registered once
stand_in = sys.modules["benchsuite_plugin_stand_in"]
STEPS = 2
SHARE = 2
"""Pairs of a share of the batch where there is no GPU: a batch norm needs two."""
PICTURE, FRAMES, WIDTH = 32, 8, 512
"""Side, frames and width of vectors where the dataset has no option for them."""
ARCHITECTURES: Mapping[str, tuple[str, int]] = {
    "distilbert-base-uncased": ("distilbert", 30522),
    "bert-base-uncased": ("bert", 30522),
}
"""Type and vocabulary of pretrained text towers whose architecture is that type's default."""


def lines(name: str, logs: Path, devices: Devices) -> Iterator[tuple[bool, str]]:
    """For each backbone of a recipe, whether its training starts here, and what it takes or why not."""
    recipe = read_recipe(name)
    for backbone in recipe.backbones:
        setup = recipe.setup(backbone)
        try:
            run = stand_in_run(setup, None if devices.gpus else SHARE * setup.training.processes)
            end = started(run, logs, devices)
        except BenchsuiteError as error:
            yield False, f"{name}, {backbone}: does not start: {error}"
            continue
        tried = f"{name}, {backbone}: {run.setup.training.batch:,} pairs of a batch of {setup.training.batch:,}"
        if isinstance(end, Failed):
            yield False, f"{tried} do not start: {end.reason}"
            continue
        cost, processes = end.record.cost, end.record.environment["processes"]
        each = f"{cost['seconds'] / STEPS:.3g} s a step, {gib(cost['peak_memory_bytes'])} a process"
        several = f"{processes} process{'es' * (processes > 1)}"
        yield True, f"{tried} start in {several}: {each} ({_settings(setup)})"


def _settings(setup: Setup) -> str:
    training, zero = setup.training, f"ZeRO {setup.training.zero_stage}"
    shares = f"{training.processes} shares" if training.processes > 1 else "1 share"
    return f"{shares}, {training.precision}, {zero}, {setup.optimizer.name}"


def started(run: Run, logs: Path, devices: Devices) -> Finished | Failed:
    """What comes of the run."""
    with closing(Pool(devices, logs, (PLUGIN,)).execute([run])) as events:
        return next(event for event in events if isinstance(event, Finished | Failed))


def stand_in_run(setup: Setup, batch: int | None = None) -> Run:
    """The reference method for a few steps on generated data; `batch` is the largest one."""
    method = REFERENCES[setup.towers]
    part = resolve_method(method, {}, setup.temperature_factor)
    whole = setup.training.batch
    return make_run(stood_in(setup, min(whole, batch or whole)), part, seed=0, label=method, step_seconds=0.0)


def stood_in(setup: Setup, batch: int) -> Setup:
    """The setup with this batch for a few steps, on generated data and without pretrained weights."""
    text = setup.text and from_random_weights(setup.text)
    side = "image" if setup.image else "text"
    classes = {"classes": stand_in.LABELS, "side": side, "bank": stand_in.EVALUATED, "split": stand_in.EVALUATED}
    changes = {
        "data": _data(setup.data, batch, text),
        "image": setup.image and setup.image.model_copy(update={"pretrained": False}),
        "text": text,
        "training": setup.training.model_copy(update={"batch": batch, "steps": STEPS}),
        "protocols": {"knn": resolve_protocol(Protocol(task="knn", options=classes), {})},
        "clusters": None,
        "experts": None,
    }
    return setup.model_copy(update=changes)


def from_random_weights(tower: TextTower) -> TextTower:
    """The same architecture without its weights, if it is known without its files."""
    if not tower.pretrained or tower.transformer not in ARCHITECTURES:
        return tower
    kind, vocabulary = ARCHITECTURES[tower.transformer]
    return tower.model_copy(update={"transformer": kind, "pretrained": False, "vocabulary": vocabulary})


def _data(data: Data, batch: int, text: TextTower | None) -> Data:
    shown = cast(type[PairDataset], datasets.get(data.name)).shows
    options = {field.name: field.default for field in datasets.card(data.name).fields} | data.options
    side = int(options.get("size", PICTURE))
    frames = [int(options.get("frames", FRAMES))] if shown == "clips" else []
    shape = [WIDTH] if shown == "vectors" else [*frames, side, side, 3]
    words = text.max_tokens if text and text.vocabulary else 0
    captions = math.ceil((text.vocabulary or 0) / (batch * words)) if text and words else 1
    made = {"rows": batch, "shape": shape, "words": words, "captions": captions}
    manifest = create_dataset(stand_in.NAME, **made).manifest()
    return Data(name=stand_in.NAME, options=made, version=manifest.version, digest=manifest.digest)


def main() -> None:
    """Print a line for each backbone."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipes", nargs="*", help="names or files (default: all)")
    parser.add_argument("--devices", type=int, help="GPUs, or processes on a CPU (default: all)")
    given = parser.parse_args()
    ended = []
    with TemporaryDirectory() as logs:
        for name in given.recipes or recipe_names():
            for well, line in lines(name, Path(logs), Devices.here(given.devices, jobs=1)):
                ended.append(well)
                print(line, flush=True)
    sys.exit(not all(ended))


if __name__ == "__main__":
    main()
