"""MSCOCO and Flickr30k in Karpathy's splits."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.real_files import write_karpathy, write_pictures

from benchsuite.data import create_dataset
from benchsuite.errors import UsageError

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "flickr30k"


def greys(images: np.ndarray) -> list[int]:
    return [round(float(row.mean()) / 10) for row in images]


def test_coco_has_karpathys_splits_with_five_captions_a_image(tmp_path: Path) -> None:
    data = create_dataset("coco", folder=str(write_karpathy(tmp_path)), size=4)
    assert data.manifest().splits == {"train": 6, "validation": 3, "test": 3}
    test = data.split("test")
    assert greys(test.images[:]) == [9, 10, 11]
    assert test.captions[1] == [f"test 1, caption {k}" for k in range(5)]
    assert {len(texts) for texts in test.captions} == {5}


def test_images_may_lie_in_a_folder_images(tmp_path: Path) -> None:
    write_karpathy(tmp_path)
    before = create_dataset("coco", folder=str(tmp_path)).manifest()
    (tmp_path / "images").mkdir()
    for name in ("train2014", "val2014"):
        (tmp_path / name).rename(tmp_path / "images" / name)
    assert create_dataset("coco", folder=str(tmp_path)).manifest() == before
    assert greys(create_dataset("coco", folder=str(tmp_path), size=4).split("test").images[:1]) == [9]


def test_images_of_splits_that_are_not_asked_for_need_not_be_there(tmp_path: Path) -> None:
    write_karpathy(tmp_path)
    for file in (tmp_path / "train2014").iterdir():
        file.unlink()
    with pytest.raises(UsageError, match=r"train_0\.jpg: no such image"):
        create_dataset("coco", folder=str(tmp_path)).manifest()
    assert create_dataset("coco", folder=str(tmp_path), only="test").manifest().splits == {"test": 3}


def test_flickr30k_has_its_images_in_one_folder(tmp_path: Path) -> None:
    data = create_dataset("flickr30k", folder=str(write_karpathy(tmp_path, "flickr30k")), size=4)
    assert data.manifest().splits == {"train": 3, "validation": 3, "test": 3}
    assert greys(data.split("validation").images[:]) == [3, 4, 5]


def test_flickr30k_may_be_a_file_a_split(tmp_path: Path) -> None:
    write_pictures(tmp_path / "images", ["a.jpg", "b.jpg"])
    said = {name: ["one", f"flickr30k-images/{name}", "two"] for name in ("a.jpg", "b.jpg")}
    (tmp_path / "test.json").write_text(json.dumps(said))
    data = create_dataset("flickr30k", folder=str(tmp_path))
    assert data.manifest().splits == {"test": 2}
    assert list(data.split("test").captions) == [["one", "two"]] * 2


def test_restval_is_added_to_train_and_two_files_of_another_split_are_refused(tmp_path: Path) -> None:
    write_pictures(tmp_path / "images", ["a.jpg", "b.jpg", "c.jpg"])
    for name, pictures in (("train", "ab"), ("restval", "c"), ("val", "a")):
        (tmp_path / f"{name}.json").write_text(json.dumps({f"{one}.jpg": [one] for one in pictures}))
    data = create_dataset("flickr30k", folder=str(tmp_path))
    assert list(data.split("train").captions) == [["a"], ["b"], ["c"]]
    (tmp_path / "validation.json").write_text("{}")
    with pytest.raises(UsageError, match=r"both validation\.json and val\.json are validation; keep one"):
        create_dataset("flickr30k", folder=str(tmp_path)).manifest()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "dataset_coco.json: not valid JSON"),
        ("[]", "dataset_coco.json: not Karpathy's format"),
        ({"images": [{"filename": "a.jpg"}]}, "not Karpathy's format"),
        ({"images": [{"filename": "a.jpg", "split": "test", "sentences": []}]}, "a.jpg of split test has no caption"),
        (
            {"images": [{"filename": "a.jpg", "split": "test", "sentences": [{"raw": None}]}]},
            "a.jpg of split test has no caption",
        ),
        ({"images": []}, "coco: .* must hold dataset_coco.json"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, content: Any, told: str) -> None:
    (tmp_path / "dataset_coco.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UsageError, match=told):
        create_dataset("coco", folder=str(tmp_path)).manifest()


def test_a_folder_without_the_file_is_refused_and_so_is_no_mapping(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"flickr30k: .* must hold dataset_flickr30k\.json"):
        create_dataset("flickr30k", folder=str(tmp_path)).manifest()
    (tmp_path / "test.json").write_text("[]")
    with pytest.raises(UsageError, match=r"test\.json: not a mapping"):
        create_dataset("flickr30k", folder=str(tmp_path)).manifest()


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no captions of Flickr30k at {REAL}")
def test_the_real_captions_of_flickr30k(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("test.json", "validation.json"):
        (tmp_path / name).symlink_to(REAL / name)
        write_pictures(tmp_path / "images", [])
        for picture in json.loads((REAL / name).read_text()):
            (tmp_path / "images" / picture).touch()
    data = create_dataset("flickr30k", folder=str(tmp_path))
    assert data.manifest().splits == {"validation": 1_000, "test": 1_000}
    assert {len(texts) for texts in data.split("test").captions} == {5}
    assert not any("flickr30k-images" in text for texts in data.split("test").captions for text in texts)
