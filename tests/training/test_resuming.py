"""A training that was stopped and resumed equals one never stopped, bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.resuming import STEPS, require_equal, served, stopped_and_resumed, trained

from benchsuite.data.base import Split
from benchsuite.execution.preflight import has_compiler
from benchsuite.registry import methods
from benchsuite.setup import Setup

pytestmark = pytest.mark.slow

Make = Callable[..., Setup]


@pytest.mark.parametrize("name", sorted(methods))
def test_every_method_goes_on_to_the_same_bits(name: str, make_setup: Make, split: Split, tmp_path: Path) -> None:
    setup = served(make_setup(steps=STEPS), name)
    require_equal(trained(name, setup, split), stopped_and_resumed(name, setup, split, tmp_path / "run"))


@pytest.mark.parametrize(
    "settings",
    [
        {"zero_stage": 1},
        {"zero_stage": 2},
        {"zero_stage": 2, "precision": "bf16"},
        {"precision": "bf16"},
        {"accumulation": 2},
        {"clip_gradient": 0.1, "zero_stage": 1},
        {"resnet": True},
        pytest.param({"compiled": True}, marks=pytest.mark.skipif(not has_compiler(), reason="no C++ compiler")),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["infonce-learnable", "moco"])
def test_so_does_every_way_to_train(
    name: str, settings: dict[str, Any], make_setup: Make, split: Split, tmp_path: Path
) -> None:
    setup = served(make_setup(steps=STEPS, **settings), name)
    require_equal(trained(name, setup, split), stopped_and_resumed(name, setup, split, tmp_path / "run"))
