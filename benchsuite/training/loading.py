"""Batches made ahead by worker processes, in order, while this process trains.

A worker computes what the process itself would: a function of the batch's number. So batches are equal bit for bit,
however many workers there are.
"""

import atexit
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from pickle import Pickler
from typing import Any, Generic, TypeVar, cast

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from benchsuite.data.base import Split
from benchsuite.data.readers.images import LazyArray, decode_alone
from benchsuite.errors import BenchsuiteError, RunError, UsageError
from benchsuite.running import running
from benchsuite.workers import end_with_parent

T = TypeVar("T")

AHEAD = 2
"""Batches that each worker makes ahead."""
MOST = 8
"""Workers that are started unless a number is given."""
GRACE_SECONDS = 120
"""How long a worker lives on after SIGTERM. A cluster sends it to all processes; the training one may still save."""
DIED = "DataLoader worker (pid"
"""How torch's message about it begins."""
SHARED = Path("/dev/shm")
"""Where batches pass from process to process."""


def workers_for(split: Split) -> int:
    """How many workers read this split: as many as were asked for, or by what its pictures are.

    Arrays need none: they are read faster than a worker can hand them over. Pictures that are decoded get one for each
    two threads of this process; with a single thread, decoding ahead would only take turns with the training.
    """
    if (asked := running().workers) is not None:
        return asked
    images: object = split.images
    decoded = isinstance(images, LazyArray) and not split.is_vectors
    return min(MOST, torch.get_num_threads() // 2) if decoded and sys.platform == "linux" else 0


class Made(Dataset[Any], Generic[T]):
    """What `make` gives for a number; an expected failure is handed over, to be raised in the process that trains."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make

    def __getitem__(self, number: int) -> T | BenchsuiteError:
        try:
            made = self._make(number)
            if get_worker_info() is not None:
                share_memory(made)
            return made
        except BenchsuiteError as error:
            return error


class Sharing(Pickler):
    """Moves each tensor that it meets to where other processes find it."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, torch.Tensor):
            thing.share_memory_()  # type: ignore[no-untyped-call]
            return bool, ()
        return NotImplemented


def share_memory(made: object) -> None:
    """Move all tensors to shared memory. Torch's queue would lose one without room, and its reader wait forever."""
    try:
        Sharing(BytesIO()).dump(made)
    except RuntimeError as error:
        raise no_room(str(error).partition("\n")[0]) from error


def no_room(reason: str) -> RunError:
    """Batches cannot pass from the workers to the process that trains."""
    return RunError(
        f"{SHARED}, shared memory through which batches pass,{_free()} ({reason}). Make it larger (of a container: "
        "--shm-size), or read without other processes: --workers 0."
    )


def _free() -> str:
    return f" has {shutil.disk_usage(SHARED).free / 2**20:.0f} MiB free" if SHARED.is_dir() else " is missing"


class Ahead(Generic[T]):
    """What `make` gives for `start`, `start` + 1, ... before `stop`, made by workers; or here, if there are none."""

    def __init__(self, make: Callable[[int], T], start: int, stop: int, workers: int, pinned: bool = False) -> None:
        if workers and sys.platform != "linux":
            raise UsageError(f"{workers} workers: copies of a process are safe on Linux alone. Give --workers 0.")
        self.next = start
        """The number that comes next."""
        self._stop, self._workers = stop, workers
        self._early: list[T | BenchsuiteError] = []
        self._made: Iterator[T | BenchsuiteError] = map(Made(make).__getitem__, range(start, stop))
        if workers:
            try:
                self._made = self._start(make, pinned)
            except OSError as error:
                self.close()
                raise no_room(str(error)) from error

    def __next__(self) -> T:
        try:
            made = self._early.pop() if self._early else next(self._made)
        except StopIteration:
            raise
        except BaseException as error:
            self.close()
            if isinstance(error, RuntimeError) and DIED in str(error):
                raise RunError(
                    f"a worker that reads batches ended by itself ({str(error).splitlines()[0]}). {SHARED}, through "
                    f"which batches pass,{_free()}. If memory was short, give fewer --workers, or none: --workers 0."
                ) from error
            raise
        if isinstance(made, BenchsuiteError):
            self.close()
            raise made
        self.next += 1
        return made

    def make_next(self) -> None:
        """Where there are no workers, make the next one now: a GPU computes meanwhile what it was given."""
        if not self._workers and not self._early:
            self._early = [*islice(self._made, 1)]

    def close(self) -> None:
        """End the workers. They hold nothing that would be lost."""
        atexit.unregister(self.close)
        ending, self._made = cast(Any, self._made), iter(())
        if hasattr(ending, "_shutdown_workers"):
            ending._shutdown_workers()
            for worker in ending._workers:
                worker.kill()
                worker.join()

    def _start(self, make: Callable[[int], T], pinned: bool) -> Iterator[T | BenchsuiteError]:
        atexit.register(self.close)  # before multiprocessing's own, which would wait for what SIGTERM does not end
        before = signal.getsignal(signal.SIGCHLD)
        with warnings.catch_warnings():
            # libraries' idle threads, and more workers than processors: both are for the caller to say
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)
            loader = DataLoader(
                Made(make),
                batch_size=None,
                sampler=range(self.next, self._stop),
                num_workers=self._workers,
                collate_fn=unchanged,
                pin_memory=pinned,
                prefetch_factor=AHEAD,
                worker_init_fn=begin,
                multiprocessing_context="fork",
                generator=torch.Generator().manual_seed(0),  # its own: the training's draws must not depend on workers
            )
            made = iter(loader)
        if threading.current_thread() is threading.main_thread():
            # torch's would raise wherever this process just is; asking for the next batch finds a dead worker too
            signal.signal(signal.SIGCHLD, before)
        return made


def unchanged(made: T) -> T:
    """What a worker made is a batch already."""
    return made


def begin(number: int) -> None:
    """In a new worker: end with the training process and not before it, and decode in one thread."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(GRACE_SECONDS))
    for name in ("SIGUSR1", "SIGUSR2", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    end_with_parent()
    decode_alone()
