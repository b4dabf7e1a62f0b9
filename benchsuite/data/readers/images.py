"""Images and clips of any size from files or a library's data set, decoded when they are asked for."""

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import UsageError
from benchsuite.files import open_regular
from benchsuite.workers import processors


class BadPicture(UsageError):  # noqa: N818
    """A picture that cannot be read or decoded to its end, by its file or its place in one."""


Fit = Literal["crop", "squash", "draft"]
"""How an image becomes a square: its middle cut out at full height or width, or the whole image squashed. "draft" is
"crop" of a JPEG that its decoder reduced to 1/2, 1/4 or 1/8 first, as long as no side falls below the wanted one:
faster for large pictures, and other pixels."""
MOST_PIXELS = 89_478_485
"""Of a picture that is decoded or resized: Pillow's own limit before it warns. A file of few bytes may declare more."""
MOST_THREADS = 16
S = TypeVar("S")
T = TypeVar("T")


class LazyArray(ABC):
    """Behaves like a uint8 array; an integer, slice, mask or array of integers decodes just those rows.

    Rows are decoded in a few threads, because decoding and resizing release the GIL. No row is kept.
    """

    def __init__(self, count: int, row: tuple[int, ...]) -> None:
        self.shape = (count, *row)
        self.dtype: np.dtype[Any] = np.dtype(np.uint8)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        positions = self._positions(index)
        if positions.ndim == 0:
            return self._row(int(positions))
        rows = np.empty((len(positions), *self.shape[1:]), np.uint8)

        def make(k: int) -> None:
            rows[k] = self._row(int(positions[k]))

        in_threads(make, range(len(positions)))
        return rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype)

    def as_array(self) -> NDArray[np.uint8]:
        """Itself, under the type that splits declare; it can do all that they need."""
        return cast("NDArray[np.uint8]", self)

    @abstractmethod
    def _row(self, i: int) -> NDArray[np.uint8]:
        """Row i."""

    def _positions(self, index: Any) -> NDArray[np.int64]:
        if isinstance(index, slice):
            return np.arange(*index.indices(len(self)))
        positions = np.asarray(index)
        if positions.dtype == bool and positions.shape == (len(self),):
            return np.flatnonzero(positions)
        if positions.size and (positions.dtype.kind not in "iu" or positions.ndim > 1):
            raise IndexError(f"an index of {positions.dtype} {list(positions.shape)}; rows are chosen by whole numbers")
        if ((positions < -len(self)) | (positions >= len(self))).any():
            raise IndexError(f"rows up to {positions.max()} of {len(self)}")
        return positions % max(1, len(self))


class LazyImages(LazyArray):
    """uint8 [n, size, size, 3]. `open_` gives image i as a Pillow image, and `where` names it in errors."""

    def __init__(
        self, count: int, size: int, open_: Callable[[int], Any], where: Callable[[int], str], fit: Fit = "crop"
    ) -> None:
        super().__init__(count, (size, size, 3))
        self._open, self._where, self._fit = open_, where, fit

    def _row(self, i: int) -> NDArray[np.uint8]:
        return decoded(lambda: self._open(i), self._where(i), self.shape[1], self._fit)


class LazyClips(LazyArray):
    """uint8 [n, frames, size, size, 3], of images that are the frames of one clip after another."""

    def __init__(self, stills: LazyImages, frames: int) -> None:
        super().__init__(len(stills) // frames, (frames, *stills.shape[1:]))
        self.stills = stills

    def _row(self, i: int) -> NDArray[np.uint8]:
        frames = self.shape[1]
        return np.stack([self.stills[k] for k in range(i * frames, (i + 1) * frames)])


def stills(images: Any) -> NDArray[np.uint8]:
    """Images as they are; of clips [n, T, ...] the frames, [n * T, ...], as lazy as the clips are."""
    if isinstance(images, LazyClips):
        return images.stills.as_array()
    return cast("NDArray[np.uint8]", images if len(images.shape) == 4 else images.reshape(-1, *images.shape[-3:]))


def open_file(file: Path) -> Any:
    """The image in a file, not decoded yet."""
    with open_regular(file) as stream:
        return open_image(stream.read())


def open_image(content: bytes) -> Any:
    """The image that these bytes are, not decoded yet."""
    from PIL import Image

    return Image.open(io.BytesIO(content))


def decoded(open_: Callable[[], Any], where: str, size: int, fit: Fit = "crop") -> NDArray[np.uint8]:
    """uint8 [size, size, 3] of what `open_` opens; an image that cannot be decoded to its end is refused by name."""
    return with_image(open_, where, lambda image: square(image, size, fit))


def with_image(open_: Callable[[], Any], where: str, use: Callable[[Any], T]) -> T:
    """What `use` makes of an image; one that cannot be decoded to its end, or is too large, is refused by name."""
    from PIL import Image

    try:
        with open_() as image:
            require_small(image.size, "decoded")
            return use(image)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise BadPicture(f"{where}: not an image that can be decoded ({error}).") from error


def require_small(size: tuple[int, int], what: str) -> None:
    """Refuse more pixels than MOST_PIXELS."""
    width, height = size
    if width * height > MOST_PIXELS:
        raise ValueError(f"{width:,} by {height:,} pixels; at most {MOST_PIXELS:,} are {what}")


def square(image: Any, size: int, fit: Fit = "crop") -> NDArray[np.uint8]:
    """RGB at that size by bicubic resampling. "crop" is CLIP's way: the shorter side fitted, the middle cut out."""
    from PIL import Image

    if fit == "draft":
        image.draft("RGB", (size, size))
    if image.mode in ("I", "F"):
        raise ValueError(f"its pixels are of mode {image.mode}, of which no brightest is known; store 8 or 16 bits")
    if image.mode.startswith("I;16"):  # Pillow would cut them off at 255
        image = Image.fromarray((np.asarray(image) // 257).astype(np.uint8))
    image = image.convert("RGB")
    width, height = image.size
    if (width, height) != (size, size):
        scale = size / min(width, height)
        wide, high = (size, size)
        if fit != "squash":
            wide, high = max(size, round(width * scale)), max(size, round(height * scale))
            require_small((wide, high), "made of one whose shorter side is fitted")
        left, top = (wide - size) // 2, (high - size) // 2
        image = image.resize((wide, high), Image.Resampling.BICUBIC).crop((left, top, left + size, top + size))
    return np.asarray(image, np.uint8)


def in_threads(make: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """What `make` gives for each item, in a few threads, if there are processors for them."""
    run = map if len(items) < 2 or _threads() < 2 else _pool().map
    return list(run(make, items))


def decode_alone() -> None:
    """Decode in this process's own thread from now on: other processes decode beside it."""
    global _most
    _most = 1


_most = MOST_THREADS


def _threads() -> int:
    return min(_most, processors())


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="decode")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a copy of this process has none of its threads
