"""A training that was stopped and resumed equals one never stopped, bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from benchsuite.data.base import Split
from benchsuite.data.prepared import Prepared
from benchsuite.methods import create_method, method_class
from benchsuite.methods.base import Method
from benchsuite.records.checkpoints import Every
from benchsuite.registry import methods
from benchsuite.setup import Clusters, Experts, Setup
from benchsuite.training.checkpoint import Checkpoints
from benchsuite.training.loop import Trained, train

Make = Callable[..., Setup]
STEPS = 5
STOP = 3


class KilledError(Exception):
    """Stands for the end of the process after a step."""


def served(setup: Setup, name: str) -> Setup:
    """The setup with what a method needs, pairs if it can train them, and one tower otherwise."""
    towers = create_method(name, num_samples=64, width=8, **method_class(name).miniature).serves
    return setup if "pair" in towers else setup.model_copy(update={"text": None})


def given(setup: Setup) -> tuple[Setup, Prepared]:
    """Clusters and experts for those who ask for them."""
    rng = np.random.default_rng(0)
    experts = Experts.model_construct(image="any", text="any")
    prepared = Prepared(
        cluster=rng.integers(4, size=64),
        image_expert=rng.standard_normal((64, 6)).astype("f4"),
        text_expert=rng.standard_normal((64, 6)).astype("f4"),
    )
    return setup.model_copy(update={"clusters": Clusters.model_construct(), "experts": experts}), prepared


def made(name: str) -> Method:
    torch.manual_seed(7)
    sizes = {"cluster_sizes": [16, 16, 16, 16]} if "cluster_sizes" in method_class(name).__annotations__ else {}
    return create_method(name, num_samples=64, width=8, **{**method_class(name).miniature, **sizes})


def one(
    name: str, setup: Setup, split: Split, checkpoints: Checkpoints | None = None, end: int | None = None
) -> tuple[Trained, dict[str, Tensor]]:
    def watch(step: int) -> None:
        if step == end:
            raise KilledError

    method = made(name)
    setup, prepared = given(setup)
    trained = train(setup, method, split, 0, watch, prepared, None, checkpoints)
    return trained, {**trained.encoder.state_dict(), **{f"method.{n}": v for n, v in method.state_dict().items()}}


def stopped_and_resumed(
    name: str, setup: Setup, split: Split, folder: Path, stops: tuple[int, ...] = (STOP,)
) -> tuple[Trained, dict[str, Tensor]]:
    checkpoints = Checkpoints(folder, "a run", Every(steps=1))
    for stop in stops:
        with pytest.raises(KilledError):
            one(name, setup, split, checkpoints, stop)
        torch.manual_seed(stop)  # another process has another state
    return one(name, setup, split, checkpoints)


def require_equal(
    straight: tuple[Trained, dict[str, Tensor]], resumed: tuple[Trained, dict[str, Tensor]], step: int = STOP
) -> None:
    assert [each.step for each in resumed[0].resumptions][-1] == step
    assert repr(resumed[0].curves) == repr(straight[0].curves)
    assert resumed[0].digests == straight[0].digests
    assert resumed[1].keys() == straight[1].keys()
    for part, value in straight[1].items():
        assert torch.equal(resumed[1][part], value), part


@pytest.mark.parametrize("name", sorted(methods))
def test_every_method_goes_on_to_the_same_bits(name: str, make_setup: Make, split: Split, tmp_path: Path) -> None:
    setup = served(make_setup(steps=STEPS), name)
    require_equal(one(name, setup, split), stopped_and_resumed(name, setup, split, tmp_path / "run"))


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
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["infonce-learnable", "moco"])
def test_so_does_every_way_to_train(
    name: str, settings: dict[str, Any], make_setup: Make, split: Split, tmp_path: Path
) -> None:
    setup = served(make_setup(steps=STEPS, **settings), name)
    require_equal(one(name, setup, split), stopped_and_resumed(name, setup, split, tmp_path / "run"))
