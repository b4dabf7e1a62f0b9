"""Which rows of an objective this process computes.

Training says so while a loss is computed; without it a process computes all rows. Gradients of a loss made of shares
are those of a process's own rows, times the number of processes: their mean over processes is the whole gradient, as
it is of a loss that every process computes as a whole. Both kinds of terms may stand in one loss.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor


class Shares:
    """The rows of one process; here of the only one, which has all."""

    def own(self, rows: int) -> slice:
        """Which of so many rows are this process's; all of them if they cannot be divided equally."""
        return slice(0, rows)

    def together(self, own: Tensor) -> Tensor:
        """The values of all processes' rows in order, differentiable in this process's own.

        Backward multiplies the gradient of the own rows by the number of processes.
        """
        return own


_SHARES: ContextVar[Shares] = ContextVar("shares", default=Shares())  # noqa: B039


@contextmanager
def shared(shares: Shares) -> Iterator[None]:
    """Objectives that are computed here take these shares."""
    token = _SHARES.set(shares)
    try:
        yield
    finally:
        _SHARES.reset(token)


def shares() -> Shares:
    """The shares of this process now."""
    return _SHARES.get()
