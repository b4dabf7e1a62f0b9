"""Runs on pictures that are decoded for each batch, from plan to sealed record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.own_data import write_csv
from support.real_files import (
    write_cifar,
    write_classes,
    write_epic,
    write_karpathy,
    write_mmvp,
    write_pairs,
    write_senteval,
    write_shards,
    write_something,
    write_youcook2,
)

from benchsuite.errors import RunError
from benchsuite.execution.measure import measure
from benchsuite.planning.data_folders import folder_names, read_by
from benchsuite.planning.plan import Run, resolve_method, resolve_setup
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.records.schema import Record, run_id
from benchsuite.registry import datasets
from benchsuite.setup import Clusters, Data, Protocol

SIZE = {"size": 32}


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    shards = write_shards(tmp_path / "cc3m")
    ids = [f"{shard:05}{place:04}" for shard, size in enumerate((5, 4, 3)) for place in range(size)]
    rows = [json.dumps({"id": one, "paraphrases": [f"{one} again", f"{one} once more"]}) for one in ids]
    (shards / "paraphrases.jsonl").write_text("\n".join(rows))
    write_pairs(shards, 4, "validation")
    return {"cc3m": str(shards), "coco": str(write_karpathy(tmp_path / "coco"))}


def planned(method: str, folders: dict[str, str]) -> Run:
    recipe = read_recipe("cifar10-smoke")
    coco = Data(name="coco", options={**SIZE, "only": "test", "fit": "squash"})
    changes = {
        "data": Data(name="cc3m", options=SIZE),
        "training": recipe.training.model_copy(update={"batch": 4, "steps": 2}),
        "clusters": Clusters(k=3),
        "protocols": {
            "retrieval-coco": Protocol(task="retrieval", data=coco),
            "geometry": Protocol(task="geometry", options={"split": "validation"}),
        },
    }
    setup = resolve_setup(recipe.model_copy(update=changes), "RN50", folders)
    part = resolve_method(method, {}, 1.0)
    ids = run_id(setup.setup_id, part.method_id, 0)
    return Run(run_id=ids, setup=setup, method=part, seed=0, label="tiny", estimate=0.0)


@pytest.mark.parametrize("method", ["temo", "mm-ts"])
def test_a_method_with_views_or_clusters_trains_on_lazy_pictures(method: str, folders: dict[str, str]) -> None:
    record: Record = measure(planned(method, folders))[0]
    assert record.results["retrieval-coco"].counts == {"i2t": 3, "t2i": 15}
    assert record.results["geometry"].counts == {"pairs": 4}
    assert str(folders["cc3m"]) not in str(record.as_json()["setup"])


def test_pictures_that_changed_since_the_plan_are_refused(folders: dict[str, str]) -> None:
    run = planned("infonce", folders)
    write_shards(Path(folders["cc3m"]), (5, 4, 2))
    with pytest.raises(RunError, match="cc3m: the data has changed since the run was planned"):
        measure(run)


def write_sentences(place: Path) -> Path:
    place.mkdir()
    (place / "wiki1m_for_simcse.txt").write_text("\n".join(f"sentence {i} ." for i in range(9)))
    return place


FOLDERS: dict[str, Callable[[Path], Path]] = {
    "coco": write_karpathy,
    "flickr30k": lambda place: write_karpathy(place, "flickr30k"),
    "cifar10": lambda place: write_cifar(place, [*range(10)] * 4, [*range(10)] * 2),
    "mmvp": write_mmvp,
    "senteval": write_senteval,
    "epic-kitchens": write_epic,
    "youcook2": lambda place: write_youcook2(place),
    "ssv2": lambda place: write_something(place, "ssv2-lt"),
    "imagenet1k": lambda place: write_classes(
        write_classes(place, dict.fromkeys("abc", 4)), dict.fromkeys("abc", 2), "val"
    ),
    "wiki1m": lambda place: write_sentences(place),
    "pairs": write_csv,
    "images": write_csv,
}
"""Tiny files in the layout of each dataset that the recipes below read."""
TINY_TEXT = {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}
TINY_CLIP = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}


def shrunk(data: Data) -> Data:
    """The same data at a size that a test can read."""
    small: dict[str, Any] = {"size": 32, "frames": 2, "limit": 8}
    taken = {field.name for field in datasets.card(data.name).fields if field.type != "Names"} & small.keys()
    return data.model_copy(update={"options": {**data.options, **{name: small[name] for name in taken}}})


def tiny(name: str) -> Recipe:
    """The recipe on small towers and two steps; data, clusters, augmentation and protocols otherwise as they are."""
    recipe = read_recipe(name)
    tower = {"timm": "test_resnet", "options": {}, "pretrained": False, "stem": None}
    backbones = {
        key: one.model_copy(update={"tower": one.tower and one.tower.model_copy(update=tower)})
        for key, one in recipe.backbones.items()
    }
    text = recipe.text
    if text is not None:
        kind, config = ("clip_text_model", TINY_CLIP) if text.pool == "last" else ("distilbert", TINY_TEXT)
        small = {"transformer": kind, "config": config, "pretrained": False, "vocabulary": 90, "max_tokens": 8}
        text = text.model_copy(update=small)
    clusters = recipe.clusters
    if clusters is not None and clusters.labels is None:
        clusters = Clusters(k=2)
    protocols = {
        key: one.model_copy(update={"data": one.data and shrunk(one.data)})
        for key, one in recipe.protocols.items()
        if one.data is None or one.data.name in FOLDERS
    }
    if "transfer" in protocols:
        few = {"options": {"folds": 2, "sets": ["MR"]}}
        protocols["transfer"] = protocols["transfer"].model_copy(update=few)
    small_training = {"batch": 2, "steps": 2, "processes": 1, "zero_stage": 0, "precision": "fp32"}
    return recipe.model_copy(
        update={
            "backbones": backbones,
            "text": text,
            "clusters": clusters,
            "experts": None,
            "protocols": protocols,
            "data": shrunk(recipe.data),
            "training": recipe.training.model_copy(update=small_training),
        }
    )


@pytest.fixture(autouse=True)
def three_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """ImageNet-100 of the tiny folder's classes."""
    monkeypatch.setattr("benchsuite.data.real.imagenet.ImageNet100._chosen_classes", ())


