"""How work tells what it does. The command line is one display; nothing here prints."""

from typing import Protocol

from benchsuite.execution.events import Event


class Progress(Protocol):
    """Shows events as they come."""

    def show(self, event: Event) -> None:
        """Show one event."""
        ...


class Display(Protocol):
    """Shows lines, and the progress of runs."""

    def say(self, *lines: str, error: bool = False) -> None:
        """Show lines; `error`: beside what the command was asked for."""
        ...

    def progress(self, total: int) -> Progress:
        """Show the progress of that many runs."""
        ...
