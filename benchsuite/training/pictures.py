"""The pictures of a batch, and what takes the place of one that cannot be decoded, where that was asked for."""

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.images import BadPicture
from benchsuite.errors import UsageError

MOST_IN_A_ROW = 100
"""Bad pictures one after another, after which something else is wrong than pictures."""
log = logging.getLogger(__name__)


class Pictures:
    """Rows of a split's images, read once for all views.

    A pair whose picture is bad ends the run, or is replaced by the next pair of the split whose picture is not: its
    picture, its first caption, its class, its number. After the last row comes the first.
    """

    def __init__(self, images: NDArray[Any], replace: bool) -> None:
        self._images, self._replace = images, replace
        self._instead: dict[int, int] = {}
        self._why: dict[int, str] = {}

    def read(self, index: NDArray[np.int64]) -> tuple[NDArray[Any], dict[int, int], dict[int, str]]:
        """The images at these rows; the row read in place of a bad one by position; the bad rows with the reasons."""
        asked = np.array([self._instead.get(row, row) for row in index.tolist()]) if self._instead else index
        try:
            images = np.asarray(self._images[asked])
        except BadPicture:
            if not self._replace:
                raise
            for row in index.tolist():
                self._find(row)
            return self.read(index)
        bad = [(k, row) for k, row in enumerate(index.tolist()) if row in self._instead]
        return images, {k: self._instead[row] for k, row in bad}, {row: self._why[row] for _, row in bad}

    def _find(self, row: int) -> None:
        """Note which row stands for this one, if its picture is bad."""
        if row in self._instead:
            return
        why = ""
        for further in range(MOST_IN_A_ROW + 1):
            other = (row + further) % len(self._images)
            try:
                self._images[other]
            except BadPicture as error:
                why = why or str(error)
                continue
            if further:
                self._instead[row], self._why[row] = other, why
                log.warning("skipped a picture, row %d: %s", row, why)
            return
        raise UsageError(
            f"{why} So are the {MOST_IN_A_ROW} pictures after it: that is more than --skip-bad-pictures is for."
        )
