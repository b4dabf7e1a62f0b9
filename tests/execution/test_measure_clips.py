"""A whole run on clips at the smallest size: plan, training, evaluation and record."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.store import Store
from benchsuite.verify.audit import audit_run

DATA = {"train": 24, "validation": 4, "test": 10}


def planned(method: str, backbone: str = "VAST", **image: Any) -> Run:
    run = plan_run(method, "clips-smoke", backbone, 0, {})
    assert run.setup.image is not None
    changes = {
        "data": run.setup.data.model_copy(update={"options": {**run.setup.data.options, **DATA}, "digest": DIGEST()}),
        "training": run.setup.training.model_copy(update={"batch": 8, "steps": 3}),
        "image": run.setup.image.model_copy(update=image),
    }
    return run.model_copy(update={"setup": run.setup.model_copy(update=changes)})


def DIGEST() -> str:  # noqa: N802
    from benchsuite.data import create_dataset

    return create_dataset("clips", **DATA).manifest().digest


@pytest.mark.parametrize(("method", "backbone"), [("mm-ts-margin", "VAST"), ("infonce", "ViT-B")])
def test_a_run_on_clips_fills_a_record_that_can_be_verified(method: str, backbone: str, tmp_path: Path) -> None:
    record, ranks = measure(planned(method, backbone).model_copy(update={"recipe": "mine"}))
    assert record.recipe == "mine"
    found = record.results["multi-instance"]
    assert set(found.metrics) == {"map_v2t", "map_t2v", "map", "ndcg_v2t", "ndcg_t2v", "ndcg"}
    assert found.counts["v2t"] == 10
    assert 0 < found.metrics["map"] < 1
    assert ("clusters" in record.digests) == (method == "mm-ts-margin")
    assert np.isfinite([value for value in record.curves["loss"] if value is not None]).all()
    assert len(record.curves["step"]) == 3
    audit = audit_run(Store(tmp_path).write(record, ranks), RULES)
    assert audit.problems == []
    assert audit.agreed >= 6 + 2


@pytest.mark.parametrize("labels", ["verb", "noun", "verb_noun"])
def test_each_set_of_classes_gives_mm_ts_its_sizes(labels: str) -> None:
    run = planned("mm-ts-margin")
    assert run.setup.clusters is not None
    clusters = run.setup.clusters.model_copy(update={"labels": labels})
    record, _ = measure(run.model_copy(update={"setup": run.setup.model_copy(update={"clusters": clusters})}))
    lowest, highest = record.curves["margin_min"][0], record.curves["margin_max"][0]
    assert lowest is not None
    assert highest is not None
    assert lowest < highest
