import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.synthetic.latents import IMAGE_CONCEPTS

SMALL = {"train": 4000, "validation": 20, "test": 600}


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Split]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSUITE_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = create_dataset("latents-images", **SMALL)
        return {name: dataset.split(name) for name in ("train", "test")}


def test_there_are_images_alone_in_balanced_classes(splits: dict[str, Split]) -> None:
    train = splits["train"]
    assert train.is_vectors
    assert len(train.captions) == 0
    counts = np.bincount(train.labels["concept"], minlength=IMAGE_CONCEPTS)
    assert 0.4 * 40 < counts.min() <= counts.max() < 1.8 * 40
    assert set(train.labels["group"].tolist()) == set(range(10))


@pytest.mark.parametrize(("classes", "count"), [("concept", IMAGE_CONCEPTS), ("group", 10)])
def test_an_imbalance_gives_the_training_split_alone_a_long_tail(
    classes: str, count: int, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path_factory.mktemp("cache")))
    options = {**SMALL, "train": 20_000, "renderings": 1, "imbalance": 20.0, "long_tail": classes}
    dataset = create_dataset("latents-images", **options)
    train, test = dataset.split("train"), dataset.split("test")
    sizes = np.bincount(train.labels[classes], minlength=count)
    assert dataset.manifest().splits["train"] == len(train) < 10_000
    assert sizes[0] / sizes[-1] == pytest.approx(20, rel=0.2)
    assert (np.diff(sizes) <= 0.15 * sizes[:-1]).all()
    assert np.array_equal(train.labels["tail"], train.labels[classes] >= count // 2)
    assert 0.35 < test.labels["tail"].mean() < 0.65
    assert train.labels["tail"].mean() < 0.25
