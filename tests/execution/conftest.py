from collections.abc import Callable
from typing import Any

import pytest

from benchsuite.planning.data_folders import resolve_data
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.schema import run_id
from benchsuite.setup import Data

SIZES = {"train": 256, "validation": 8, "test": 64, "gallery": 8}
PROTOCOLS = ("retrieval", "retrieval-gallery", "zero-shot-colour")


@pytest.fixture(scope="session")
def tiny_run() -> Callable[..., Run]:
    """`tiny_run(method, seed, **training)`: as at scale smoke, but twelve steps on 256 pictures and three protocols."""

    def make(method: str = "infonce", seed: int = 0, **training: Any) -> Run:
        run = plan_run(method, "scenes-smoke", "RN50", seed, {})
        changes = {
            "data": resolve_data(Data(name="scenes", options=SIZES), {}),
            "training": run.setup.training.model_copy(update={"steps": 12, **training}),
            "protocols": {name: run.setup.protocols[name] for name in PROTOCOLS},
        }
        setup = run.setup.model_copy(update=changes)
        return run.model_copy(update={"setup": setup, "run_id": run_id(setup.setup_id, run.method.method_id, seed)})

    return make