@pytest.mark.parametrize(
    ("name", "method", "counts"),
    [
        ("coco-paper", "gap-hard-swap", {"retrieval-coco": 3, "zero-shot-cifar10": 20, "linear-probe-cifar10": 20}),
        ("epic-paper", "mm-ts-margin", {"multi-instance": 6}),
        ("youcook2-paper", "mm-ts", {"retrieval": 2}),
        ("ssv2-lt-paper", "mm-ts", {"retrieval": 1}),
        ("cifar-paper", "dystress", {"knn": 20, "knn-plain": 20, "geometry": 20}),
        ("imagenet100-paper", "simclr", {"knn": 6, "linear-probe": 6, "geometry": 6}),
        ("wiki1m-paper", "dystress", {"sts": 20, "transfer": 12}),
        ("pairs-gpu", "mm-ts", {"retrieval": 5, "zero-shot": 5, "knn": 5}),
        ("images-gpu", "simclr", {"geometry": 5, "linear-probe": 5}),
    ],
)
def test_a_recipe_for_real_data_runs_on_small_towers_and_tiny_files(
    tmp_path: Path, name: str, method: str, counts: dict[str, int]
) -> None:
    recipe = tiny(name)
    needed = {source for data in read_by(recipe) for source in folder_names(data.name)} & FOLDERS.keys()
    folders = {source: str(FOLDERS[source](tmp_path / source)) for source in needed}
    setup = resolve_setup(recipe, next(iter(recipe.backbones)), folders)
    part = resolve_method(method, {}, 1.0)
    ids = run_id(setup.setup_id, part.method_id, 0)
    record = measure(Run(run_id=ids, setup=setup, method=part, seed=0, label="tiny", estimate=0.0))[0]
    assert set(record.results) == {*recipe.protocols, *recipe.with_classes}
    assert {key: next(iter(record.results[key].counts.values())) for key in counts} == counts
    assert str(tmp_path) not in str(record.as_json()["setup"])
