"""Progress of runs: bars on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from benchsuite.cli.shared.terminal import say
from benchsuite.execution.events import Event, Failed, Finished, Noted, Queued, Started, Stepped
from benchsuite.harmless import line

if TYPE_CHECKING:
    from rich.progress import TaskID


READING_EVERY = 10
"""Seconds between lines about files that are read."""


def show_reading() -> None:
    """From here on, say on stderr how far the one reading of large files is."""
    from benchsuite.data.readers.files import watching

    shown = [time.monotonic()]

    def watch(done: int, total: int) -> None:
        if (now := time.monotonic()) - shown[0] > READING_EVERY:
            shown[0] = now
            say(f"reading the data once: {done / 1e9:.1f} of {total / 1e9:.1f} GB", error=True)

    watching.set(watch)


def progress(total: int) -> "Bars | Lines":
    """Bars on a terminal, lines elsewhere."""
    return Bars(total) if sys.stderr.isatty() else Lines(total)


class Terminal:
    """The display of work."""

    def say(self, *lines: str, error: bool = False) -> None:
        """Print lines."""
        say(*lines, error=error)

    def progress(self, total: int) -> "Bars | Lines":
        """Bars or lines."""
        return progress(total)


class Lines:
    """One line when a run starts and one when it ends."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def show(self, event: Event) -> None:
        """Print starts and ends; steps would be too many lines."""
        match event:
            case Queued(run, job, obstacle):
                self._print(f"queue  {run.label}  job {job}" + f" waits: {obstacle}" * bool(obstacle))
            case Started(run):
                self._print(f"start  {run.label}")
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


class Bars:
    """A bar for all runs and one for the steps of each run under way."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bars = RichProgress(*columns, console=Console(stderr=True))
        self._all = self._bars.add_task("runs", total=total)
        self._steps: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, event: Event) -> None:
        """Move the bars."""
        run, label = event.run, line(event.run.label)
        match event:
            case Queued(_, job, obstacle):
                if run.run_id not in self._steps:
                    self._steps[run.run_id] = self._bars.add_task("", total=run.steps)
                why = f": {line(obstacle)}" if obstacle else ""
                self._bars.update(self._steps[run.run_id], description=f"{label} (job {job} waits{why})")
            case Started() if run.run_id in self._steps:
                self._bars.update(self._steps[run.run_id], description=label)
            case Started():
                self._steps[run.run_id] = self._bars.add_task(label, total=run.steps)
            case Stepped(_, step):
                self._bars.update(self._steps[run.run_id], completed=step)
            case Noted(_, text):
                self._print(f"note   {label}: {text}")
            case Finished() | Failed():
                if run.run_id in self._steps:
                    self._bars.remove_task(self._steps.pop(run.run_id))
                self._bars.advance(self._all)
                if isinstance(event, Failed):
                    self._print(f"failed {label}: {event.reason}")

    def _print(self, text: str) -> None:
        self._bars.print(line(text), markup=False)
