"""How far the reading of large files is."""

import time

from benchsuite.cli.shared.terminal import say

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
