"""Texts of a split in a mapped Arrow file, a list for each row.

Only what is asked for is read, so a split of ten million captions opens at once and takes no memory of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Any, overload

BLOCK = 4096
"""Lists that are read at a time where all of them are gone through."""


class TextLists(Sequence[list[str]]):
    """An Arrow column of lists of `as_bytes` texts."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, index: int) -> list[str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[str]]: ...
    def __getitem__(self, index: int | slice) -> list[str] | list[list[str]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"list {index} of {len(self)}")
        return [as_text(content) for content in self._column[int(index) % len(self)].as_py()]

    def __iter__(self) -> Iterator[list[str]]:
        for chunk in self._column.chunks:
            for start in range(0, len(chunk), BLOCK):
                yield from ([as_text(content) for content in own] for own in chunk.slice(start, BLOCK).to_pylist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other))  # noqa: B905

    __hash__ = None  # type: ignore[assignment]


def as_bytes(text: str) -> bytes:
    """A text as it is stored. Arrow's own texts cannot hold the halves of surrogate pairs that JSON may hold."""
    return text.encode("utf-8", "surrogatepass")


def as_text(content: bytes) -> str:
    """What `as_bytes` made."""
    return content.decode("utf-8", "surrogatepass")
