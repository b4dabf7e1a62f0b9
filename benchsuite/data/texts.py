"""Texts in files that are mapped, not read: one for each row, or a list of them.

Only what is asked for is read, so a split of ten million captions opens at once and takes no memory of its own.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
"""Texts that are read at a time where all of them are gone through."""
Ends = NDArray[np.int64]


class TextsWriter:
    """Writes a column to a folder: the texts' bytes one after another, and where each of them, and each list, ends."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._place, self._stream = folder / name, (folder / f"{name}.utf8").open("wb")
        self._ends, self._lists = array("q", [0]), array("q", [0])

    def __enter__(self) -> "TextsWriter":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._stream.close()
        if kind is None:
            np.save(self._place.with_suffix(".ends.npy"), np.frombuffer(self._ends, np.int64))
            if len(self._lists) > 1:
                np.save(self._place.with_suffix(".lists.npy"), np.frombuffer(self._lists, np.int64))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, text: str) -> None:
        """One more text."""
        content = text.encode("utf-8", "surrogatepass")
        self._stream.write(content)
        self._ends.append(self._ends[-1] + len(content))

    def add_list(self, texts: Iterable[str]) -> None:
        """One more row, where rows have lists."""
        for text in texts:
            self.add(text)
        self._lists.append(len(self))

    def add_column(self, column: Any) -> None:
        """The texts of an Arrow column, which has no missing ones."""
        for chunk in (chunk.cast("large_string") for chunk in column.chunks if len(chunk)):
            _, offsets, content = chunk.buffers()
            ends = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
            if content is not None:
                self._stream.write(memoryview(content)[ends[0] : ends[-1]])
            self._ends.frombytes((ends[1:] - ends[0] + self._ends[-1]).tobytes())


class Texts(Sequence[str]):
    """A column of texts."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ends: Ends = np.load(folder / f"{name}.ends.npy", mmap_mode="r").view(np.ndarray)
        file = folder / f"{name}.utf8"
        self._bytes = (np.memmap(file, np.uint8, "r") if file.stat().st_size else np.empty(0, np.uint8)).view(
            np.ndarray
        )

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self.between(start, stop) if step == 1 else [self[i] for i in range(start, stop, step)]
        i = int(index) + len(self) if index < 0 else int(index)
        if not 0 <= i < len(self):
            raise IndexError(f"text {index} of {len(self)}")
        return _decoded(self._bytes[self._ends[i] : self._ends[i + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self.between(start, min(start + BLOCK, len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    __hash__ = None  # type: ignore[assignment]

    def between(self, start: int, stop: int) -> list[str]:
        """Those from `start` on, before `stop`."""
        if stop <= start:
            return []
        ends = (self._ends[start : stop + 1] - self._ends[start]).tolist()
        content = self._bytes[self._ends[start] : self._ends[stop]].tobytes()
        return [_decoded(content[a:b]) for a, b in pairwise(ends)]


class TextLists(Sequence[list[str]]):
    """A list of texts for each row; of one text where they were written one by one."""

    def __init__(self, folder: Path, name: str) -> None:
        file = folder / f"{name}.lists.npy"
        self._ends: Ends | None = None
        if file.exists():
            self._ends = np.load(file, mmap_mode="r").view(np.ndarray)
        self._texts = Texts(folder, name)

    def __len__(self) -> int:
        return len(self._texts) if self._ends is None else len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> list[str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[str]]: ...
    def __getitem__(self, index: int | slice) -> list[str] | list[list[str]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if self._ends is None:
            return [self._texts[index]]
        i = int(index) + len(self) if index < 0 else int(index)
        if not 0 <= i < len(self):
            raise IndexError(f"list {index} of {len(self)}")
        return self._texts.between(int(self._ends[i]), int(self._ends[i + 1]))

    def __iter__(self) -> Iterator[list[str]]:
        if self._ends is None:
            yield from ([text] for text in self._texts)
            return
        for start in range(0, len(self), BLOCK):
            ends = self._ends[start : start + BLOCK + 1].tolist()
            texts = self._texts.between(ends[0], ends[-1])
            yield from (texts[a - ends[0] : b - ends[0]] for a, b in pairwise(ends))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    __hash__ = None  # type: ignore[assignment]


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _same(a: object, b: object) -> bool:
    return a == b
