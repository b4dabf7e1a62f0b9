"""What one GPU makes of a training step, and what stands between the two: about 15 minutes. Nothing is downloaded.

    python benchmarks/gpu.py --out gpu.json            # all of it; without CUDA it is --small
    python benchmarks/gpu.py --small                   # tiny towers, a few minutes: does everything work here?
    python benchmarks/gpu.py --only RN50 --arm "as is" --arm "open_clip's loop"

Towers have random weights, images are made here. For each pair of towers a training step in bf16 is measured as it is,
then its towers alone (no step can be faster), then with one thing changed at a time, then open_clip's own loop with the
same towers, batch and precision; at last the first one again, which shows how far the machine has drifted. An arm that
fails is a line with its reason, and the exit code is 1. `--out` is written after each line.

idle: the share of a step in which the GPU runs nothing (on a CPU, in which no operator runs).
syncs: how often a step waits for the GPU, as torch tells (not in copies of ordinary memory, nor in collectives);
`--out` has the lines of code that wait.
"""

import argparse
import copy
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, NamedTuple

import loading
import objectives
import torch
from start import stood_in
from torch import Tensor, nn
from torch.autograd import DeviceType
from torch.backends import cudnn
from torch.backends.cuda import matmul
from torch.nn.functional import normalize
from torch.profiler import ProfilerActivity, profile
from training import Training

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.errors import first_line
from benchsuite.execution.evaluate import opened
from benchsuite.methods import create_method
from benchsuite.models.dual_encoder import DualEncoder, seeded_encoder
from benchsuite.models.vectors import text_reader
from benchsuite.planning.plan import plan_run
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.environment import environment
from benchsuite.running import ACTIVATIONS
from benchsuite.setup import Setup
from benchsuite.training import feed
from benchsuite.training.curves import Meter
from benchsuite.training.distributed import leave_processes
from benchsuite.training.engine import device, join_processes, one_order
from benchsuite.training.loading import AHEAD
from benchsuite.training.loop import train
from benchsuite.training.shares import keeping

CUDA = torch.cuda.is_available()
BOUND = 1e-4
"""How far a loss of a short run in fp32 may be from the CPU's. Without oneDNN's kernels a CPU's own is 3e-6 away; with
weights that are 1e-4 of themselves away, which is less than TF32's rounding, it is 1e-4.
"""
OBJECTIVES = ("infonce", "temo", "mm-ts-margin", "sogclr", "amclr", "siglip")
Work = Callable[[int], object]
"""Does so many steps."""


class Steps(NamedTuple):
    """How many are done of an arm: before the windows whose time is taken, in each of them, and for a look inside."""

    warm: int = 3
    windows: int = 3
    each: int = 5
    looked: int = 2


class Size(NamedTuple):
    """How large everything is."""

    recipe: tuple[str, str]
    """With the backbone whose image tower is changed."""
    towers: Mapping[str, tuple[Mapping[str, Any], int]]
    """Changes of the image tower, and the batch."""
    steps: Steps
    side: int
    workers: Sequence[int]
    losses: Sequence[int]
    """Batches of losses alone."""


VITS = {"ViT-B/16": ({"timm": "vit_base_patch16_224"}, 256), "ViT-B/32": ({"timm": "vit_base_patch32_224"}, 1024)}
FULL = Size(
    ("cc12m-paper", "ViT-B/16"), {"RN50": ({"timm": "resnet50"}, 256), **VITS}, Steps(), 224, (4, 8, 16), (4096, 32768)
)
TINY_VIT = ({"timm": "test_vit", "options": {"img_size": 32, "depth": 1}}, 16)
TINY = {"RN50": ({}, 16), "ViT-B/16": TINY_VIT, "ViT-B/32": TINY_VIT}
SMALL = Size(("scenes-small", "RN50"), TINY, Steps(1, 1, 1, 1), 32, (1, 2), (64, 128))


PARTS = ("checks", *FULL.towers, "losses", "loading")


