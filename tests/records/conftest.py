from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchsuite.records.schema import MethodPart, Record, Result
from benchsuite.records.store import pack_ranks
from benchsuite.setup import Data, ImageTower, Optimizer, Protocol, Setup, TextTower, Training

METRICS = {"i2t_r1": 0.25, "i2t_r5": 0.5, "i2t_r10": 0.75, "t2i_r1": 0.0, "t2i_r5": 0.5, "t2i_r10": 1.0, "r_mean": 0.5}

MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def make_record() -> MakeRecord:
    """A sealed record and the bytes of its ranks; keywords replace parts of its content."""

    def make(seed: int = 0, **changes: Any) -> tuple[Record, bytes]:
        setup = Setup(
            data=Data(name="scenes", options={"train": 64}, version=1, digest="d" * 64),
            image=ImageTower(timm="test_vit"),
            text=TextTower(transformer="distilbert", vocabulary=100),
            projection={"width": 8},
            optimizer=Optimizer(lr=1e-3),
            training=Training(batch=4, steps=2),
            protocols={"retrieval": Protocol(task="retrieval", version=1, options={"split": "test"})},
        )
        method = MethodPart(name="infonce", title="InfoNCE", hyperparameters={"tau": 0.03}, code="c0de", owner="us")
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

    return make
