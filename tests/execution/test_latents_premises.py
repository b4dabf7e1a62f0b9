"""What the papers are about exists in the worlds of latents: counted, in closed form, or after short trainings."""

import io
import math
from functools import cache
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
from benchsuite.planning.data_folders import resolve_data
from benchsuite.planning.plan import plan_run, plan_table
from benchsuite.records.schema import Record
from benchsuite.setup import Data

SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])
BATCH, STEPS = 64, 300
SMALL: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "latents-pairs": (
        "ViT-B/16", "latents", "retrieval geometry",
        {"train": 4000, "validation": 20, "test": 500, "galleries": 20},
    ),
    "latents-images": (
        "ResNet-18", "latents-images", "knn-plain-concept",
        {"train": 8000, "validation": 20, "test": 1000, "imbalance": 100.0},
    ),
    "latents-clips": (
        "ViT-B", "latents-clips", "multi-instance",
        {"train": 4000, "validation": 20, "test": 500, "described": 20},
    ),
}  # fmt: skip
"""By recipe: backbone, dataset, protocols, the dataset's options."""
Ranks = dict[str, NDArray[np.int32]]


@cache
def trained(recipe: str, method: str, seed: int, **hyperparameters: float) -> tuple[Record, Ranks]:
    """A short run under a recipe on little data, and the ranks that it stores."""
    backbone, name, protocols, options = SMALL[recipe]
    run = plan_run(method, recipe, backbone, seed, hyperparameters)
    changes = {
        "data": resolve_data(Data(name=name, options=options), {}),
        "training": run.setup.training.model_copy(update={"steps": STEPS, "batch": BATCH}),
        "protocols": {key: run.setup.protocols[key] for key in protocols.split()},
    }
    record, content = measure(run.model_copy(update={"setup": run.setup.model_copy(update=changes)}))
    return record, dict(np.load(io.BytesIO(content)))


def split(recipe: str, name: str, **options: Any) -> Split:
    _, dataset, _, small = SMALL[recipe]
    return create_dataset(dataset, **{**small, **options}).split(name)


def unit(rows: Any) -> NDArray[np.float64]:
    given = np.asarray(rows, np.float64)
    scaled: NDArray[np.float64] = given / np.linalg.norm(given, axis=-1, keepdims=True)
    return scaled


@SEEDS
def test_a_learned_temperature_leaves_a_gap_that_a_warm_one_closes(seed: int) -> None:
    learned, warm = (
        trained("latents-pairs", "infonce-learnable", seed),
        trained("latents-pairs", "gap-flt", seed, tau=0.1),
    )
    gaps = [record.results["geometry"].measures["gap"] for record, _ in (learned, warm)]
    assert gaps[0] > max(0.12, 1.3 * gaps[1])


def test_the_baseline_of_the_modality_gap_meets_what_its_claims_rest_on() -> None:
    """In a whole run, as printed: the learned temperature falls, and leaves a gap."""
    table = read_table("modality-gap/table2")
    (run,) = plan_table(table.name, "latents", [0], ["Baseline"]).runs
    record, _ = measure(run)
    premises = [premise for premise in table.premises if premise.rows == ["Baseline"]]
    assert {premise.column or premise.gauge for premise in premises} >= {"gap", "temperature", "image_retrieval"}
    for premise in premises:
        measures = {"gap": "geometry.gap", "image_retrieval": "retrieval.t2i_r1", "zero_shot": "zero-shot-group.top1"}
        measure_of = measures.get(premise.column, "linear-probe-group.top1")
        factor = 1 if premise.column == "gap" else 100
        found = factor * record.metric(measure_of) if premise.column else premise.shown(record.curves)
        assert found is not None
        assert (premise.at_least or -math.inf) <= found <= (premise.at_most or math.inf), premise.statement


@SEEDS
def test_the_curve_of_a_learned_temperature_flattens(seed: int) -> None:
    """It moves, then stops with the falling learning rate; that it forgets its start is not claimed."""
    curve = trained("latents-pairs", "infonce-learnable", seed)[0].curves["temperature"]
    taus = [tau for tau in curve if tau is not None]
    assert len(taus) == len(curve)
    last = taus[-len(taus) // 4 :]
    assert max(last) - min(last) < 0.02 * taus[-1]
    assert max(taus) - min(taus) > 0.02 * taus[-1]


@SEEDS
def test_captions_of_rare_concepts_are_found_less_often(seed: int) -> None:
    """R@1 from caption to image, by whether the scene's first concept is in the rare half."""
    ranks = trained("latents-pairs", "infonce-learnable", seed)[1]["retrieval.t2i"]
    tail = np.repeat(split("latents-pairs", "test").labels["tail"], 2)
    head, rare = ((ranks[tail == side] == 1).mean() for side in (0, 1))
    assert 0.9 > head > rare + 0.04 > 0.1


@SEEDS
def test_a_long_tail_of_one_tower_is_learned_worse_and_views_teach_classes(seed: int) -> None:
    """Nearest neighbours of trained features against those of the vectors themselves; CIFAR100-LT's imbalance."""
    record, ranks = trained("latents-images", "simclr", seed)
    train, test = (split("latents-images", name) for name in ("train", "test"))
    nearest = train.labels["concept"][(unit(test.images[:, 0]) @ unit(train.images[:, 0]).T).argmax(1)]
    untrained = (nearest == test.labels["concept"]).mean()
    assert 0.9 > record.results["knn-plain-concept"].metrics["k1_top1"] > 1.5 * untrained
    right = ranks["knn-plain-concept.k1"] == 1
    head, rare = (right[test.labels["tail"] == side].mean() for side in (0, 1))
    assert head > rare + 0.2


def test_actions_of_clips_are_retrieved_between_chance_and_ceiling() -> None:
    record, _ = trained("latents-clips", "infonce", 0, tau=0.05)
    alone, _ = trained("latents-clips", "max-margin", 0, margin=0.2)
    for side in ("map_v2t", "map_t2v", "ndcg"):
        for run in (record, alone):
            assert 0.3 < run.results["multi-instance"].metrics[side] < 0.95


def test_many_captions_of_a_batch_fit_other_images_of_it() -> None:
    """A caption fits each image that shows all that it mentions: those in its batch are false negatives."""
    batch, rows = 256, 20_000
    scenes = world.imagine(2024, 0, rows)
    mentioned = world.mentions((rows, 2, world.PER_SCENE), stream(2024, 3, 0, 0))[:, 0]
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
    assert wrong.sum() == 200
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
