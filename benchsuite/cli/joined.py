"""`benchsuite run` in processes that torchrun or srun started: all compute, the first one stores and prints."""

import traceback
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from benchsuite.cli.shared.progress import progress
from benchsuite.cli.shared.terminal import say
from benchsuite.errors import BenchsuiteError, DivergedError, Interrupted, RunError
from benchsuite.execution.events import Failed, Finished, Noted, Started, Stepped, unexpected
from benchsuite.execution.measure import take_part
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import Every, folder_of
from benchsuite.records.store import Store
from benchsuite.training.distributed import alone, lost_contact, rank, world_size
from benchsuite.training.engine import device, join_processes
from benchsuite.work.session import keep_traceback


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


def execute_joined(run: Run, store: Store, every: Every | None) -> list[Failed]:
    """Do this process's part of the run; the first one stores the record, or why there is none."""
    folder = folder_of(store.folder, run.run_id)
    if rank():
        return _attend(run, folder, every)
    with progress(1) as shown:
        shown.show(Started(run))
        try:
            watch, note = (lambda step: shown.show(Stepped(run, step))), (lambda text: shown.show(Noted(run, text)))
            measured = take_part(run, watch, folder, note, every)
        except Interrupted:
            raise
        except Exception as error:
            known = isinstance(error, BenchsuiteError)
            reason = str(error) if known else lost_contact(error) or unexpected(error)
            trace = "" if known else traceback.format_exc()
            failed = Failed(run, reason, trace, isinstance(error, DivergedError))
            store.add_failure(run.run_id, reason)
            store.logs.mkdir(exist_ok=True)
            keep_traceback(failed, store.logs)
            shown.show(failed)
            return [failed]
        assert measured, "the first process measures"
        store.write(measured.record, measured.ranks)
        shown.show(Finished(run, measured.record, measured.ranks))
    return []


def _attend(run: Run, folder: Path, every: Every | None) -> list[Failed]:
    """Any process but the first. What all of them meet is said by the first one alone."""
    try:
        take_part(run, folder=folder, every=every)
    except (DivergedError, Interrupted) as error:
        raise SystemExit(error.exit_code) from error
    except Exception as error:
        reason = str(error) if isinstance(error, BenchsuiteError) else lost_contact(error) or unexpected(error)
        say(f"benchsuite: process of rank {rank()}: {reason}", error=True)
        raise SystemExit(RunError.exit_code) from error
    return []
