"""What the task geometry reads, said before the training."""

import numpy as np
import pytest

from benchsuite.data.base import PairDataset, Split
from benchsuite.evaluation.geometry_task import Geometry


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
