"""Watching a run: the points of its curves, as they come, in a format that other tools show. Off by default.

Nothing of it is in a record or an identity. A run has a folder of its own; one that goes on later adds to it.
"""

import csv
import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError
from benchsuite.running import running

Point = Callable[[int, Mapping[str, float]], None]
tracked: ContextVar[Point] = ContextVar("tracked", default=lambda step, values: None)
"""Called with each point of the curves of the run that this process does: the step and its values."""

PROJECT = "benchsuite"


def require_library(way: str) -> None:
    """Refuse a way whose library, which has its name, is missing."""
    if importlib.util.find_spec(way) is None:
        raise UsageError(f"--track {way}: the library {way} is not installed: pip install {way}")


@contextmanager
def tracking(label: str, run_id: str, about: Mapping[str, Any]) -> Iterator[None]:
    """Within it, points of this run are kept in the way that was asked for, if one was."""
    way, place = running().track, running().track_folder
    if not way:
        yield
        return
    require_library(way)
    name = re.sub(r"[^\w.=-]+", "-", label).strip("-")
    with ExitStack() as stack:
        opened: list[Point] = []

        def point(step: int, values: Mapping[str, float]) -> None:
            if not opened:  # the first process of a group has points, the others have none
                folder = Path(place) / f"{name}-{run_id}"
                folder.mkdir(parents=True, exist_ok=True)
                opened.append(WAYS[way](stack, folder, run_id, label, about))
            opened[0](step, values)

        token = tracked.set(point)
        try:
            yield
        finally:
            tracked.reset(token)


def to_csv(stack: ExitStack, folder: Path, run_id: str, label: str, about: Mapping[str, Any]) -> Point:
    """`points.csv`: a row for each value. Of a step that was done twice, the later rows count."""
    file = folder / "points.csv"
    is_new = not file.exists()
    stream = stack.enter_context(file.open("a", newline="", encoding="utf-8"))
    rows = csv.writer(stream)
    if is_new:
        rows.writerow(["step", "name", "value"])

    def point(step: int, values: Mapping[str, float]) -> None:
        rows.writerows([step, name, repr(float(value))] for name, value in values.items())
        stream.flush()

    return point


def to_tensorboard(stack: ExitStack, folder: Path, run_id: str, label: str, about: Mapping[str, Any]) -> Point:
    """TensorBoard's event files."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder))
    stack.callback(writer.close)

    def point(step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    return point


def to_wandb(stack: ExitStack, folder: Path, run_id: str, label: str, about: Mapping[str, Any]) -> Point:
    """Weights & Biases, as its own environment says: WANDB_MODE=offline keeps everything in the folder."""
    import wandb

    run = wandb.init(
        project=PROJECT, name=label, id=run_id, dir=str(folder), config=dict(about), resume="allow", reinit=True
    )

    stack.callback(run.finish)
    return lambda step, values: run.log(dict(values), step=step)


def to_trackio(stack: ExitStack, folder: Path, run_id: str, label: str, about: Mapping[str, Any]) -> Point:
    """Trackio's database of all runs, beside their folders or where TRACKIO_DIR says."""
    os.environ.setdefault("TRACKIO_DIR", str(folder.parent))  # it is read once, at the import
    import trackio

    name = f"{label}, {run_id}"
    run = trackio.init(PROJECT, name=name, config=dict(about), resume="allow", embed=False, auto_log_cpu=False)
    stack.callback(run.finish)
    return lambda step, values: run.log(dict(values), step=step)


WAYS = {"csv": to_csv, "tensorboard": to_tensorboard, "wandb": to_wandb, "trackio": to_trackio}
