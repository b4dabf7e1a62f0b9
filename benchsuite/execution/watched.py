"""The other side of a ticket: what happens to it, as events, from the files of whoever took it."""

from collections.abc import Iterator

from benchsuite.execution.events import Event, Failed, Finished, Noted, Started, Stepped
from benchsuite.execution.ticket import Status, TicketFolder
from benchsuite.planning.plan import Run


class Watched:
    """A ticket, and what was told of it."""

    def __init__(self, run: Run, folder: TicketFolder) -> None:
        self.run, self.folder = run, folder
        self.end: Finished | Failed | None = None
        self._told = Status(step=0)
        self.started = False

    def look(self) -> Iterator[Event]:
        """What is new; the last event is the end."""
        end = self.folder.outcome(self.run)  # before the status, which is not written after it
        if status := self.folder.status():
            if not self.started:
                self.started = True
                yield Started(self.run)
            for text in status.notes[len(self._told.notes) :]:
                yield Noted(self.run, text)
            if status.step != self._told.step:
                yield Stepped(self.run, status.step)
            self._told = status
        if end:
            self.end = end
            yield end
