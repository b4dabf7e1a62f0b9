"""Texts of a split in a mapped Arrow file, a list for each row.

Only what is asked for is read, so a split of ten million captions opens at once and takes no memory of its own.
"""

from collections.abc import Iterator
from typing import Any

BLOCK = 4096
"""Lists that are read at a time where all of them are gone through."""


class TextLists:
    """An Arrow column of lists of `as_bytes` texts."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, index: int) -> list[str]:
        return [as_text(content) for content in self._column[int(index)].as_py()]

    def __iter__(self) -> Iterator[list[str]]:
        for chunk in self._column.chunks:
            for start in range(0, len(chunk), BLOCK):
                yield from ([as_text(content) for content in own] for own in chunk.slice(start, BLOCK).to_pylist())


def as_bytes(text: str) -> bytes:
    """A text as it is stored. Arrow's own texts cannot hold the halves of surrogate pairs that JSON may hold."""
    return text.encode("utf-8", "surrogatepass")


def as_text(content: bytes) -> str:
    """What `as_bytes` made."""
    return content.decode("utf-8", "surrogatepass")
