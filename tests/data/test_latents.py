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


def test_a_share_of_training_pairs_alone_is_mismatched(splits: dict[str, Split]) -> None:
    """Captions say less about the image they stand beside where they are another's."""
    train, test = splits["train"], splits["test"]
    whole = create_dataset("latents", **SMALL, mismatched=0.0).split("train")
    differs = (np.asarray(train.captions) != np.asarray(whole.captions)).any((1, 2))
    share = 0.05 * world.World.of(2024).wrong
    assert differs.sum() == round(share * len(train))
    assert 0.05 * 0.75 < share < 0.05 * 1.25
    assert np.array_equal(train.images, whole.images)
    assert len(test) == SMALL["test"]


def test_a_paraphrase_mentions_what_its_caption_mentions(splits: dict[str, Split]) -> None:
    """Without noise and wordings the two are equal, so that a text view tells nothing new about the image."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "NOISE", 0.0)
        patch.setattr(world, "WORDING_SCALE", 0.0)
        bare = create_dataset("latents", **SMALL).columns("test")
    assert np.array_equal(bare["captions"], bare["paraphrases"])
    test = splits["test"]
    assert not (np.asarray(test.captions) == np.asarray(test.paraphrases)).all(2).any()


def test_seeds_are_worlds_of_their_own_within_the_stated_ranges() -> None:
    worlds = [world.World.of(seed) for seed in range(40)]
    least, most = world.SPREAD
    for values, stated in (
        ([w.noise for w in worlds], world.NOISE),
        ([w.mentioned for w in worlds], world.MENTIONED),
        ([w.tail for w in worlds], 1.0),
        ([w.wrong for w in worlds], 1.0),
    ):
        assert least * stated < min(values) < 0.85 * stated
        assert 1.15 * stated < max(values) < most * stated


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


def test_prompts_say_their_class_and_unknown_sets_are_refused() -> None:
    dataset = create_dataset("latents", **SMALL)
    prompts = dataset.prompts_for("concept", "prompts-7")
    assert np.shape(prompts) == (world.CONCEPTS, 7, world.WIDTH)
    assert np.array_equal(prompts, dataset.prompts_for("concept", "prompts-7"))
    rows = np.asarray(prompts)
    assert classified(rows[:, :4].reshape(-1, 128), np.repeat(np.arange(200), 4), rows[:, 6], np.arange(200)) > 0.9
    with pytest.raises(UsageError, match='set of classes "colour" does not exist'):
        dataset.prompts_for("colour", "prompts-7")
