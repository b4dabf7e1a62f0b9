"""Clips from folders of frames."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.real_files import write_epic, write_frames, write_something, write_youcook2

from benchsuite.data import create_dataset
from benchsuite.data.real.videos import Step, read_clips, spread
from benchsuite.errors import UsageError
from benchsuite.setup import Data

REAL = Path(__file__).parents[2].parent / "shared" / "data"
SMALL: dict[str, Any] = {"frames": 4, "size": 4}


def greys(clip: np.ndarray) -> list[int]:
    return [round(float(frame.mean())) for frame in clip]


@given(st.integers(0, 50), st.integers(0, 200), st.integers(1, 32))
def test_frames_are_spread_evenly_and_stay_in_the_clip(first: int, more: int, count: int) -> None:
    chosen = spread(first, first + more, count)
    steps = np.diff(chosen)
    assert len(chosen) == count
    assert first <= chosen[0] <= chosen[-1] <= first + more
    assert not len(steps) or steps.max() - steps.min() <= 1
    assert abs((chosen[0] - first) - (first + more - chosen[-1])) <= 1


def test_few_frames_stand_for_their_stretches() -> None:
    assert spread(1, 8, 4) == [2, 4, 6, 8]
    assert spread(1, 8, 8) == list(range(1, 9))
    assert spread(5, 6, 4) == [5, 5, 6, 6]


@pytest.mark.parametrize("place", ["frames/{video}", "{participant}/rgb_frames/{video}"])
def test_epic_clips_are_cut_by_their_frames(tmp_path: Path, place: str) -> None:
    data = create_dataset("epic-kitchens", folder=str(write_epic(tmp_path, place)), **SMALL)
    assert data.manifest().splits == {"train": 6, "test": 6}
    split = data.split("test")
    assert split.images.shape == (6, 4, 4, 4, 3)
    assert [greys(clip) for clip in split.images[[0, 1]]] == [[2, 4, 6, 8], [112, 114, 116, 118]]
    assert split.captions[4] == ["test action 1"]
    assert split.labels["verb"].tolist() == [0, 1, 2, 0, 1, 2]
    assert split.labels["nouns"].tolist()[:2] == [[0, -1], [1, 7]]
    assert split.labels["verb_noun"].tolist()[:2] == [0, 301]
    assert set(split.labels) == {"verb", "noun", "nouns", "verb_noun"}


def test_epic_annotations_may_lie_where_they_were_cloned(tmp_path: Path) -> None:
    write_epic(tmp_path)
    before = create_dataset("epic-kitchens", folder=str(tmp_path)).manifest()
    place = tmp_path / "epic-kitchens-100-annotations" / "retrieval_annotations"
    place.mkdir(parents=True)
    for file in tmp_path.glob("*.csv"):
        file.rename(place / file.name)
    assert create_dataset("epic-kitchens", folder=str(tmp_path)).manifest() == before


def test_the_digest_is_of_the_frames_that_are_looked_at(tmp_path: Path) -> None:
    def digest(folder: Path, **options: Any) -> str:
        return create_dataset("epic-kitchens", folder=str(folder), **options).manifest().digest

    one, two = write_epic(tmp_path / "a"), write_epic(tmp_path / "b")
    assert digest(one) == digest(two) != digest(one, frames=3)
    write_frames(two / "frames" / "P01_10", 60, "frame_{:010d}.jpg", first=90)
    csv = two / "EPIC_100_retrieval_test.csv"
    csv.write_text(csv.read_text().replace("action", "deed"))
    assert digest(one) != digest(two)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (",1,8,", ",8,1,", "row 2: a clip cannot run from frame 8 to 1"),
        (",1,8,", ",x,8,", 'row 2: start_frame "x" is not a whole number'),
        ('"[0]"', '"0"', 'row 2: all_noun_classes "0" is not a list'),
        ("narration,verb,", "said,verb,", 'there is no column "narration"'),
        ("P01_10,0", "P09_10,0", "P09_10: no such folder of frames"),
        (",1,8,", ",1,900,", r"frame_0000000\d+\.jpg: no such file, but it is listed"),
    ],
)
def test_wrong_rows_and_missing_frames_are_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = write_epic(tmp_path) / "EPIC_100_retrieval_train.csv"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=told):
        create_dataset("epic-kitchens", folder=str(tmp_path)).manifest()


def test_youcook2_steps_are_cut_by_seconds(tmp_path: Path) -> None:
    data = create_dataset("youcook2", folder=str(write_youcook2(tmp_path)), **SMALL)
    assert data.manifest().splits == {"train": 2, "validation": 2}
    train = data.split("train")
    assert train.captions[1] == ["training step 1"]
    assert [greys(clip) for clip in train.images[:]] == [[2, 4, 6, 8], [12, 14, 16, 18]]


def test_youcook2_counts_frames_at_the_rate_they_were_taken(tmp_path: Path) -> None:
    data = create_dataset("youcook2", folder=str(write_youcook2(tmp_path)), fps=0.5, **SMALL)
    assert greys(data.split("train").images[1]) == [6, 7, 8, 9]


def test_youcook2_is_validated_on_the_clips_of_the_retrieval_file_if_it_is_there(tmp_path: Path) -> None:
    data = create_dataset("youcook2", folder=str(write_youcook2(tmp_path, retrieval=True)), **SMALL)
    assert data.manifest().splits == {"train": 2, "validation": 1}
    assert data.split("validation").captions[0] == ["serve it"]
    assert greys(data.split("validation").images[0]) == [122, 124, 126, 128]
    (tmp_path / "youcookii_annotations_trainval.json").unlink()
    assert create_dataset("youcook2", folder=str(tmp_path), **SMALL).manifest().splits == {"validation": 1}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not valid JSON"),
        ({"database": {"v": {"subset": "training"}}}, "not YouCook2's annotations, .*'annotations'"),
        (
            {"database": {"v": {"subset": "training", "annotations": [{"segment": [5, 5], "sentence": "a"}]}}},
            "v: a clip cannot run from 5 to 5 seconds",
        ),
    ],
)
def test_wrong_annotations_of_youcook2_are_refused(tmp_path: Path, content: Any, told: str) -> None:
    file = write_youcook2(tmp_path) / "youcookii_annotations_trainval.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UsageError, match=told):
        create_dataset("youcook2", folder=str(tmp_path)).manifest()


def test_something_has_all_frames_of_a_video_and_the_class_of_its_template(tmp_path: Path) -> None:
    data = create_dataset("ssv2", folder=str(write_something(tmp_path)), **SMALL)
    assert data.manifest().splits == {"train": 5, "validation": 5}
    assert data.class_names["class"] == ("Holding something", "Moving something up", "Dropping something")
    split = data.split("train")
    assert split.captions[1] == ["moving cup 1 up"]
    assert split.labels["class"].tolist() == [0, 1, 2, 0, 1]
    assert greys(split.images[1]) == [11, 12, 13, 14]
    assert greys(split.images[0]) == [1, 2, 2, 3]


def test_lists_make_other_splits_of_both_official_ones(tmp_path: Path) -> None:
    data = create_dataset("ssv2", folder=str(write_something(tmp_path, "ssv2-lt")), lists="ssv2-lt", **SMALL)
    assert data.manifest().splits == {"train": 3, "validation": 1, "test": 1}
    assert data.split("train").captions[2] == ["moving cup 101 up"]
    assert data.split("test").labels["class"].tolist() == [1]


def test_labels_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    write_something(tmp_path)
    before = create_dataset("ssv2", folder=str(tmp_path)).manifest()
    (tmp_path / "labels").mkdir()
    for what in ("train", "validation", "labels"):
        (tmp_path / f"something-something-v2-{what}.json").rename(tmp_path / "labels" / f"{what}.json")
    assert create_dataset("ssv2", folder=str(tmp_path)).manifest() == before


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("something-something-v2-labels.json", "{}", "there must be id, label and template of a known class"),
        ("something-something-v2-train.json", "{", "train.json: not valid JSON"),
        ("something-something-v2-train.json", '[{"label": "a"}]', "there must be id, label and template"),
        ("lt/val.csv", "1 0\n", r"both val\.txt and val\.csv are validation; keep one"),
        ("lt/train.txt", "9 0\n", 'train.txt: video "9" is in neither of the official files'),
    ],
)
def test_wrong_labels_and_lists_are_refused(tmp_path: Path, file: str, text: str, told: str) -> None:
    write_something(tmp_path, "lt")
    (tmp_path / file).write_text(text)
    with pytest.raises(UsageError, match=told):
        create_dataset("ssv2", folder=str(tmp_path), lists="lt").manifest()


def test_a_video_without_frames_is_named(tmp_path: Path) -> None:
    write_something(tmp_path)
    for file in (tmp_path / "frames" / "3").iterdir():
        file.unlink()
    with pytest.raises(UsageError, match="frames/3: there is no frame of video 3 in it"):
        create_dataset("ssv2", folder=str(tmp_path)).manifest()
    (tmp_path / "frames" / "3").rmdir()
    with pytest.raises(UsageError, match="frames/3: no such folder of frames, but video 3 is listed"):
        create_dataset("ssv2", folder=str(tmp_path)).manifest()


@pytest.mark.skipif(not (REAL / "epic100").is_dir(), reason=f"no EPIC-KITCHENS annotations at {REAL}")
def test_the_real_annotations_of_epic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "EPIC_100_retrieval_test.csv").symlink_to(REAL / "epic100" / "EPIC_100_retrieval_test.csv")
    (tmp_path / "frames" / "P01_11").mkdir(parents=True)
    monkeypatch.setattr("benchsuite.data.readers.listing.size_of", lambda file: 1)
    data = create_dataset("epic-kitchens", folder=str(tmp_path))
    assert data.manifest().splits == {"test": 9_668}
    split = data.split("test")
    assert len({texts[0] for texts in split.captions}) == 3_835
    assert split.labels["verb"].max() < 97
    assert split.labels["nouns"].max() < 300
    assert ((split.labels["nouns"] >= 0).sum(1) >= 1).all()


@pytest.mark.skipif(not (REAL / "youcook2").is_dir(), reason=f"no YouCook2 captions at {REAL}")
def test_the_real_clips_of_youcook2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "validation_youcook.csv").symlink_to(REAL / "youcook2" / "validation_youcook.csv")
    (tmp_path / "frames" / "xHr8X2Wpmno").mkdir(parents=True)
    monkeypatch.setattr("benchsuite.data.readers.listing.size_of", lambda file: 1)
    assert create_dataset("youcook2", folder=str(tmp_path)).manifest().splits == {"validation": 3_350}


def test_the_folder_of_frames_is_no_option_that_is_written(tmp_path: Path) -> None:
    from benchsuite.planning.data_folders import resolve_data

    found = resolve_data(Data(name="ssv2"), {"ssv2": str(write_something(tmp_path))})
    assert str(tmp_path) not in str(found.model_dump())


CLIPS = REAL / "youcook2" / "validation_youcook.csv"
TEXT = "end,start,task,text,video_id\n60,47,226,pick the ends,xHr\n89,67,226,combine,xHr\n"


def test_the_real_file_has_the_clips_and_texts_that_are_reported_on() -> None:
    if not CLIPS.is_file():
        pytest.skip(f"{CLIPS} is not here: the shared data is not part of the repository")
    clips = read_clips(CLIPS)
    assert len(clips) == 3350
    assert len({clip.text for clip in clips}) == 3273
    assert clips[0] == Step("xHr8X2Wpmno", 47, 60, "pick the ends off the verdalago")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEXT.replace("text", "txt"), 'there is no column "text" .*Did you mean "txt"'),
        (TEXT.splitlines()[0], "no clips below the header"),
        (TEXT.replace("combine", ""), "row 3: the video or its caption is empty"),
        (TEXT.replace("47", "late"), "row 2: start and end must be seconds"),
        (TEXT.replace("47", "61"), "row 2: a clip cannot run from 61 to 60 seconds"),
        (TEXT.replace("47", "nan"), "row 2: a clip cannot run from nan"),
        (TEXT + "60\n", "row 4: start and end must be seconds"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_row(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "clips.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"clips\.csv.*{says}"):
        read_clips(tmp_path / "clips.csv")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        read_clips(tmp_path / "nowhere.csv")
