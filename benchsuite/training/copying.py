"""Batches on their way to the device: while it computes on one, the next is copied."""

from typing import Any, Generic, Protocol, Self, TypeVar

import torch

from benchsuite.training.loading import Ahead


class Movable(Protocol):
    """What tensors can do, for several of them."""

    def to(self, device: torch.device) -> Self:
        """The same there; in pinned memory without waiting for the copy."""
        ...

    def record_stream(self, stream: torch.Stream) -> None:
        """Not to be freed before this stream is done with it."""
        ...


M = TypeVar("M", bound=Movable)


class Copied(Generic[M]):
    """What `ahead` gives, on a device. On a GPU one batch is copied on a stream of its own before it is asked for."""

    def __init__(self, ahead: Ahead[M], device: torch.device) -> None:
        self.next = ahead.next
        """The number that comes next."""
        self._ahead, self._device = ahead, device
        on_gpu = device.type == "cuda"
        self._stream: Any = torch.cuda.Stream(device) if on_gpu else None  # type: ignore[no-untyped-call]
        self._waiting: M | None = None

    def __next__(self) -> M:
        if self._stream is None:
            self.next += 1
            return next(self._ahead).to(self._device)
        ready = self._waiting if self._waiting is not None else self._copied()
        computing = torch.cuda.current_stream(self._device)
        computing.wait_stream(self._stream)
        ready.record_stream(computing)
        self.next += 1
        self._waiting = self._copied() if self._ahead.more else None
        return ready

    def close(self) -> None:
        """End the workers."""
        self._waiting = None
        self._ahead.close()

    def _copied(self) -> M:
        with torch.cuda.stream(self._stream):
            return next(self._ahead).to(self._device)
