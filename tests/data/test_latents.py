from pathlib import Path

import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.synthetic import latent_world as world
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation

SMALL = {"train": 3000, "validation": 20, "test": 1000, "galleries": 20}


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Split]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSUITE_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = create_dataset("latents", **SMALL)
        return {name: dataset.split(name) for name in ("train", "test")}


def classified(points: np.ndarray, labels: np.ndarray, queries: np.ndarray, answers: np.ndarray) -> float:
    """Accuracy of the nearest class mean."""
    known = np.unique(labels)
    means = np.stack([points[labels == c].mean(0) for c in known])
    nearest = known[((queries[:, None] - means) ** 2).sum(2).argmin(1)]
    return float((nearest == answers).mean())


def test_a_seed_gives_one_dataset_and_another_seed_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(folder: str, **options: int) -> str:
        monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path / folder))
        return create_dataset("latents", **{**SMALL, "train": 50, "test": 50, **options}).manifest().digest

    assert digest("a") == digest("b")
    assert digest("a", seed=1) != digest("a")
    assert digest("a", captions=3) != digest("a")


def test_the_published_data_set_is_the_same_on_every_machine() -> None:
    made = world.World.of(2024)
    rows = made.images(world.imagine(2024, 2, 4), 1, np.random.RandomState(0))
    assert world.imagine(2024, 2, 4).tolist() == EXPECTED_SCENES
    assert (rows[:2, 0, :4] * world.GRID).tolist() == EXPECTED_NUMBERS


EXPECTED_SCENES = [[2, 83, 4, 53], [10, 3, 56, 4], [198, 84, 2, 59], [43, 0, 16, 155]]
EXPECTED_NUMBERS = [[-158, 476, -1020, 147], [321, -750, -44, -173]]


def test_concepts_have_a_long_tail_and_a_scene_has_four_different_ones(splits: dict[str, Split]) -> None:
    scenes = world.imagine(2024, 0, 20_000)
    assert all(len(set(scene)) == world.PER_SCENE for scene in scenes[:500].tolist())
    counts = np.bincount(splits["train"].labels["concept"], minlength=world.CONCEPTS)
    head, tail = counts[:20].sum(), counts[-100:].sum()
    assert head > 2 * tail > 0
    assert splits["train"].labels["tail"].mean() == pytest.approx(tail / len(splits["train"]))
    assert scenes[:50].tolist() == world.imagine(2024, 0, 50).tolist()


def test_a_share_of_training_pairs_alone_is_mismatched(splits: dict[str, Split]) -> None:
    """Captions say less about the image they stand beside where they are another's."""
    train, test = splits["train"], splits["test"]
    whole = create_dataset("latents", **SMALL, mismatched=0.0).split("train")
    differs = (np.asarray(train.captions) != np.asarray(whole.captions)).any((1, 2))
    assert differs.sum() == round(0.05 * len(train))
    assert np.array_equal(train.images, whole.images)
    assert len(test) == SMALL["test"]


def test_renderings_differ_in_nuisance_and_show_the_same_scene(splits: dict[str, Split]) -> None:
    images = np.asarray(splits["train"].images[:500], np.float64)
    apart = np.linalg.norm(images[:, 0] - images[:, 1], axis=1).mean()
    strangers = np.linalg.norm(images[:, 0] - np.roll(images[:, 0], 1, axis=0), axis=1).mean()
    by_noise = world.NOISE * np.sqrt(2 * world.WIDTH)
    assert 1.05 * by_noise < apart < 0.8 * strangers
    assert splits["test"].images.shape[1] == 1


def test_a_step_draws_renderings_and_wordings_and_a_view_its_own(splits: dict[str, Split]) -> None:
    plan = BatchPlan(splits["train"], 64, Augmentation(), seed=0)
    first, view = plan.draw(0), plan.draw_view(0)
    assert np.array_equal(first.index, view.index)
    assert {*first.augmentations.ravel()} == {0, 1, 2, 3}
    assert not np.array_equal(first.augmentations, view.augmentations)
    assert np.shape(first.captions) == (64, world.WIDTH)
    captions = np.asarray(splits["train"].captions)[first.index]
    drawn = (captions == np.asarray(first.captions)[:, None]).all(2)
    assert drawn.any(1).all()
    assert drawn.any(0).all()
    assert plan.digest() != BatchPlan(splits["train"], 64, Augmentation(), seed=1).digest()


def test_classes_can_be_read_from_images_and_captions(splits: dict[str, Split]) -> None:
    """What tasks ask for is there, between chance and ceiling, and the rare half of concepts is harder."""
    train, test = splits["train"], splits["test"]
    group, answers = train.labels["group"], test.labels["group"]
    assert 0.25 < classified(train.images[:, 0], group, test.images[:, 0], answers) < 0.95
    assert 0.25 < classified(np.asarray(train.captions)[:, 0], group, np.asarray(test.captions)[:, 0], answers) < 0.95
    concept = train.labels["concept"], test.labels["concept"]
    hit = {
        t: classified(
            train.images[:, 0],
            concept[0],
            test.images[test.labels["tail"] == t, 0],
            concept[1][test.labels["tail"] == t],
        )
        for t in (0, 1)
    }
    assert hit[0] > hit[1] + 0.05


def test_captions_mention_only_a_part_so_that_one_fits_several_images() -> None:
    """Two captions of one scene are further apart than wording alone makes them."""
    made = world.World.of(0)
    scenes = np.repeat(world.imagine(0, 2, 300), 1, axis=0)
    captions = made.captions(scenes, 2, np.random.RandomState(1))
    same = made.sentences(np.repeat(made.said[scenes].sum(1)[:, None], 2, axis=1), np.random.RandomState(2))
    between, by_wording = (np.linalg.norm(rows[:, 0] - rows[:, 1], axis=1).mean() for rows in (captions, same))
    assert between > 1.2 * by_wording


def test_prompts_say_their_class_and_unknown_sets_are_refused() -> None:
    dataset = create_dataset("latents", **SMALL)
    prompts = dataset.prompts_for("concept", "prompts-7")
    assert np.shape(prompts) == (world.CONCEPTS, 7, world.WIDTH)
    assert np.array_equal(prompts, dataset.prompts_for("concept", "prompts-7"))
    rows = np.asarray(prompts)
    assert classified(rows[:, :4].reshape(-1, 128), np.repeat(np.arange(200), 4), rows[:, 6], np.arange(200)) > 0.9
    with pytest.raises(UsageError, match='set of classes "colour" does not exist'):
        dataset.prompts_for("colour", "prompts-7")
