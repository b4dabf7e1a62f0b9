"""What classifiers of frozen features read, before and while they run."""

from typing import Any

import pytest

from benchsuite.data.base import PairDataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.knn import NearestNeighbours


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
