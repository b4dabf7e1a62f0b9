"""Progress of runs, in plain lines."""

import time
from collections.abc import Callable
from functools import partial

from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started, Stepped

Say = Callable[..., None]
"""Shows lines, as the command line does; with `error=True` beside what the command was asked for."""
STEPS_EVERY = 60
"""Seconds between lines about steps."""


class Lines:
    """A line when a run starts, one when it ends, and now and then one about its steps."""

    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say = total, partial(say, error=True)
        self._done = 0
        self._last = time.monotonic()

    def show(self, event: Event) -> None:
        """Print starts and ends; of steps, which are many, one after a while."""
        match event:
            case Queued(run, job, obstacle):
                self._say(f"queue  {run.label}  job {job}" + f" waits: {obstacle}" * bool(obstacle))
            case Started(run):
                self._say(f"start  {run.label}")
            case Stepped(run, step) if time.monotonic() - self._last > STEPS_EVERY:
                self._last = time.monotonic()
                self._say(f"step   {run.label}  {step} of {run.steps}")
            case Finished(run, record):
                self._done += 1
                self._say(f"done   {run.label}  {record.cost['seconds']:.0f} s  ({self._done} of {self._total})")
            case Failed(run, reason, interrupted=True):
                self._say(f"stopped {run.label}  {reason}")
            case Failed(run, reason):
                self._done += 1
                self._say(f"failed {run.label}  {reason}")
            case Noted(run, text):
                self._say(f"note   {run.label}  {text}")
