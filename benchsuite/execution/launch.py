"""Start the processes that do runs: one of its own, or a group by torch's elastic launch.

A group stays for many runs, as a single worker does: importing the libraries and building the process group costs each
process ten seconds or more, and a training at smoke takes two.
"""

import multiprocessing
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchsuite.execution.worker import Place, serve, serve_in_group, stay_out_of_the_terminal
from benchsuite.workers import end_with_parent

LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What a launcher from outside says, which is not meant for the processes that are started here."""


@dataclass(frozen=True)
class Death:
    """The process of a group that died first."""

    rank: int
    code: int


@dataclass(frozen=True)
class Started:
    """Processes as their parent has them: pipes to each, and the process that they end with."""

    keeper: BaseProcess
    """The process itself if it is a single one; otherwise the launcher of the group."""
    pipes: Sequence[Connection]
    report: Connection | None
    """Where the launcher says which one died; none of a single process."""


def start(places: Sequence[Place], log: Path, environment: Mapping[str, str]) -> Started:
    """Start a process for each place; they are a group with a launcher, which writes to `log`, if there are several."""
    context = multiprocessing.get_context("spawn")
    ends = [context.Pipe() for _ in places]
    ours, theirs = [end[0] for end in ends], [end[1] for end in ends]
    own = {"OMP_NUM_THREADS": str(places[0].threads), "TOKENIZERS_PARALLELISM": "false", **environment}
    with _environment({**dict.fromkeys(LAUNCHERS), **own}):
        if len(places) == 1:
            process: BaseProcess = context.Process(target=serve, args=(theirs[0], places[0]), daemon=False)
            report = None
            process.start()
        else:
            report, tell = context.Pipe(duplex=False)
            process = context.Process(target=launch, args=(theirs, places, tell, log))
            process.start()
            tell.close()
    for end in theirs:
        end.close()
    return Started(process, ours, report)


def launch(pipes: Sequence[Connection], places: Sequence[Place], tell: Connection, log: Path) -> None:
    """A group's launcher: starts its processes, waits for them, ends all if one dies, and says which one."""
    stay_out_of_the_terminal(log)
    end_with_parent()
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    with tempfile.TemporaryDirectory() as folder:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=len(places),
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=0,
            local_addr="localhost",
            logs_specs=DefaultLogsSpecs(folder),
            signals_to_handle="SIGTERM",
        )
        try:
            elastic_launch(config, serve_in_group)(pipes, places)
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            tell.send(Death(rank, failure.exitcode))
        except SignalException:
            pass  # the parent ended it, and elastic launch its processes


@contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or remove those that are None, for children started inside."""
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})
