"""A run in processes that torchrun or srun started: all compute, the first one shows what happens."""

from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted, RunError
from benchsuite.execution.attempt import failure_of
from benchsuite.execution.events import Event, Failed, Finished, Noted, Started, Stepped
from benchsuite.execution.measure import take_part
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Every
from benchsuite.training.distributed import alone, rank, world_size
from benchsuite.training.engine import device, join_processes


def agree(plan: Callable[[], Run], is_to_do: Callable[[Run], bool]) -> tuple[Run, bool]:
    """What each process planned, and whether it is to be done, which the first one checks.

    Where planning fails in the first one it says why, and the others nothing; otherwise those say it that failed.
    """
    join_processes()
    first, wanted = rank() == 0, False
    error: BenchsuiteError | None = None
    try:
        with alone():
            run = plan()
            wanted = first and is_to_do(run)
    except BenchsuiteError as caught:
        error = caught
    mine = torch.tensor([error.exit_code if error else 0, int(wanted)], device=device())
    every = [torch.empty_like(mine) for _ in range(world_size())]
    dist.all_gather(every, mine)
    codes = [int(each[0]) for each in every]
    if error and first:
        raise error
    if error and not codes[0]:
        raise RunError(f"process of rank {rank()}: {error}") from error
    if code := max(codes):
        raise SystemExit(code)
    return run, bool(every[0][1])


def do_together(run: Run, folder: Path, every: Every | None, show: Callable[[Event], None]) -> Finished | Failed | None:
    """Do this process's part of the run: the first one shows it and has its end, any other one raises if it fails."""
    show(Started(run))
    try:
        watch, note = (lambda step: show(Stepped(run, step))), (lambda text: show(Noted(run, text)))
        measured = take_part(run, watch, folder, note, every)
    except Exception as error:
        failure = failure_of(error)
        if rank() and (failure.diverged or failure.interrupted):  # all meet it, and the first one says so
            raise SystemExit(Interrupted.exit_code if failure.interrupted else DivergedError.exit_code) from error
        if rank():
            raise RunError(failure.reason) from error
        if failure.interrupted:
            raise
        return Failed(run, failure.reason, failure.traceback, failure.diverged)
    return Finished(run, measured.record, measured.ranks) if measured else None
