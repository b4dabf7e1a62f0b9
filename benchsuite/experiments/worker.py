"""A worker process: imports the heavy libraries once, then does one run after another."""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from benchsuite.errors import BenchsuiteError, DivergedError
from benchsuite.experiments.events import Failed, Finished, Started, Stepped, unexpected
from benchsuite.records.names import run_folder
from benchsuite.workers import end_with_parent


def serve(pipe: Connection, threads: int, plugins: Sequence[Path], log: Path) -> None:
    """Answer each run that comes through the pipe with its events, until None comes."""
    _stay_out_of_the_terminal(log)
    end_with_parent()
    from benchsuite.registry import load_plugin

    for plugin in plugins:
        load_plugin(plugin)
    import torch

    from benchsuite.experiments.measure import measure

    torch.set_num_threads(threads)
    while (run := pipe.recv()) is not None:
        pipe.send(Started(run))

        try:
            folder = run_folder(log.parent.parent, run.run_id) if run.keep_weights else None
            record, ranks = measure(run, lambda step: pipe.send(Stepped(run, step)), folder)
            pipe.send(Finished(run, record, ranks))
        except BenchsuiteError as error:
            pipe.send(Failed(run, str(error), diverged=isinstance(error, DivergedError)))
        except Exception as error:
            pipe.send(Failed(run, unexpected(error), traceback.format_exc()))


def _stay_out_of_the_terminal(log: Path) -> None:
    """Send what libraries print to a file. Ctrl-C is handled by the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, sys.stdout.fileno())
    os.dup2(target, sys.stderr.fileno())
