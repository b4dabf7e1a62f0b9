"""A run on vectors, from plan to record: MLPs in place of towers, everything else as for images."""

from pathlib import Path

import numpy as np
import pytest

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import plan_run
from benchsuite.records.ranks import open_ranks
from benchsuite.records.recompute import recompute
from benchsuite.records.schema import Record
from benchsuite.registry import datasets

RECIPE = """
title = "tiny vectors"
track = "latents"
description = "three steps"
seeds = 1
projection = { width = 16 }
data = { name = "latents", options = { train = 300, validation = 20, test = 60, galleries = 120 } }
optimizer = { lr = 1e-3 }
training = { batch = 32, steps = 3 }
backbones.mlp = { description = "an MLP", tower = { mlp = { layers = 2, hidden = 16 } } }
"""
PAIRS = """
text = { mlp = { layers = 1, hidden = 16 } }
clusters = { labels = "concept" }
experts.image = { embedding = "given" }
experts.text = { embedding = "given" }

[protocols]
retrieval = { task = "retrieval" }
galleries = { task = "gallery-retrieval", options = { split = "galleries", gallery = 40 } }
zero-shot = { task = "zero-shot", options = { classes = "group", templates = "prompts-7" } }
graded = { task = "multi-instance-retrieval" }
geometry = { task = "geometry" }
"""
IMAGES = """
[protocols]
knn = { task = "knn-plain", options = { classes = "group" } }
"""


def run(folder: Path, method: str, rest: str, seed: int = 0) -> Record:
    (folder / "tiny.toml").write_text(RECIPE + rest)
    return measure(plan_run(method, str(folder / "tiny.toml"), "mlp", seed, {}))[0]


@pytest.mark.parametrize("method", ["infonce", "temo", "mm-ts", "cwcl"])
def test_methods_of_pairs_train_on_vectors(tmp_path: Path, method: str) -> None:
    """Views are other renderings and paraphrases, clusters concepts, experts the vectors themselves."""
    record = run(tmp_path, method, PAIRS)
    assert set(record.results) == {"retrieval", "galleries", "zero-shot", "graded", "geometry"}
    assert record.results["galleries"].counts == {"i2t": 120, "t2i": 240}
    assert record.results["zero-shot"].counts["pictures"] == 60
    assert len(set(record.curves["loss"])) == 3


@pytest.mark.parametrize("only_counted", [True, False])
def test_of_vectors_it_is_kept_how_often_each_rank_came(
    tmp_path: Path, only_counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of other data each query's rank, and what was nearest to it."""
    monkeypatch.setattr(datasets.get("latents"), "only_counted", only_counted)
    (tmp_path / "tiny.toml").write_text(RECIPE + PAIRS)
    record, packed = measure(plan_run("infonce", str(tmp_path / "tiny.toml"), "mlp", 0, {}))
    ranks = open_ranks(tmp_path / "ranks", packed, record.results)
    of = {"retrieval.i2t": 60, "retrieval.t2i": 120, "galleries.i2t": 120, "galleries.t2i": 240, "zero-shot.class": 60}
    assert {name: len(ranks[name]) for name in of} == of
    assert [name for name in of if (np.diff(ranks[name]) < 0).any()] == ([] if only_counted else [*of])
    nearest = {f"{name}_nearest" for name in of if name != "zero-shot.class" and not only_counted}
    assert {name for name in ranks if not name.startswith("graded.")} == {*of, "zero-shot.classes"} | nearest
    assert (np.diff(ranks["graded.v2t_gains"]) < 0).any()
    for name, result in record.results.items():
        again = recompute(result, ranks.of(name), record.setup.protocols[name].options, RULES)
        assert not again.differs
        assert again.agreed or name == "geometry"


@pytest.mark.parametrize("method", ["simclr", "byol"])
def test_one_tower_trains_on_two_renderings(tmp_path: Path, method: str) -> None:
    one, again, other = (run(tmp_path, method, IMAGES, seed) for seed in (0, 0, 1))
    assert one.curves["loss"] == again.curves["loss"] != other.curves["loss"]
    assert one.digests["batches"] != other.digests["batches"]


def test_masks_and_noise_reach_the_tower(tmp_path: Path) -> None:
    plain, masked, noisy = (
        run(tmp_path, "simclr", f"augmentation = {{ {option} }}{IMAGES}").curves["loss"]
        for option in ("", "mask = 0.5", "noise = 0.5")
    )
    assert plain != masked != noisy != plain
