"""The options of commands that can submit their runs to a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.errors import UsageError

if TYPE_CHECKING:
    from benchsuite.cluster.jobs import Cluster
    from benchsuite.cluster.options import ClusterOptions
    from benchsuite.records.checkpoints import Every


class Scheduler(StrEnum):
    """Which kind of cluster."""

    slurm = "slurm"


Schedulers = Annotated[
    Scheduler | None,
    typer.Option(
        "--cluster",
        help="Submit each run as a job of this cluster, and watch the jobs. Ctrl-C leaves them running; the same "
        "command collects what is done and submits what is missing.",
        show_default=False,
    ),
]
OptionsFile = Annotated[
    Path | None,
    typer.Option(
        "--cluster-options",
        help="TOML file of what a job asks for: partition, account, gpus_per_node, time, ...",
        metavar="FILE",
    ),
]
OptionsGiven = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-option",
        help="One of them, instead of the file's; sbatch.NAME=VALUE for any other of sbatch. May be repeated.",
        metavar="NAME=VALUE",
    ),
]
MaxJobs = Annotated[
    int | None,
    typer.Option("--max-jobs", min=1, help="Jobs at a time (default: the cluster decides)."),
]


@dataclass(frozen=True)
class ChosenCluster:
    """The cluster of a command."""

    options: "ClusterOptions"
    max_jobs: int | None

    def executor(self, results: Path, plugins: Sequence[Path], every: "Every | None") -> "Cluster":
        """What submits runs and watches their jobs."""
        from benchsuite.cluster.jobs import Cluster

        return Cluster(self.options, results, plugins, self.max_jobs, every)

    def jobs(self, runs: int) -> int:
        """How many runs are done at a time, at most."""
        return max(1, min(self.max_jobs or runs, runs))


def chosen_cluster(
    cluster: Scheduler | None,
    file: Path | None,
    given: Sequence[str] | None,
    max_jobs: int | None = None,
    jobs: int | None = None,
) -> ChosenCluster | None:
    """The cluster that was asked for, if it can be used from here; none to run on this machine."""
    if cluster is None:
        only = {"--cluster-options": file, "--cluster-option": given, "--max-jobs": max_jobs}
        if without := [name for name, value in only.items() if value]:
            raise UsageError(f"{without[0]} is for jobs of a cluster: add --cluster slurm.")
        return None
    if jobs is not None:
        raise UsageError("--jobs is for runs on this machine; with --cluster give --max-jobs.")
    from benchsuite.cluster.options import read_options
    from benchsuite.cluster.slurm import require_partition, require_tools

    options = read_options(file, given or ())
    require_tools()
    require_partition(options)
    return ChosenCluster(options, max_jobs)
