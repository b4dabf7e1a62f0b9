"""What the papers are about exists in the worlds of latents: counted, in closed form, or after a training."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.synthetic import latent_world as world
from benchsuite.data.synthetic.scene_world import stream
from benchsuite.execution.measure import measure
from benchsuite.papers import read_table
from benchsuite.planning.plan import plan_table

SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "latents-pairs": ("latents", {"train": 4000, "validation": 20, "test": 500, "galleries": 20}),
    "latents-clips": ("latents-clips", {"train": 4000, "validation": 20, "test": 500, "described": 20}),
}
"""By recipe: dataset, and the dataset's options."""


def split(recipe: str, name: str, **options: Any) -> Split:
    dataset, small = SMALL[recipe]
    return create_dataset(dataset, **{**small, **options}).split(name)


def unit(rows: Any) -> NDArray[np.float64]:
    given = np.asarray(rows, np.float64)
    scaled: NDArray[np.float64] = given / np.linalg.norm(given, axis=-1, keepdims=True)
    return scaled


@pytest.mark.slow
def test_the_baseline_of_the_modality_gap_meets_what_its_claims_rest_on() -> None:
    """In a whole run, as printed: the learned temperature falls, and leaves a gap."""
    table = read_table("modality-gap/table2")
    (run,) = plan_table(table.name, "latents", [1], ["Baseline"]).runs
    record, _ = measure(run)
    premises = [premise for premise in table.premises if premise.rows == ["Baseline"]]
    assert {premise.column or premise.gauge for premise in premises} >= {"gap", "temperature", "image_retrieval"}
    for premise in premises:
        measures = {"gap": "geometry.gap", "image_retrieval": "retrieval.t2i_r1", "zero_shot": "zero-shot-group.top1"}
        measure_of = measures.get(premise.column, "linear-probe-group.top1")
        factor = 1 if premise.column == "gap" else 100
        found = factor * record.values()[measure_of] if premise.column else premise.shown(record.curves)
        assert found is not None
        assert (premise.at_least or -math.inf) <= found <= (premise.at_most or math.inf), premise.statement


def test_many_captions_of_a_batch_fit_other_images_of_it() -> None:
    """A caption fits each image that shows all that it mentions: those in its batch are false negatives."""
    batch, rows = 256, 20_000
    made = world.World.of(2024)
    scenes = world.imagine(2024, 0, rows, zipf=world.ZIPF * made.tail)
    mentioned = made.mentions((rows, 2, world.PER_SCENE), stream(2024, 3, 0, 0))[:, 0]
    for number in range(3):
        chosen = np.random.default_rng(number).permutation(rows)[:batch]
        shown, said = (np.zeros((batch, world.CONCEPTS), bool) for _ in range(2))
        shown[np.arange(batch)[:, None], scenes[chosen]] = True
        said[np.arange(batch)[:, None], scenes[chosen]] = mentioned[chosen]
        fits = np.logical_not(said[:, None] & ~shown[None]).all(2)
        assert np.diag(fits).all()
        assert 0.15 < (fits.sum(1) > 1).mean() < 0.35


def test_captions_that_mention_the_same_concepts_of_two_scenes_are_alike() -> None:
    """Negatives that are like positives."""
    made = world.World.of(2024)
    scenes = world.imagine(2024, 2, 400)
    other = scenes.copy()
    other[:, 2:] = world.imagine(2024, 3, 400)[:, 2:]
    two = np.zeros((400, 1, world.PER_SCENE), bool)
    two[..., :2] = True
    positive, negative, stranger = (
        unit(made.mentioning(rows, two, np.random.RandomState(seed))[:, 0])
        for seed, rows in enumerate((scenes, other, np.roll(scenes, 1, axis=0)))
    )
    assert (positive * negative).sum(1).mean() > 0.6 > 0.3 > (positive * stranger).sum(1).mean()


def test_mismatched_pairs_can_be_told_from_the_others() -> None:
    """By how well the best linear map from images predicts the caption (ridge regression in closed form)."""
    train, whole = split("latents-pairs", "train"), split("latents-pairs", "train", mismatched=0.0)
    wrong = (np.asarray(train.captions) != np.asarray(whole.captions)).any((1, 2))
    images, texts = np.asarray(train.images[:, 0], np.float64), np.asarray(train.captions, np.float64).mean(1)
    weights = np.linalg.solve(images.T @ images + 10 * np.eye(world.WIDTH), images.T @ texts)
    fit = (unit(images @ weights) * unit(texts)).sum(1)
    assert 150 < wrong.sum() < 250
    assert (fit[wrong][:, None] < fit[~wrong]).mean() > 0.9


@pytest.mark.parametrize(("recipe", "classes"), [("latents-pairs", "concept"), ("latents-clips", "verb_noun")])
def test_clusters_of_captions_follow_classes_and_have_a_long_tail(recipe: str, classes: str) -> None:
    train = split(recipe, "train")
    points = unit(np.asarray(train.captions, np.float64).mean(1))[:2000]
    found, known = KMeans(50, n_init=1, random_state=0).fit(points).labels_, train.labels[classes][:2000]
    shuffled = np.random.default_rng(0).permutation(found)
    agreement, chance = (normalized_mutual_info_score(known, ids) for ids in (found, shuffled))
    assert agreement > chance + 0.05
    sizes = np.sort(np.bincount(train.labels[classes]))[::-1]
    assert sizes[0] > 10 * max(1, sizes[len(sizes) // 2])
