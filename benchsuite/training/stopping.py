"""Signals that ask a training to stop after the step it is in."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))
"""What schedulers send before they take a machine away."""


class Asked:
    """While entered, notes these signals instead of ending the process. Elsewhere than in the main thread: none.

    A signal that came too late for the training comes again once it is left.
    """

    def __init__(self) -> None:
        self.by = ""
        """Name of the last signal."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self.by and kind is None:
            signal.raise_signal(signal.Signals[self.by])

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.by = signal.Signals(number).name
