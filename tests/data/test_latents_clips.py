import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split

SMALL = {"train": 2000, "validation": 20, "test": 1000, "described": 200, "described_validation": 100}


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Split]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSUITE_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = create_dataset("latents-clips", **SMALL)
        return {name: dataset.split(name) for name in dataset.splits}


def narrations(split: Split) -> list[bytes]:
    return [rows[0].tobytes() for rows in np.asarray(split.captions)]


def test_splits_have_narrations_or_descriptions_and_training_both(splits: dict[str, Split]) -> None:
    captions = {name: np.asarray(split.captions).shape[1] for name, split in splits.items()}
    assert captions == {"train": 3, "validation": 3, "test": 1, "described": 2, "described_validation": 2}
    assert len(set(narrations(splits["described"]))) == SMALL["described"]
