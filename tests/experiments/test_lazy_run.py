"""Runs on pictures that are decoded for each batch, from plan to sealed record."""

import json
from pathlib import Path

import pytest
from real_files import write_karpathy, write_pairs, write_shards

from benchsuite.errors import RunError
from benchsuite.experiments.measure import measure
from benchsuite.experiments.plan import Run, resolve_method, resolve_setup
from benchsuite.experiments.recipe import read_recipe
from benchsuite.records.schema import Record, run_id
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
