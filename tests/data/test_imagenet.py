"""Pictures in a folder a class."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.real_files import write_classes

from benchsuite.data import create_dataset
from benchsuite.data.readers.listing import FACTS
from benchsuite.data.real.imagenet import IMAGENET100, imagenet_words
from benchsuite.errors import UsageError
from benchsuite.paths import cache

WNIDS = ("n01440764", "n01443537", "n01484850", "n99999999")


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    write_classes(tmp_path, dict.fromkeys(WNIDS, 4))
    return str(write_classes(tmp_path, dict.fromkeys(WNIDS, 2), "val"))


def test_the_folder_is_the_class_and_wordnet_has_its_name(tiny: str) -> None:
    data = create_dataset("imagenet1k", folder=tiny, size=4)
    assert data.manifest().splits == {"train": 16, "validation": 8}
    assert data.class_names["class"] == (
        "tench, Tinca tinca",
        "goldfish, Carassius auratus",
        "great white shark, white shark, man-eater, man-eating shark, Carcharodon carcharias",
        "n99999999",
    )
    split = data.split("validation")
    assert split.labels["class"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [round(float(one.mean()) / 10) for one in split.images[::2]] == [0, 1, 2, 3]
    assert split.captions[2] == ["goldfish, Carassius auratus"]
    assert "itap of a {}." in data.templates["imagenet-7"]


def test_a_change_in_a_folder_is_seen(tiny: str) -> None:
    before = create_dataset("imagenet1k", folder=tiny).manifest().digest
    (Path(tiny) / "train" / "n01443537" / "n01443537_0.JPEG").unlink()
    assert create_dataset("imagenet1k", folder=tiny).manifest().digest != before


def test_an_index_that_another_process_is_taking_away_is_made_anew(tiny: str) -> None:
    before = create_dataset("imagenet1k", folder=tiny).manifest()
    for facts in (cache() / "index").glob(f"*/{FACTS}"):
        facts.unlink()
    assert create_dataset("imagenet1k", folder=tiny).manifest() == before


def test_imagenet100_takes_its_hundred_classes_from_all(tmp_path: Path) -> None:
    write_classes(tmp_path, {**dict.fromkeys(IMAGENET100, 1), "n01440764": 3})
    data = create_dataset("imagenet100", folder=str(tmp_path))
    assert data.manifest().splits == {"train": 100}
    assert len(set(data.class_names["class"])) == 100
    assert set(IMAGENET100) <= set(imagenet_words())


def test_a_list_makes_the_training_split_long_tailed(tiny: str) -> None:
    rows = ["train/n01443537/n01443537_2.JPEG 1", "n01440764/n01440764_0.JPEG 0", "n01440764/n01440764_3.JPEG 0"]
    rows += [f"train/{one}/{one}_0.JPEG 2" for one in WNIDS[2:]]
    (Path(tiny) / "lt.txt").write_text("\n".join(rows) + "\n")
    data = create_dataset("imagenet1k", folder=tiny, train_list="lt.txt", size=4)
    assert data.manifest().splits == {"train": 5, "validation": 8}
    assert data.split("train").labels["class"].tolist() == [1, 0, 0, 2, 3]
    assert data.split("train").images[0].mean() == pytest.approx(10, abs=2)


def test_another_list_of_the_same_folders_is_seen(tiny: str) -> None:
    found = set()
    for place in (0, 1):
        rows = [f"train/{one}/{one}_{place}.JPEG" for one in WNIDS]
        (Path(tiny) / "lt.txt").write_text("\n".join(rows))
        found.add(create_dataset("imagenet1k", folder=tiny, train_list="lt.txt").manifest().digest)
    assert len(found) == 2


def nothing(folder: Path) -> None:
    pass


def without_val_class(folder: Path) -> None:
    (folder / "val" / WNIDS[1]).rename(folder / "val" / "other")


def empty_class(folder: Path) -> None:
    (folder / "train" / WNIDS[2]).rename(folder / "away")
    (folder / "train" / WNIDS[2]).mkdir()


def validation_too(folder: Path) -> None:
    (folder / "validation").mkdir()


def foreign_list(folder: Path) -> None:
    (folder / "lt.txt").write_text("train/n00000001/a.JPEG 0\n")


@pytest.mark.parametrize(
    ("spoil", "options", "told"),
    [
        (nothing, {"train_list": "none.txt"}, r"none\.txt: no such file"),
        (without_val_class, {}, f"val/{WNIDS[1]}: no such folder"),
        (validation_too, {}, "both validation and val are validation; keep one"),
        (empty_class, {}, f"split train: class {WNIDS[2]} has no image"),
        (foreign_list, {"train_list": "lt.txt"}, r"lt\.txt: train/n00000001/a.JPEG is of none of the 4 classes"),
    ],
)
def test_wrong_folders_and_lists_are_refused(
    tiny: str, spoil: Callable[[Path], None], options: dict[str, Any], told: str
) -> None:
    spoil(Path(tiny))
    with pytest.raises(UsageError, match=told):
        create_dataset("imagenet1k", folder=tiny, **options).manifest()


def test_a_folder_without_splits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"imagenet1k: .* must hold train/<class>/\*.JPEG"):
        create_dataset("imagenet1k", folder=str(tmp_path)).manifest()
