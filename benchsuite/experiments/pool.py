"""Parallel runs in worker processes. A worker that dies takes its run with it, not the others."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchsuite.experiments.events import Event, Failed, Finished
from benchsuite.experiments.plan import Run
from benchsuite.experiments.worker import serve

GRACE_SECONDS = 10
"""How long an idle worker may take to exit."""


@dataclass
class Worker:
    """A process, our end of its pipe, and its current run."""

    process: BaseProcess
    pipe: Connection
    log: Path
    run: Run | None = None


@dataclass(frozen=True)
class Pool:
    """`jobs` workers that share the processor's threads equally."""

    jobs: int
    logs: Path
    plugins: Sequence[Path] = ()

    @property
    def threads(self) -> int:
        """Threads a worker computes with."""
        return max(1, (os.cpu_count() or 1) // self.jobs)

    def execute(self, runs: Sequence[Run]) -> Iterator[Event]:
        """Do the runs and yield what happens. Leaving the loop early ends all workers at once."""
        waiting = deque(runs)
        workers: list[Worker] = []
        try:
            while waiting or any(worker.run for worker in workers):
                while waiting and len(workers) < self.jobs:
                    workers.append(self._start(len(workers)))
                for worker in workers:
                    if worker.run is None and waiting:
                        worker.run = waiting.popleft()
                        with suppress(BrokenPipeError):
                            worker.pipe.send(worker.run)
                for worker in self._ready(workers):
                    try:
                        event: Event = worker.pipe.recv()
                    except (EOFError, OSError):
                        workers.remove(worker)
                        event = self._died(worker)
                    if isinstance(event, Finished | Failed):
                        worker.run = None
                    yield event
            for worker in workers:
                with suppress(BrokenPipeError):
                    worker.pipe.send(None)
                worker.process.join(timeout=GRACE_SECONDS)
        finally:
            with _uninterrupted():
                for worker in workers:
                    worker.process.terminate()
                for worker in workers:
                    worker.process.join(timeout=GRACE_SECONDS)
                    worker.process.kill()
                    worker.process.join()
                    if worker.log.exists() and not worker.log.stat().st_size:
                        worker.log.unlink()

    def _start(self, number: int) -> Worker:
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.logs / f"worker-{os.getpid()}-{number}.log"
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.threads, tuple(self.plugins), log), daemon=False)
        with _environment(OMP_NUM_THREADS=str(self.threads), TOKENIZERS_PARALLELISM="false"):
            process.start()
        theirs.close()
        return Worker(process, ours, log)

    @staticmethod
    def _ready(workers: Sequence[Worker]) -> list[Worker]:
        ready = set(wait([worker.pipe for worker in workers if worker.run]))
        return [worker for worker in workers if worker.pipe in ready]

    @staticmethod
    def _died(worker: Worker) -> Failed:
        assert worker.run is not None, "only workers with a run are read from"
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return Failed(worker.run, f"its worker process died ({how}); see {worker.log}")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a second Ctrl-C wait until the workers are gone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables for children started inside."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