@dataclass(frozen=True)
class Line:
    """What was measured of one arm: a note, or a step's middle window, with slowest less fastest as a share of it."""

    part: str
    arm: str
    samples_per_second: float = math.nan
    milliseconds: float = math.nan
    apart: float = math.nan
    peak_bytes: int = 0
    idle: float | None = None
    waits: Mapping[str, float] | None = None
    """Lines of code that wait for the GPU, and how often in a step."""
    note: str = ""
    failed: bool = False

    def row(self, first: "Line") -> str:
        """Of the table; `first` is that of its part."""
        if self.note:
            return f"{self.arm:<28}{self.note}"
        times, memory = self.samples_per_second / first.samples_per_second, self.peak_bytes / 2**30
        cells = [f"{self.samples_per_second:,.0f}", f"{times:.2f}", f"{self.milliseconds:,.2f}", f"{self.apart:.0%}"]
        cells += [f"{memory:.2f}", "" if self.idle is None else f"{self.idle:.0%}"]
        return columns(self.arm, *cells, "" if self.waits is None else f"{sum(self.waits.values()):.1f}")


def columns(name: str, *cells: str) -> str:
    """A row of the table."""
    return f"{name:<28}" + "".join(f"{cell:>11}" for cell in cells)


def settle() -> None:
    """Wait for the GPU."""
    if CUDA:
        torch.cuda.synchronize()


def measured(part: str, arm: str, work: Work, samples: int, steps: Steps) -> Line:
    """`samples`: of a step."""
    work(steps.warm)
    settle()
    meter, seconds = Meter(), []
    for _ in range(steps.windows):
        begin = time.perf_counter()
        work(steps.each)
        settle()
        seconds.append((time.perf_counter() - begin) / steps.each)
    step, peak = median(seconds), int(meter.spent()["peak_memory_bytes"])
    idle = idle_share(work, step, steps.looked) if steps.looked else None
    waits = waits_of(work, steps.looked) if steps.looked and CUDA else None
    return Line(part, arm, samples / step, step * 1000, (max(seconds) - min(seconds)) / step, peak, idle, waits)


def idle_share(work: Work, step: float, number: int) -> float | None:
    """What is left of a step's seconds beside those in which kernels ran; None where they cannot be seen."""
    with profile(activities=[ProfilerActivity.CUDA if CUDA else ProfilerActivity.CPU]) as seen:
        work(number)
        settle()
    kind = DeviceType.CUDA if CUDA else DeviceType.CPU
    events = [event for event in seen.events() or () if event.device_type == kind and not event.is_user_annotation]
    busy, reached = 0.0, -math.inf
    for start, end in sorted((event.time_range.start, event.time_range.end) for event in events):
        busy += max(0.0, end - max(start, reached))  # kernels of several streams overlap
        reached = max(reached, end)
    return max(0.0, 1 - busy / 1e6 / number / step) if events else None


