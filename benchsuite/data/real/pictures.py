"""Pictures of any size from files or a library's dataset, decoded when they are asked for."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import UsageError


class LazyPictures:
    """Looks like uint8 [n, size, size, 3]; an index, slice or list of indices decodes just those.

    `open_` gives picture i as a Pillow image, and `where` names it in errors.
    """

    def __init__(self, count: int, size: int, open_: Callable[[int], Any], where: Callable[[int], str]) -> None:
        self.shape = (count, size, size, 3)
        self.dtype = np.dtype(np.uint8)
        self._open, self._where = open_, where

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        chosen = np.arange(len(self))[index]
        if chosen.ndim == 0:
            return self._one(int(chosen))
        return (
            np.stack([self._one(int(i)) for i in chosen]) if len(chosen) else np.zeros((0, *self.shape[1:]), np.uint8)
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype)

    def as_array(self) -> NDArray[np.uint8]:
        """Itself, under the type that splits declare: all that they do with it is what it can do."""
        return cast("NDArray[np.uint8]", self)

    def _one(self, i: int) -> NDArray[np.uint8]:
        try:
            picture = self._open(i)
            return square(picture, self.shape[1])
        except OSError as error:
            raise UsageError(f"{self._where(i)}: no picture that can be decoded ({error}).") from error


class PictureFiles(LazyPictures):
    """Pictures that are a file each."""

    def __init__(self, files: Sequence[Path], size: int) -> None:
        from PIL import Image

        super().__init__(len(files), size, lambda i: Image.open(files[i]), lambda i: str(files[i]))


def square(picture: Any, size: int) -> NDArray[np.uint8]:
    """RGB, the shorter side brought to `size` by bicubic resampling, the middle cut out: CLIP's way, at any size."""
    from PIL import Image

    picture = picture.convert("RGB")
    width, height = picture.size
    if (width, height) != (size, size):
        scale = size / min(width, height)
        wide, high = max(size, round(width * scale)), max(size, round(height * scale))
        left, top = (wide - size) // 2, (high - size) // 2
        picture = picture.resize((wide, high), Image.Resampling.BICUBIC).crop((left, top, left + size, top + size))
    return np.asarray(picture, np.uint8)
