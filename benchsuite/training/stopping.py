"""Signals that ask a training to stop after the step it is in."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))
"""What schedulers send before they take a machine away."""


@contextmanager
def handling(handler: Callable[[int, FrameType | None], object], *numbers: int) -> Iterator[None]:
    """Inside, the handler is called for these signals. Elsewhere than in the main thread nothing changes."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_DFL if earlier is None else earlier)


class Asked:
    """Notes these signals, while it listens, instead of ending the process."""

    def __init__(self) -> None:
        self.by = ""
        """Name of the last signal."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """A signal that came too late for the training comes again once it is left."""
        with handling(self._note, *SIGNALS):
            yield
        if self.by:
            signal.raise_signal(signal.Signals[self.by])

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.by = signal.Signals(number).name