def waits_of(work: Work, number: int) -> dict[str, float]:
    """Of a step."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            work(number)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    waited = [warning for warning in seen if "synchronizing CUDA operation" in str(warning.message)]
    places = Counter(f"{'/'.join(Path(warning.filename).parts[-3:])}:{warning.lineno}" for warning in waited)
    return {place: times / number for place, times in places.most_common()}


@contextmanager
def changed(thing: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """Attributes have these values inside; also those of torch's modules of settings, which mock cannot put back."""
    before = {name: getattr(thing, name) for name in values}
    try:
        for name, value in values.items():
            setattr(thing, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(thing, name, value)


class AsOpenClip(nn.Module):
    """Our towers as a model of open_clip."""

    def __init__(self, encoder: DualEncoder) -> None:
        super().__init__()
        self.encoder, self.logit_scale = encoder, nn.Parameter(torch.tensor(20.0).log())

    def forward(self, images: Tensor, texts: Any) -> dict[str, Tensor]:
        rows = {"image_features": self.encoder.image(images), "text_features": self.encoder.text(texts)}
        return {name: normalize(row, dim=-1) for name, row in rows.items()} | {"logit_scale": self.logit_scale.exp()}


class Batches(list[Any]):
    """One batch again and again, with what open_clip asks of a loader."""

    def __init__(self, batch: Any, number: int) -> None:
        super().__init__([batch] * number)
        self.num_batches, self.num_samples = number, number * len(batch[0])


def open_clips(training: Training) -> Work:
    """open_clip's loop over one batch that is there, in memory from which a GPU copies by itself."""
    from open_clip import ClipLoss
    from open_clip_train.train import train_one_epoch

    cpu, settings = torch.device("cpu"), training.setup.optimizer
    batch = [training.inputs.pixels["image"].to(cpu), training.inputs.tokens["text"].to(cpu)]
    batch = [part.pin_memory() for part in batch] if CUDA else batch
    model = AsOpenClip(training.encoder).to(device())
    optimizer = torch.optim.AdamW(model.parameters(), settings.lr, settings.betas, settings.eps)
    given = Namespace(device=str(device()), precision="amp_bf16", accum_freq=1, skip_scheduler=True, horovod=False)
    vars(given).update(distill=False, grad_clip_norm=None, rank=1, world_size=1)  # the first rank alone logs

    def work(number: int) -> None:
        data = {"train": SimpleNamespace(dataloader=Batches(batch, number), set_epoch=lambda epoch: None)}
        train_one_epoch(model, data, ClipLoss(), 0, optimizer, None, None, None, given)

    return work


class Arm(NamedTuple):
    """A way to train, and what is measured of it."""

    name: str
    training: Mapping[str, Any] = {}
    """Changes of the setup."""
    settings: Sequence[tuple[Any, Mapping[str, Any]]] = ()
    """Things and the values that their attributes have meanwhile."""
    work: Callable[[Training], Work] = lambda training: training.steps
    activations: str = ""
    """What forward passes keep, where it is not as without a choice."""


CHOOSES = (cudnn, {"benchmark": True, "deterministic": False})
TF32 = (matmul, {"allow_tf32": True})
ARMS = (
    Arm("as is"),
    Arm("ZeRO 1", {"zero_stage": 1}),
    Arm("towers alone", work=lambda training: training.towers),
    Arm("no workers", settings=[(feed, {"workers_for": lambda split: 0})]),
    Arm("cuDNN chooses", settings=[CHOOSES]),
    Arm("TF32 products", settings=[TF32]),
    Arm("compiled towers", {"compiled": True}),
    Arm("2 shares, twice the batch", {"processes": 2}),
    Arm("2 shares, both kept", {"processes": 2}, activations="kept"),
    Arm("inputs of blocks kept", activations="blocks"),
    Arm("open_clip's loop", settings=[CHOOSES, TF32], work=open_clips),  # with what its command sets
    Arm("as is, again"),
)


def setup_of(size: Size, towers: str, **training: Any) -> Setup:
    """The recipe with these towers, on generated images and captions. A share is as large as a batch without shares."""
    recipe, backbone = size.recipe
    tower, share = size.towers[towers]
    setup = stood_in(read_recipe(recipe).setup(backbone), share * training.get("processes", 1))
    changes = {"precision": "bf16", "zero_stage": 0, "processes": 1, "steps": 10**6, **training}
    parts = {"image": setup.image.model_copy(update=tower), "training": setup.training.model_copy(update=changes)}
    return setup.model_copy(update=parts)


def of_towers(size: Size, towers: str, arms: Sequence[Arm]) -> Iterator[Line]:
    """Arms of a pair of towers."""
    setup = setup_of(size, towers)
    words = text_reader(setup, opened(setup.data).split("train"))
    encoder, part = seeded_encoder(setup, words.size, 0), f"{towers}, bf16, B {setup.training.batch:,}"
    for arm in arms:
        changes = setup_of(size, towers, **arm.training)
        yield attempt(part, arm.name, partial(of_arm, changes, arm, encoder, size.steps))


def of_arm(setup: Setup, arm: Arm, encoder: DualEncoder, steps: Steps, part: str, name: str) -> Line:
    """Of one arm, with weights of its own."""
    with ExitStack() as stack:
        for thing, values in arm.settings:
            stack.enter_context(changed(thing, values))
        os.environ[ACTIVATIONS] = arm.activations
        training = Training(setup, copy.deepcopy(encoder))
        stack.enter_context(keeping(training.encoder))
        stack.enter_context(one_order(setup.training.compiled))
        stack.callback(training.end)
        return measured(part, name, arm.work(training), setup.training.batch, steps)


def of_losses(size: Size) -> Iterator[Line]:
    """Loss and gradient of methods of vectors that are there, in fp32."""
    for batch in size.losses:
        for name in OBJECTIVES:
            yield attempt(f"losses, B {batch:,}", name, partial(of_loss, batch))


def of_loss(batch: int, part: str, name: str) -> Line:
    """Of one method."""
    method = objectives.make(name, batch).to(device())
    rows = objectives.inputs(method, batch, device())
    passes = (objectives.one_pass(method, rows) for _ in iter(int, 1))
    return measured(part, name, lambda number: [*islice(passes, number)], batch, Steps(1, 3, 1, 1))


def of_loading(size: Size) -> Iterator[Line]:
    """Batches from tar files of JPEGs of 500 x 375, as a step gets them, with nothing that uses them."""
    batch = 64 if size is FULL else 8
    with tempfile.TemporaryDirectory() as temporary:
        loading.write(Path(temporary), 16 * batch)
        split = create_dataset("cc3m", folder=temporary, size=size.side).split("train")
        setup = loading.setup_for(Path(temporary), batch, 10**6, size.side)
        for workers in size.workers:
            yield attempt("loading", f"{workers} workers", partial(of_workers, setup, split, workers))


def of_workers(setup: Setup, split: Split, workers: int, part: str, name: str) -> Line:
    """With so many. They hand batches over in bursts, so a window is twice what they make ahead."""
    window = 2 * AHEAD * workers
    with closing(loading.ours(setup, split, workers)) as batches:
        steps = Steps(window, 3, window, 0)
        return measured(part, name, lambda number: [*islice(batches, number)], setup.training.batch, steps)


def checks() -> Iterator[Line]:
    """Whether this device trains what a CPU trains."""
    yield attempt("checks", "short runs in fp32", short_runs)


def short_runs(part: str, name: str) -> Line:
    """Here and on the CPU."""
    command, on_cpu = [sys.executable, __file__, "--short-runs"], {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=on_cpu, check=True, stdout=subprocess.PIPE, text=True)
    expected, found = json.loads(done.stdout.splitlines()[-1]), runs_in_float()
    apart = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    note = f"losses on {device().type} are {apart:.1e} from the CPU's (bound {BOUND:.0e})"
    return Line(part, name, note=note, failed=not apart <= BOUND)


def runs_in_float() -> list[float]:
    """Losses of a few steps of a small ResNet and ViT on drawn pictures, on this process's device."""
    found = []
    for backbone in ("RN50", "ViT-B/16"):
        setup = plan_run("infonce", "scenes-smoke", backbone, 0, {}).setup
        training = setup.training.model_copy(update={"steps": 8})
        optimizer = setup.optimizer.model_copy(update={"lr": 1e-4})  # at its own rate rounding grows
        setup = setup.model_copy(update={"training": training, "optimizer": optimizer})
        with changed(cudnn, {"allow_tf32": False}):
            trained = train(setup, create_method("infonce", tau=0.1), opened(setup.data).split("train"), 0)
        found += trained.curves["loss"]
    return found


def attempt(part: str, name: str, measure: Callable[[str, str], Line]) -> Line:
    """What it finds, or why it does not; its memory is free afterwards."""
    try:
        return measure(part, name)
    except ModuleNotFoundError as error:
        return Line(part, name, note=f"not measured: {error}")
    except Exception as error:
        return Line(part, name, note=f"{type(error).__name__}: {first_line(error)}", failed=True)
    finally:
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="tiny towers and batches (without CUDA always)")
    parser.add_argument("--only", action="append", choices=PARTS, help="may be repeated")
    names = [arm.name for arm in ARMS]
    parser.add_argument("--arm", action="append", choices=names, help="of towers; may be repeated (default: all)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there, too")
    parser.add_argument("--short-runs", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    size = FULL if CUDA and not given.small else SMALL
    arms = [arm for arm in ARMS if arm.name in (given.arm or names)]
    parts: dict[str, Callable[[], Iterator[Line]]] = {
        "checks": checks,
        **{towers: partial(of_towers, size, towers, arms) for towers in size.towers},
    }
    parts |= {"losses": partial(of_losses, size), "loading": partial(of_loading, size)}
    join_processes()
    if given.short_runs:
        print(json.dumps(runs_in_float()))
        leave_processes()
        return
    name = torch.cuda.get_device_name() if CUDA else "cpu"
    about = {"small": size is SMALL, "environment": environment(name, torch.get_num_threads(), 1)}
    print(f"{name}; {about['environment']['processor']}, {torch.get_num_threads()} threads")
    lines: list[Line] = []
    first: dict[str, Line] = {}
    for line in chain.from_iterable(parts[part]() for part in given.only or PARTS):
        lines.append(line)
        if line.part not in first:
            print("\n" + columns(line.part, "samples/s", "times", "ms a step", "±", "GiB", "idle", "syncs"))
        print(line.row(first.setdefault(line.part, line)), flush=True)
        if given.out:
            given.out.write_text(json.dumps({**about, "lines": [*map(asdict, lines)]}, indent=1) + "\n", "utf-8")
    leave_processes()
    sys.exit(any(line.failed for line in lines))


if __name__ == "__main__":
    main()
