"""The included dataset `icons-features`: its splits and views. And how its files are made."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.files_of import module_of
from support.npm_files import icon_packages, packed

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.readers.pictures import pictures_in
from benchsuite.data.real.emoji_features import ICONS

LABELS = json.loads((ICONS / "words.json").read_text("utf-8"))["labels"]
SHOWN = np.load(ICONS / "shown.npy")


def concepts(images: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> list[int]:
    """Which concept each vector shows, told by the vectors alone."""
    stored = np.load(ICONS / "images.npy").astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    return [int(SHOWN[at]) for at in (images @ stored.T).argmax(1)]


@pytest.fixture(scope="module")
def world() -> PairDataset:
    return create_dataset("icons-features")


@pytest.mark.slow
def test_no_set_draws_a_test_icon_in_train(world: PairDataset) -> None:
    sizes = dict(world.manifest().splits)
    assert sizes == {"train": sizes["train"], "validation": 600, "test": 800, "single": 400}
    assert sizes["train"] > 10_000
    test = concepts(world.split("test").images[:, 0])
    assert test[:400] == test[400:]
    held = {*test, *concepts(world.split("validation").images[:, 0])}
    assert len(held) == 700
    train = world.split("train")
    own = train.images[:: len(train) // 500, 0]
    alike = held & {*concepts(own)}
    assert len(alike) < 10, "but icons that two concepts share, of which vectors tell the first"


@pytest.mark.slow
def test_views_of_an_icon_are_the_same_concept(world: PairDataset) -> None:
    rows = world.split("train").images[:400]
    first = concepts(rows[:, 0])
    for view in range(1, rows.shape[1]):
        same = [a == b for a, b in zip(first, concepts(rows[:, view]), strict=True)]
        assert np.mean(same) > 0.9, "noise moves a few"


def test_the_caption_is_the_name(world: PairDataset) -> None:
    test, texts = world.split("test"), np.load(ICONS / "texts.npy").astype(np.float32)
    told = np.concatenate([test.captions[k] for k in range(20)])
    nearest = (told @ (texts / np.linalg.norm(texts, axis=1, keepdims=True)).T).argmax(1)
    assert [LABELS[k] for k in nearest] == [LABELS[k] for k in concepts(test.images[:20, 0])]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return module_of(Path(__file__).parents[2] / "tools" / "embed_icons.py")


def test_concepts_of_several_sets_come_first_and_are_held_out(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = np.random.default_rng(0).standard_normal((256, 384))
    texts = lambda _, names: np.stack([codes[[*name.encode()]].sum(0) for name in names])  # noqa: E731
    monkeypatch.setattr(tool, "text_features", texts)
    monkeypatch.setattr(tool, "image_features", lambda _, images: images.reshape(len(images), -1).astype(float))
    pictures = pictures_in("icons", str(packed(tmp_path / "packages", icon_packages())), 32)
    counts: dict[str, int] = {}
    for _, key, _ in pictures.rows:
        counts[key] = counts.get(key, 0) + 1
    several = {key for key, count in counts.items() if count > 1}
    assert several
    tool.write(pictures, None, "", tmp_path / "out", pictures_at_most=sum(counts[key] for key in several))
    made = {file.stem: np.load(file) for file in (tmp_path / "out").glob("*.npy")}
    labels = json.loads((tmp_path / "out" / "words.json").read_text("utf-8"))["labels"]
    assert labels == [pictures.concepts[key].name for key in sorted(several)]
    assert (made["shown"][made["galleries"]] == made["shown"][made["galleries"]][:, :1]).all()
    assert (made["galleries"][:, 0] != made["galleries"][:, 1]).all()
    assert len(made["images"]) == len(made["shown"]) == sum(counts[key] for key in several)
