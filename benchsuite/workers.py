"""The same work on each of many things, on all processors."""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

FEW = 200
"""Fewer things than that are not worth other processes."""
PARTS = 32
"""Of the work of each process: with fewer, one waits long for another; with more, they talk more than they work."""

_inherited: list[Any] = []
"""In a worker: the work and the things, which it has because its process is a copy of ours."""


def spread(work: Callable[[T], R], things: Sequence[T]) -> Iterator[R]:
    """The results in order. Only they go from process to process, so that things may be large and work a closure."""
    processes = processors()
    if len(things) < FEW or processes < 2 or sys.platform != "linux":  # copies of a process are not safe elsewhere
        yield from map(work, things)
        return
    gc.freeze()  # what is there now is left alone by the workers' collections, and not copied for them
    try:
        with ProcessPoolExecutor(processes, get_context("fork"), _inherit, (work, things)) as pool:
            with warnings.catch_warnings():
                # a library's idle threads; they hold nothing that a worker waits for
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                results = pool.map(_do, range(len(things)), chunksize=1 + len(things) // (processes * PARTS))
            yield from results
    finally:
        gc.unfreeze()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _inherit(*given: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    end_with_parent()
    _inherited[:] = given


def end_with_parent() -> None:
    """Let this worker process end when the process that started it does; otherwise it would wait for ever."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _do(number: int) -> Any:
    work, things = _inherited
    return work(things[number])
