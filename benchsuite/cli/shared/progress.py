"""Progress of runs, in plain lines."""

import time

from benchsuite.cli.shared.terminal import say
from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started, Stepped

READING_EVERY = 10
"""Seconds between lines about files that are read."""
STEPS_EVERY = 60
"""And between lines about steps."""


def show_reading() -> None:
    """From here on, say on stderr how far the one reading of large files is."""
    from benchsuite.data.readers.files import watching

    shown = [time.monotonic()]

    def watch(done: int, total: int) -> None:
        if (now := time.monotonic()) - shown[0] > READING_EVERY:
            shown[0] = now
            say(f"reading the data once: {done / 1e9:.1f} of {total / 1e9:.1f} GB", error=True)

    watching.set(watch)


class Terminal:
    """The display of work."""

    def say(self, *lines: str, error: bool = False) -> None:
        """Print lines."""
        say(*lines, error=error)

    def progress(self, total: int) -> "Lines":
        """Lines about so many runs."""
        return Lines(total)


class Lines:
    """A line when a run starts, one when it ends, and now and then one about its steps."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._last = time.monotonic()

    def show(self, event: Event) -> None:
        """Print starts and ends; of steps, which are many, one after a while."""
        match event:
            case Queued(run, job, obstacle):
                self._print(f"queue  {run.label}  job {job}" + f" waits: {obstacle}" * bool(obstacle))
            case Started(run):
                self._print(f"start  {run.label}")
            case Stepped(run, step) if time.monotonic() - self._last > STEPS_EVERY:
                self._last = time.monotonic()
                self._print(f"step   {run.label}  {step} of {run.steps}")
            case Finished(run, record):
                self._done += 1
                self._print(f"done   {run.label}  {record.cost['seconds']:.0f} s  ({self._done} of {self._total})")
            case Failed(run, reason, interrupted=True):
                self._print(f"stopped {run.label}  {reason}")
            case Failed(run, reason):
                self._done += 1
                self._print(f"failed {run.label}  {reason}")
            case Noted(run, text):
                self._print(f"note   {run.label}  {text}")

    @staticmethod
    def _print(text: str) -> None:
        say(text, error=True)
