"""Files that would take all memory, all time or a stack: refused, by name and line."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from support.feature_folders import pairs_of, write_clip_retrieval
from support.real_files import flat, image_files, png, write_pairs

from benchsuite.data import create_dataset
from benchsuite.data.readers import images
from benchsuite.data.readers.files import json_of
from benchsuite.data.readers.tables import read_csv
from benchsuite.errors import UsageError

DEEP = "[" * 100_000


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """Reading a pipe that nobody writes to would wait for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError("still waiting")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_long_narrow_picture_is_not_made_larger_than_pictures_may_be(tmp_path: Path) -> None:
    file = tmp_path / "narrow.png"
    Image.new("L", (1, 20_000)).save(file)
    with pytest.raises(UsageError, match=r"narrow\.png: .*224 by 4,480,000 pixels"):
        image_files([file], 224)[0]
    assert image_files([file], 224, "squash")[0].shape == (224, 224, 3)


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large.png").write_bytes(png(flat(0, 20, 20)))
    monkeypatch.setattr(images, "MOST_PIXELS", 399)
    monkeypatch.setattr(Image.Image, "convert", lambda *_: pytest.fail("decoded"))
    with pytest.raises(UsageError, match=r"large\.png: .*20 by 20 pixels; at most 399"):
        image_files([tmp_path / "large.png"], 4)[0]


def pairs(folder: Path) -> None:
    create_dataset("cc3m", folder=str(folder)).manifest()


def test_a_cell_without_an_end_is_named_by_its_line(tmp_path: Path) -> None:
    rows = ["image,caption", "a.jpg,first", 'b.jpg,"second ' + "x" * 200_000, "c.jpg,third"]
    (write_pairs(tmp_path, 1) / "train.tsv").unlink()
    (tmp_path / "a.jpg").write_bytes(png(flat(0), "JPEG"))
    (tmp_path / "train.csv").write_text("\n".join(rows))
    for read in (lambda: pairs(tmp_path), lambda: read_csv(tmp_path / "train.csv", ("image",))):
        with pytest.raises(UsageError, match=r"train\.csv, line 3: .*field larger than field limit"):
            read()


def test_json_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(f"\n{DEEP}")
    with pytest.raises(UsageError, match=r"train\.jsonl, line 2: .*nested too deeply"):
        pairs(tmp_path)
    with pytest.raises(UsageError, match=r"^here: .*nested too deeply"):
        json_of(DEEP, "here")


def test_a_pipe_is_no_vectors(tmp_path: Path) -> None:
    write_clip_retrieval(tmp_path, pairs_of(30))
    file = next((tmp_path / "img_emb").iterdir())
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UsageError, match=rf"{file.name}: .*no regular file"):
        create_dataset("features", folder=str(tmp_path)).manifest()


def test_a_pipe_is_no_picture(tmp_path: Path) -> None:
    write_pairs(tmp_path, 2)
    file = tmp_path / "train_pictures" / "001.jpg"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UsageError, match=r"001\.jpg: no regular file"):
        pairs(tmp_path)
    with pytest.raises(UsageError, match=r"001\.jpg: .*no regular file"):
        image_files([file], 4)[0]
