"""Options of the commands that train: with what, on which data, where records go, and how a training is kept."""

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from benchsuite.cli.shared.options import RESULTS, Folders, Plugins, Results, Tables, load_own, parse_folders
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import UsageError
from benchsuite.execution.joining import launched
from benchsuite.running import Activations, Running, Way, require_trainable_here
from benchsuite.tower_settings import MODEL

if TYPE_CHECKING:
    from benchsuite.cluster.options import ClusterOptions
    from benchsuite.records.checkpoints import Every
    from benchsuite.work.session import Session


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command, in which the fields of each parameter that is a dataclass follow the other options."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)}

    @wraps(command)
    def expanded(**given: Any) -> None:
        from benchsuite.data.readers.hub import fetching

        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        before = fetching.set(not given.get("dry_run"))
        try:
            command(**given, **made)
        finally:
            fetching.reset(before)

    alone = [each for name, each in own.items() if name not in groups]
    of_groups = [
        part for group in groups.values() for part in inspect.signature(group, eval_str=True).parameters.values()
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*alone, *of_groups)]
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {part.name: part.annotation for part in parameters}
    return expanded


MINUTES = 10.0
TRACKING = "tracking"
KeepWeights = Annotated[
    bool, typer.Option("--keep-weights", help="Store the trained towers with each record, for `benchsuite weights`.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Parallel runs (default: as many as have devices of their own).")
]
MaxJobs = Annotated[
    int | None, typer.Option("--max-jobs", min=1, help="Jobs at a time (default: the cluster decides).")
]


