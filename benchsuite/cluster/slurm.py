"""SLURM's commands: which partitions there are, how jobs are, submission of arrays through submitit."""

import io
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchsuite.cluster.options import ClusterOptions, Layout
from benchsuite.errors import RunError, UsageError, require_known
from benchsuite.files import reason_of
from benchsuite.training.stopping import handling

ENDED = frozenset({
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "REVOKED", "TIMEOUT",
})  # fmt: skip
"""States that a job does not leave by itself. A preempted job that is queued again is pending."""
ORDINARY = frozenset({"None", "Priority", "Resources", "Dependency", "JobArrayTaskLimit", "BeginTime", "Cleaning"})
"""Reasons to wait that pass by themselves."""
SECONDS = 60
"""How long a command of SLURM may take."""
DEFAULT_ARRAY_SIZE = 1001
"""SLURM's own."""


@dataclass(frozen=True)
class JobState:
    """A job, or one of an array, as SLURM knows it."""

    job: str
    state: str
    name: str
    reason: str = ""
    """Why it waits."""

    @property
    def alive(self) -> bool:
        """Whether it waits or runs."""
        return self.state not in ENDED

    @property
    def obstacle(self) -> str:
        """Why it waits, if not for its turn."""
        return self.reason if self.state == "PENDING" and self.reason not in ORDINARY else ""


def require_tools() -> None:
    """Refuse a machine without SLURM's commands, and an environment without submitit."""
    try:
        import submitit  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(
            "--cluster slurm needs the package submitit. Install it: pip install 'benchsuite[slurm]'."
        ) from error
    if missing := [name for name in ("sbatch", "squeue", "srun") if shutil.which(name) is None]:
        raise UsageError(
            f"--cluster slurm: {', '.join(missing)} not found. Call it where jobs can be submitted: on a login node of "
            "the cluster, with SLURM's commands in PATH."
        )


def require_partition(options: ClusterOptions) -> None:
    """Refuse a partition that the cluster does not have."""
    if options.partition is None:
        return
    known = set(_ask("sinfo", "-h", "-o", "%R").split())
    for name in options.partition.split(","):
        require_known("partition", name, known, "--cluster slurm: ")


def states() -> dict[str, JobState]:
    """This user's jobs that wait, run, or ended a few minutes ago, by id; those of an array one by one."""
    lines = _ask("squeue", "--me", "-h", "-r", "-t", "all", "-o", "%i|%T|%j|%r").splitlines()
    found = (JobState(*line.split("|", 3)) for line in lines if line.count("|") >= 3)
    return {job.job: job for job in found}


def ending(job: str) -> str:
    """How a job ended, as far as SLURM's accounting remembers it, such as "NODE_FAIL"; else empty."""
    with suppress(RunError):
        lines = _ask("sacct", "-n", "-X", "-P", "-j", job, "-o", "State").splitlines()
        return next((line.split()[0] for line in lines if line.strip()), "")
    return ""


def cancel(jobs: Sequence[str]) -> None:
    """Cancel jobs; those that ended already stay as they are."""
    with suppress(RunError):
        _ask("scancel", *jobs)


def largest_array() -> int:
    """How many jobs an array may have."""
    for line in _ask("scontrol", "show", "config").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "MaxArraySize" and value.strip().isdigit():
            return max(1, int(value))
    return DEFAULT_ARRAY_SIZE


def submit(
    folder: Path,
    options: ClusterOptions,
    layout: Layout,
    name: str,
    function: Callable[[str], None],
    arguments: Sequence[str],
    at_a_time: int | None = None,
    after: Sequence[str] = (),
) -> list[str]:
    """Submit an array of jobs that call the function with one argument each, and return the jobs' ids.

    At most `at_a_time` of them run at a time, and none before all jobs of the arrays `after` have ended.
    """
    from submitit import SlurmExecutor
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor = SlurmExecutor(folder)
    executor.update_parameters(**_parameters(options, layout, name, at_a_time or len(arguments), after))
    said = io.StringIO()
    try:
        with redirect_stderr(said):  # submitit prints there what it raises
            jobs = executor.map_array(function, list(arguments))
    except (FailedJobError, FailedSubmissionError) as error:
        raise UsageError(f"the cluster refused the jobs: {_plain(str(error))}.") from error
    return [job.job_id for job in jobs]


def _parameters(
    options: ClusterOptions, layout: Layout, name: str, at_a_time: int, after: Sequence[str]
) -> dict[str, Any]:
    # submitit would send SIGUSR2, and answer it itself
    more: dict[str, Any] = {"requeue": True, "signal": f"USR1@{options.signal_seconds}", **options.sbatch}
    if options.time:
        more["time"] = options.time
    if after:
        more["dependency"] = "afterany:" + ":".join(after)
    return {
        "job_name": name,
        "partition": options.partition,
        "account": options.account,
        "qos": options.qos,
        "time": None,
        "nodes": layout.nodes,
        "ntasks_per_node": layout.processes_per_node,
        "cpus_per_task": options.cpus_per_task,
        "gpus_per_node": layout.processes_per_node if options.gpus_per_node else None,
        "mem": options.memory,
        "setup": list(options.setup),
        "array_parallelism": at_a_time,
        "stderr_to_stdout": True,
        "wckey": None,
        "additional_parameters": more,
        # srun of SLURM 22.05 and later does not take the CPUs over from sbatch
        "srun_args": [f"--cpus-per-task={options.cpus_per_task}", "--kill-on-bad-exit=1", "--wait=0"],
    }


def requeue(job: str) -> None:
    """Ask for a running job again. A job that is being cancelled, or that SLURM itself queues again, stays as it is."""
    if _ask("squeue", "-h", "-j", job, "-o", "%T").strip() == "RUNNING":
        _ask("scontrol", "requeue", job)


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except subprocess.CalledProcessError as error:
        raise RunError(f"{' '.join(command[:2])}: {_plain(error.stderr)}.") from error
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{command[0]} did not answer within {SECONDS} s.") from error
    except OSError as error:
        raise RunError(f"{command[0]}: {reason_of(error)}.") from error
    return done.stdout


def _plain(text: str) -> str:
    """What a command of SLURM printed, in one line."""
    lines = [line.removeprefix("sbatch: ").removeprefix("error: ").strip() for line in text.splitlines()]
    return "; ".join(line.rstrip(".") for line in lines if line) or "no reason was given"


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C, which the terminal sends to commands started inside too, takes effect at the end."""
    pressed: list[int] = []
    with handling(lambda number, _: pressed.append(number), signal.SIGINT):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by the commands
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if pressed:
        raise KeyboardInterrupt
