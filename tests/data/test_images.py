"""Pictures that are decoded when asked for."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.real_files import flat, image_files, png, write_pictures

from benchsuite.data.readers import images
from benchsuite.data.readers.images import LazyArray, LazyClips, LazyImages, square
from benchsuite.errors import UsageError

NAMES = [f"{i}.jpg" for i in range(10)]
NOISE = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [write_pictures(tmp_path, NAMES) / name for name in NAMES]


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(images, "_threads", lambda: request.param)
    images._pool.cache_clear()
    return int(request.param)


def lazy(files: list[Path], size: int) -> LazyArray:
    return image_files(files, size)


def greys(rows: Any) -> list[int]:
    return [round(float(row.mean()) / 10) for row in rows]


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (slice(2, 5), [2, 3, 4]),
        (slice(None, None, -4), [9, 5, 1]),
        (slice(8, 99), [8, 9]),
        (np.array([7, 0, 7, -1]), [7, 0, 7, 9]),
        ([3, 1], [3, 1]),
        (np.arange(10) % 5 == 0, [0, 5]),
        (np.array([], np.int64), []),
    ],
)
def test_an_index_gives_what_an_array_would(files: list[Path], threads: int, index: Any, rows: list[int]) -> None:
    found = lazy(files, 4)[index]
    assert found.shape == (len(rows), 4, 4, 3)
    assert found.dtype == np.uint8
    assert greys(found) == rows


def test_one_integer_gives_one_image(files: list[Path]) -> None:
    some = lazy(files, 4)
    assert some.shape == (10, 4, 4, 3)
    assert some[3].shape == (4, 4, 3)
    assert greys([some[np.int64(-2)]]) == [8]


@pytest.mark.parametrize("index", [10, -11, [0, 10], [0.5], np.zeros((2, 2), int), np.zeros(3, bool)])
def test_what_is_outside_or_no_place_is_refused(files: list[Path], index: Any) -> None:
    with pytest.raises(IndexError):
        lazy(files, 4)[index]


def test_only_what_is_asked_for_is_opened(files: list[Path], threads: int) -> None:
    opened: list[int] = []
    lock = threading.Lock()

    def open_(i: int) -> Image.Image:
        with lock:
            opened.append(i)
        return Image.open(files[i])

    some = LazyImages(10, 4, open_, str)
    assert opened == []
    some[2:4]
    some[[7]]
    assert sorted(opened) == [2, 3, 7]


def test_an_image_that_is_cut_short_is_named(files: list[Path], threads: int) -> None:
    noisy = png(NOISE, "JPEG")
    files[4].write_bytes(noisy[: len(noisy) // 2])
    some = lazy(files, 4)
    assert greys(some[:4]) == [0, 1, 2, 3]
    with pytest.raises(UsageError, match=r"4\.jpg: not an image that can be decoded \(.*truncated"):
        some[:]


@pytest.mark.parametrize("content", [b"", b"GIF87", b"\x89PNG\r\n\x1a\n" + bytes(40), png(NOISE)[:5000]])
def test_what_is_no_image_is_named(files: list[Path], content: bytes) -> None:
    files[1].write_bytes(content)
    with pytest.raises(UsageError, match=r"1\.jpg: not an image that can be decoded"):
        lazy(files, 4)[1]


def test_an_image_that_is_gone_is_named(files: list[Path]) -> None:
    files[1].unlink()
    with pytest.raises(UsageError, match=r"1\.jpg: not an image"):
        lazy(files, 4)[:3]


def test_crop_keeps_the_middle_and_squash_keeps_all() -> None:
    wide = np.zeros((8, 24, 3), np.uint8)
    wide[:, :8, 0], wide[:, 8:16, 1], wide[:, 16:, 2] = 255, 255, 255
    middle, whole = (square(Image.fromarray(wide), 12, fit) for fit in ("crop", "squash"))
    assert middle.shape == whole.shape == (12, 12, 3)
    assert (middle[:, 2:-2].argmax(2) == 1).all()
    assert whole[0].argmax(1).tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_a_square_of_the_right_size_is_left_alone() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    assert all(np.array_equal(square(Image.fromarray(picture), 12, fit), picture) for fit in ("crop", "squash"))


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1"])
def test_any_kind_of_image_becomes_three_colours(tmp_path: Path, mode: str) -> None:
    file = tmp_path / ("a.tiff" if mode == "CMYK" else "a.png")
    Image.fromarray(flat(255)).convert(mode).save(file)
    assert lazy([file], 4)[:].min() >= 250


def test_clips_have_their_frames_in_order(files: list[Path], threads: int) -> None:
    clips = LazyClips(image_files(files[:6], 4), 2)
    assert clips.shape == (3, 2, 4, 4, 3)
    found = clips[np.array([2, 0])]
    assert found.shape == (2, 2, 4, 4, 3)
    assert [greys(clip) for clip in found] == [[4, 5], [0, 1]]


def test_the_whole_becomes_an_array(files: list[Path]) -> None:
    whole = np.asarray(lazy(files, 4))
    assert whole.shape == (10, 4, 4, 3)
    assert np.asarray(lazy(files, 4), np.float32).dtype == np.float32
