"""Start recipes at their full configuration on generated data: their towers, batch, precision, ZeRO and processes.

Nothing is downloaded: pretrained towers have random weights. On a GPU the whole batch is tried at once. On a CPU the
batch grows as long as the next one should fit, and the processes may take no more memory than is free: the system would
otherwise end any program.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import cast

from benchsuite.data import PairDataset, create_dataset
from benchsuite.doctor import stand_in
from benchsuite.doctor.libraries import Line
from benchsuite.errors import BenchsuiteError
from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.free_space import available_memory, gib
from benchsuite.execution.group import Group
from benchsuite.execution.pool import Pool
from benchsuite.planning.plan import Run, make_run
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.resolve import resolve_method, resolve_protocol
from benchsuite.registry import datasets
from benchsuite.setup import REFERENCES, Data, Protocol, Setup, TextTower

PLUGIN = Path(stand_in.__file__)
STEPS, TIMES = 2, 4
"""Of each training; how many times larger the next batch is."""
STEP_SECONDS = 60
"""How long a step may be expected to take on a CPU."""
SPARE = 0.8
"""Share of the free memory that a batch may be expected to take."""
PICTURE, FRAMES, WIDTH = 32, 8, 512
"""Side, frames and width of vectors where the dataset has no option for them."""
ARCHITECTURES: Mapping[str, tuple[str, int]] = {
    "distilbert-base-uncased": ("distilbert", 30522),
    "bert-base-uncased": ("bert", 30522),
}
"""Type and vocabulary of pretrained text towers whose architecture is that type's default."""


@dataclass(frozen=True)
class Started:
    """A training of a few steps that ended well."""

    batch: int
    processes: int
    step_seconds: float
    memory: int
    """Peak bytes of one process."""


def start_lines(name: str, logs: Path, devices: Devices) -> Iterator[Line]:
    """For each backbone of a recipe, whether its training starts here."""
    recipe = read_recipe(name)
    for backbone in recipe.backbones:
        yield _line(f"{name}, {backbone}, start", recipe, backbone, logs, devices)


def _line(what: str, recipe: Recipe, backbone: str, logs: Path, devices: Devices) -> Line:
    setup, done, why = recipe.setup(backbone), list[Started](), ""
    try:
        for outcome in attempts(setup, logs, devices):
            if isinstance(outcome, Started):
                done.append(outcome)
            else:
                why = outcome
    except BenchsuiteError as error:
        why = str(error)
    whole = f"a batch of {setup.training.batch:,}"
    if not done:
        return Line("problem", what, f"{whole} does not start: {why}".rstrip("."))
    last = done[-1]
    some = f"{last.batch:,} of {whole}" if last.batch < setup.training.batch else whole
    processes = f"{last.processes} process{'es' * (last.processes > 1)}"
    found = (
        f"{some} starts in {processes}: {last.step_seconds:.3g} s a step, {gib(last.memory)} a process "
        f"({_settings(setup)})"
    )
    return Line("note" if why else "ok", what, f"{found}; {why}".rstrip(".") if why else found)


def _settings(setup: Setup) -> str:
    training, zero = setup.training, f"ZeRO {setup.training.zero_stage}"
    shares = f"{training.processes} shares" if training.processes > 1 else "1 share"
    return f"{shares}, {training.precision}, {zero}, {setup.optimizer.name}"


def attempts(setup: Setup, logs: Path, devices: Devices) -> Iterator[Started | str]:
    """Larger and larger batches up to the setup's own. The last is a text if that one was not reached."""
    shares, whole = setup.training.processes, setup.training.batch
    processes = devices.processes(shares)
    batch, before = whole if devices.gpus else min(whole, max(2, shares * least_share(setup))), list[Started]()
    with no_more_than(math.inf if devices.gpus else SPARE * available_memory() / processes):
        group = Pool(devices, logs, (PLUGIN,)).group(0, processes, 1, 0)
    try:
        while True:
            run = _run(setup, batch)
            end = _ended(group, run)
            if isinstance(end, Failed):
                yield f"a batch of {batch:,} ends with: {end.reason}"
                return
            cost = end.record.cost
            memory, seconds = int(cost["peak_memory_bytes"]), float(cost["seconds"]) / STEPS
            before.append(Started(batch, processes, seconds, memory))
            yield before[-1]
            if batch == whole:
                return
            batch = min(whole, TIMES * batch)
            if too_much := _too_much(before, batch):
                yield too_much
                return
    finally:
        if group.broken or group.run:  # a run is left by Ctrl-C
            group.stop()
        else:
            group.finish()
        group.bury()


def least_share(setup: Setup) -> int:
    """Pairs of a share at least: a batch norm of vectors needs two."""
    return 1 if setup.projection.hidden is None else 2


@contextmanager
def no_more_than(memory: float) -> Iterator[None]:
    """Processes that are started inside may each take so many bytes; more is an error of theirs."""
    try:
        import resource
    except ImportError:  # not on Windows
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if math.isfinite(memory):
        most = int(memory) if before[1] == resource.RLIM_INFINITY else min(int(memory), before[1])
        resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _too_much(before: list[Started], batch: int) -> str:
    """Why a larger batch is not tried; "" if it should fit. Memory and time grow with the batch."""
    last = before[-1]
    if (seconds := last.step_seconds * batch / last.batch) > STEP_SECONDS:
        return f"{batch:,} would take about {math.ceil(seconds)} s a step"
    if len(before) == 1:
        return ""
    a_pair = (last.memory - before[-2].memory) / (last.batch - before[-2].batch)
    memory, free = last.processes * (last.memory + a_pair * (batch - last.batch)), SPARE * available_memory()
    return f"{batch:,} would take about {gib(memory)}, and {gib(free)} may be used" if memory > free else ""


def _ended(group: Group, run: Run) -> Finished | Failed:
    group.take(run)
    while True:
        wait(group.connections, timeout=1)
        for event in group.hear():
            if isinstance(event, Finished | Failed):
                return event


def _run(setup: Setup, batch: int) -> Run:
    method = REFERENCES[setup.towers]
    part = resolve_method(method, {}, setup.temperature_factor)
    return make_run(stood_in(setup, batch), part, seed=0, label=method, step_seconds=0.0)


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
