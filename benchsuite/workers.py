"""Parallel map over worker processes."""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

FEW = 200
"""With fewer items, no worker processes are started."""
PARTS = 32
"""Chunks for each process: a balance of idle time at the end and overhead of communication."""

_inherited: list[Any] = []
"""In a worker: the function and the items, inherited through fork."""


def spread(work: Callable[[T], R], items: Sequence[T], few: int | None = None) -> Iterator[R]:
    """The results in order. Only results are pickled, so items may be large and `work` a closure.

    `few` in the place of FEW where an item is much work.
    """
    processes = processors()
    enough = len(items) >= (FEW if few is None else few)
    if not enough or processes < 2 or sys.platform != "linux":  # copies of a process are not safe elsewhere
        yield from map(work, items)
        return
    try:
        pool = ProcessPoolExecutor(processes, get_context("fork"), _inherit, (work, items))
    except OSError:  # no shared memory (/dev/shm), in which processes would wait for each other
        yield from map(work, items)
        return
    gc.freeze()  # the workers' garbage collections must not touch, and so copy, the parent's objects
    try:
        with pool:
            with warnings.catch_warnings():
                # a library's idle threads; they hold nothing that a worker waits for
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                results = pool.map(_do, range(len(items)), chunksize=1 + len(items) // (processes * PARTS))
            yield from results
    finally:
        gc.unfreeze()


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _inherit(*work_and_items: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent
    end_with_parent()
    _inherited[:] = work_and_items


def end_with_parent() -> None:
    """End this worker process when its parent ends; otherwise it would wait for ever."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _do(number: int) -> Any:
    work, items = _inherited
    return work(items[number])


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """For a while that makes much and drops little: collection would scan all of it again and again, for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
