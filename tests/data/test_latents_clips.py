import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.synthetic import latents_clips
from benchsuite.evaluation.relevancy import Actions, relevancy_between

SMALL = {"train": 2000, "validation": 20, "test": 1000, "described": 200}


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Split]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSUITE_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = create_dataset("latents-clips", **SMALL)
        return {name: dataset.split(name) for name in latents_clips.SPLITS}


def narrations(split: Split) -> list[bytes]:
    return [rows[0].tobytes() for rows in np.asarray(split.captions)]


def classes(split: Split) -> Actions:
    sets = [[n for n in row if n >= 0] for row in split.labels["nouns"].tolist()]
    return Actions.of(split.labels["verb"].tolist(), sets)


def test_clips_of_one_action_share_narrations_and_no_others_do(splits: dict[str, Split]) -> None:
    test = splits["test"]
    said = narrations(test)
    alike = relevancy_between(classes(test), classes(test)) == 1
    same = np.array([[a == b for b in said] for a in said])
    assert not (same & ~alike).any()
    assert 0.4 < same[alike].mean() < 0.8  # one of two wordings, and each clip with itself
    assert len(set(said)) < 0.8 * len(said)
    assert set(said) & set(narrations(splits["train"]))


def test_relevancy_has_all_levels_between_none_and_one(splits: dict[str, Split]) -> None:
    levels = np.unique(relevancy_between(classes(splits["test"]), classes(splits["test"])).round(3))
    assert {0.0, 0.25, 0.5, 0.75, 1.0} <= set(levels.tolist())


def test_verbs_and_nouns_have_a_long_tail(splits: dict[str, Split]) -> None:
    for name, count in (("verb", latents_clips.VERBS), ("noun", latents_clips.NOUNS)):
        sizes = np.bincount(splits["train"].labels[name], minlength=count)
        assert sizes[: count // 2].sum() > 2 * sizes[count // 2 :].sum() > 0
    assert np.array_equal(splits["train"].labels["nouns"][:, 0], splits["train"].labels["noun"])


def test_splits_have_narrations_or_descriptions_and_training_both(splits: dict[str, Split]) -> None:
    captions = {name: np.asarray(split.captions).shape[1] for name, split in splits.items()}
    assert captions == {"train": 3, "validation": 3, "test": 1, "described": 2}
    assert len(set(narrations(splits["described"]))) == SMALL["described"]


def test_a_share_of_training_clips_carries_another_ones_texts(splits: dict[str, Split]) -> None:
    whole = create_dataset("latents-clips", **SMALL, mismatched=0.0).split("train")
    differs = (np.asarray(whole.captions) != np.asarray(splits["train"].captions)).any((1, 2))
    assert differs.sum() == round(0.05 * SMALL["train"])


def test_the_published_data_set_is_the_same_on_every_machine() -> None:
    columns = latents_clips.LatentsClips(train=3).columns("train")
    assert np.asarray(columns["verb_noun"]).tolist() == EXPECTED_ACTIONS
    assert (np.asarray(columns["captions"])[0, :2, :3] * 1024).tolist() == EXPECTED_NUMBERS


EXPECTED_ACTIONS = [1436, 1220, 242]
EXPECTED_NUMBERS = [[281, 108, -192], [-247, 573, 610]]