@dataclass(frozen=True)
class TrainingOptions:
    """What `repro`, `run` and `tune` take alike."""

    data: Folders = None
    model: Annotated[
        str | None,
        typer.Option(
            help="The pretrained model of the recipe's towers: transformers:NAME or open_clip:NAME?pretrained=TAG, or "
            "a FOLDER in place of NAME.",
            metavar="LIBRARY:NAME",
        ),
    ] = None
    plugin: Plugins = None
    tables: Tables = None
    results: Results = RESULTS
    devices: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Devices that all runs together may use (default: all GPUs; without a GPU, a CPU process for each "
            "core).",
        ),
    ] = None
    cluster: Annotated[
        Literal["slurm"] | None,
        typer.Option(
            help="Submit each run as a job of this cluster, and watch the jobs. Ctrl-C leaves them running; the same "
            "command collects what is done and submits what is missing.",
        ),
    ] = None
    cluster_options: Annotated[
        Path | None,
        typer.Option(
            help="TOML file of what a job asks for: partition, account, gpus_per_node, time, ...", metavar="FILE"
        ),
    ] = None
    cluster_option: Annotated[
        list[str] | None,
        typer.Option(
            help="One of them, instead of the file's; sbatch.NAME=VALUE for any other of sbatch. May be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None
    checkpoint_minutes: Annotated[
        float, typer.Option(min=0, help="Minutes between a training's checkpoints (0: none).", metavar="MINUTES")
    ] = MINUTES
    checkpoint_steps: Annotated[
        int | None, typer.Option(min=1, help="Steps between a training's checkpoints, besides.", metavar="STEPS")
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Data-loading workers of each training process (default: none for data in memory; for images that "
            "are decoded, one for each two threads, at most 8). Results are the same for any number.",
        ),
    ] = None
    skip_bad_pictures: Annotated[
        bool,
        typer.Option(
            "--skip-bad-pictures",
            help="Replace a training pair whose picture cannot be decoded by the next good one; the record counts "
            "them.",
        ),
    ] = False

    activations: Annotated[
        Activations | None,
        typer.Option(
            help="What a forward pass keeps for its backward pass: kept: everything, of all shares of a batch, where "
            "memory allows it; blocks: the inputs of the towers' blocks, for least memory and one more forward pass. "
            "Default: everything, but of several shares on a GPU nothing. Results are the same.",
        ),
    ] = None

    @property
    def folders(self) -> dict[str, str]:
        return parse_folders(self.data) | ({MODEL: self.model} if self.model else {})

    @property
    def every(self) -> "Every | None":
        """How often a training is saved; none for no checkpoints."""
        from benchsuite.records.checkpoints import Every

        minutes, steps = self.checkpoint_minutes, self.checkpoint_steps
        return Every(minutes or None, steps) if minutes or steps else None

    def load_own(self) -> list[str]:
        """Use the user's tables and recipes, and load the plugins; returns the methods that they added."""
        return load_own(self.tables, self.plugin)

    def use_machine(self, tracking: "TrackingOptions | None" = None) -> None:
        """Carry out the runs of this command as the options say, in all of its processes.

        This one plans, checks and measures; in a launcher's it trains too, with the launcher's threads.
        """
        require_trainable_here()
        if launched() == 1:
            import torch

            from benchsuite.execution.pool import stated_threads

            torch.set_num_threads(stated_threads() or 1)
        track, folder = "", self.results / TRACKING
        if tracking and tracking.track:
            from benchsuite.training.tracking import require_library

            require_library(tracking.track)
            track, folder = tracking.track, tracking.track_dir or folder
        activations = self.activations or ""
        Running(self.workers, self.skip_bad_pictures, activations, track, str(folder.absolute())).set()

    def session(self, jobs: int | None = None, max_jobs: int | None = None) -> "Session":
        """Does runs on this machine or a cluster, stores them in `--results`, and shows them on the terminal."""
        from benchsuite.execution.devices import Devices
        from benchsuite.records.store import Store
        from benchsuite.work.session import Session, Workplace

        cluster = self._cluster(jobs, max_jobs)
        here = Devices(count, stated=True) if (count := launched()) > 1 else Devices.here(self.devices, jobs)
        workplace = Workplace(here, cluster, max_jobs, self.plugin or (), self.every)
        return Session(workplace, Store(self.results), say)

    def _cluster(self, jobs: int | None, max_jobs: int | None) -> "ClusterOptions | None":
        """What jobs ask of the cluster that was asked for, if it can be used from here; none to run on this machine."""
        if self.cluster is None:
            only = {
                "--cluster-options": self.cluster_options,
                "--cluster-option": self.cluster_option,
                "--max-jobs": max_jobs,
            }
            if without := [name for name, value in only.items() if value]:
                raise UsageError(f"{without[0]} is for jobs of a cluster: add --cluster slurm.")
            return None
        if jobs is not None:
            raise UsageError("--jobs is for runs on this machine; with --cluster give --max-jobs.")
        from benchsuite.cluster.options import read_options
        from benchsuite.cluster.slurm import require_partition, require_tools

        options = read_options(self.cluster_options, self.cluster_option or ())
        require_tools()
        require_partition(options)
        return options


@dataclass(frozen=True)
class TrackingOptions:
    """Where the curves of runs can be watched while they train."""

    track: Annotated[
        Way | None,
        typer.Option(help="Keep each run's curves as they come, for TensorBoard, Weights & Biases, or as CSV."),
    ] = None
    track_dir: Annotated[
        Path | None, typer.Option(help="Folder of tracked runs (default: tracking in --results).", metavar="FOLDER")
    ] = None


def refuse_inside_launcher(command: str) -> None:
    """Refuse a command that starts processes itself where torchrun or srun started it several times."""
    if (count := launched()) > 1:
        raise UsageError(
            f"{count} processes of `benchsuite {command}` were started by torchrun or srun. Start it once: it starts "
            "the processes of its runs itself. Only `benchsuite run` joins processes that were started from outside."
        )


READING_EVERY = 10
"""Seconds between lines about files that are read."""


def show_reading() -> None:
    """From here on, say on stderr how far the one reading of large files is."""
    from benchsuite.data.readers.files import watching

    shown = [time.monotonic()]

    def watch(done: int, total: int) -> None:
        if (now := time.monotonic()) - shown[0] > READING_EVERY:
            shown[0] = now
            say(f"reading the data once: {done / 1e9:.1f} of {total / 1e9:.1f} GB", error=True)

    watching.set(watch)
