"""What tasks of frozen features read, before and while they run."""

from typing import Any

import numpy as np
import pytest

from benchsuite.data.base import PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation.geometry import Geometry
from benchsuite.evaluation.labelled import NearestNeighbours


def reads(dataset: PairDataset, side: str, **changes: Any) -> list[object]:
    given = {"classes": "colour", "bank": "test", **changes}
    return [read() for read in NearestNeighbours(side=side, **given).reads(dataset)]


@pytest.mark.parametrize("side", ["image", "text"])
def test_a_sound_data_set_is_refused_nowhere(pictures: PairDataset, side: str) -> None:
    """Of texts the first captions are read: a picture may have one only."""
    texts = [read for read in reads(pictures, side) if read == ["red", "blue", "sea"]]
    assert len(texts) == 2 * (side == "text")


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"classes": "shape"}, "shape"), ({"bank": "train"}, "train"), ({"split": "val"}, "val"), ({}, "side")],
)
def test_what_is_missing_is_refused_before_anything_is_embedded(
    pictures: PairDataset, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        reads(pictures, "image" if changes else "sound", **changes)


@pytest.fixture
def without_captions(pictures: PairDataset, monkeypatch: pytest.MonkeyPatch) -> PairDataset:
    monkeypatch.setattr(type(pictures), "read", lambda _, split: Split(split, np.zeros((3, 2, 2, 3), np.uint8), []))
    return pictures


@pytest.mark.parametrize("sides", ["both", "text"])
def test_texts_are_missed_by_who_reads_them(without_captions: PairDataset, sides: str) -> None:
    (problem,) = Geometry(sides=sides).problems(without_captions)
    assert "has no captions, which geometry of texts needs" in problem


def test_who_reads_pictures_alone_misses_no_texts(without_captions: PairDataset) -> None:
    assert Geometry(sides="image").problems(without_captions) == []
