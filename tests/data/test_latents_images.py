import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.synthetic.latents import IMAGE_CONCEPTS, LatentsImages
from benchsuite.planning.recipe import read_recipe

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


@pytest.mark.parametrize("variant", ["CIFAR10-LT", "CIFAR100-LT", "ImageNet100-LT"])
@pytest.mark.parametrize("seed", [*range(10), *range(100, 110)])
def test_a_long_tail_leaves_images_of_each_concept_in_every_replicate(variant: str, seed: int) -> None:
    """Otherwise nothing can be learned of a concept that is asked for, and the whole table is refused."""
    options = read_recipe("latents-images").variants[variant].change["data"]["options"]
    dataset = create_dataset("latents-images", **{**options, "seed": seed})
    assert isinstance(dataset, LatentsImages)
    assert np.bincount(dataset.scenes("train")[:, 0], minlength=IMAGE_CONCEPTS).min() > 0
