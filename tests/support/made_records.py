"""Records as a run writes them, made without a training and without torch."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchsuite.evaluation import rank_metrics
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import MethodPart, Record, Result
from benchsuite.registry import methods
from benchsuite.setup import Data, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower, TextTower

MakeRecord = Callable[..., tuple[Record, bytes]]
Runs = dict[int, Record]
METRICS = {"i2t_r1": 0.25, "i2t_r5": 0.5, "i2t_r10": 0.75, "t2i_r1": 0.0, "t2i_r5": 0.5, "t2i_r10": 1.0, "r_mean": 0.5}
DEFAULTS = {"infonce": {"tau": 0.01}, "ts": {"tau_min": 0.01, "tau_max": 0.05, "periods": 5.0}}
RANKS = {"i2t": np.array([1, 2, 9, 40], np.int32), "t2i": np.array([1, 1, 5, 6, 11, 3, 2, 1], np.int32)}


def any_record(seed: int = 0, **changes: Any) -> tuple[Record, bytes]:
    """A sealed record and the bytes of its ranks; keywords replace parts of its content."""
    setup = Setup(
        data=Data(name="scenes", options={"train": 64}, version=1, digest="d" * 64),
        image=ImageTower(timm="test_vit"),
        text=TextTower(transformer="distilbert", vocabulary=100),
        projection={"width": 8},
        optimizer=Optimizer(lr=1e-3),
        training=Training(batch=4, steps=2),
        protocols={"retrieval": Protocol(task="retrieval", version=1, options={"split": "test"})},
    )
    method = MethodPart(
        name="infonce", title="InfoNCE", version=1, hyperparameters={"tau": 0.03}, code="c0de", owner="us"
    )
    content, sidecar = pack_ranks(f"infonce-s{seed}", [("retrieval.i2t", np.arange(1, 5, dtype=np.int32))])
    parts: dict[str, Any] = {
        "seed": seed,
        "method": method,
        "setup": setup,
        "results": {"retrieval": Result(task="retrieval", version=1, metrics=METRICS, counts={"i2t": 4, "t2i": 4})},
        "curves": {"step": [0, 1], "loss": [2.0, None]},
        "cost": {"seconds": 1.5},
        "digests": {"initial_weights": "w", "batches": "b", "data": "d" * 64},
        "environment": {"python": "3.13", "packages": {"torch": None}},
        "created": "2026-01-01T00:00:00+00:00",
        "ranks": sidecar,
    }
    return Record.seal(**{**parts, **changes}), content


def sound_record(seed: int = 0, ranks: Mapping[str, Any] = RANKS, **changes: Any) -> tuple[Record, bytes]:
    """As any_record, but with the numbers that follow from its ranks, and `ranks` in place of the usual ones.

    No two seeds have the same ones.
    """
    ranks = {way: np.roll(values, seed) for way, values in ranks.items()} if ranks is RANKS else ranks
    scores = rank_metrics.retrieval(ranks)
    numbers = {"metrics": dict(scores.metrics), "measures": dict(scores.measures), "counts": dict(scores.counts)}
    content, sidecar = pack_ranks(f"infonce-s{seed}", [(f"retrieval.{way}", values) for way, values in ranks.items()])
    parts = {
        "results": {"retrieval": Result(task="retrieval", version=1, split_size=len(ranks["i2t"]), **numbers)},
        "ranks": sidecar,
    }
    return any_record(seed, **{**parts, **changes})[0], content


def runs(
    method: str = "infonce",
    values: Sequence[float | None] = (0.1, 0.2, 0.3),
    cost: Sequence[float] = (),
    **changes: Any,
) -> Runs:
    """Records by seed, one for each value of r_mean; None skips a seed.

    `hyperparameters` are laid over the method's defaults, `title` and `version` replace what is registered,
    `learning_rate` and `longer` are the method's; any other change is one of the record's content.
    """
    known = methods.card(method) if method in methods else None
    part = any_record()[0].method.model_copy(
        update={
            "name": method,
            "title": changes.pop("title", known.title if known else method),
            "hyperparameters": {**DEFAULTS.get(method, {}), **changes.pop("hyperparameters", {})},
            **{name: changes.pop(name) for name in ("version", "learning_rate", "longer") if name in changes},
        }
    )
    found = {}
    for seed, value in enumerate(values):
        if value is None:
            continue
        content = dict(changes)
        if "results" not in content:
            result = any_record(seed)[0].results["retrieval"]
            metrics = {**result.metrics, "r_mean": value}
            content["results"] = {"retrieval": result.model_copy(update={"metrics": metrics})}
        if cost:
            content["cost"] = {"seconds": 2 * cost[seed], "cpu_seconds": cost[seed], **content.get("cost", {})}
        found[seed] = any_record(seed, method=part, **content)[0]
    return found
