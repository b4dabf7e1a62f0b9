"""Trainings that are stopped, gone on with, and compared with those that never were."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
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
from benchsuite.records.schema import Resumption
from benchsuite.setup import Clusters, Experts, Setup
from benchsuite.training.checkpoint import Checkpoints
from benchsuite.training.loop import train

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


@dataclass(frozen=True)
class Outcome:
    """What a training found."""

    curves: dict[str, list[float]]
    digests: dict[str, str]
    resumptions: list[Resumption]
    cost: dict[str, Any]
    state: dict[str, Tensor]
    """All weights and buffers at its end."""
    random: Tensor
    """The generator's state, from which an evaluation may draw."""


def checkpoints_of(folder: Path) -> Checkpoints:
    """After each step."""
    return Checkpoints(folder, "a run", Every(steps=1))


def trained(
    name: str,
    setup: Setup,
    split: Split,
    checkpoints: Checkpoints | None = None,
    end: int | None = None,
    signals: Mapping[int, int] = MappingProxyType({}),
) -> Outcome:
    """To the end, or stopped by an exception after step `end`; `signals` to this process, by step."""

    def watch(step: int) -> None:
        if step == end:
            raise KilledError
        if step in signals:
            os.kill(os.getpid(), signals[step])

    method = made(name)
    setup, prepared = given(setup)
    result = train(setup, method, split, 0, watch, prepared, None, checkpoints)
    state = {**result.encoder.state_dict(), **{f"method.{n}": v for n, v in method.state_dict().items()}}
    return Outcome(result.curves, result.digests, result.resumptions, result.cost, state, torch.get_rng_state())


def stopped_and_resumed(name: str, setup: Setup, split: Split, folder: Path) -> Outcome:
    """One that was stopped, and then went on."""
    with pytest.raises(KilledError):
        trained(name, setup, split, checkpoints_of(folder), STOP)
    torch.manual_seed(1)  # another process has another state
    return trained(name, setup, split, checkpoints_of(folder))


def require_equal(straight: Outcome, resumed: Outcome, step: int = STOP) -> None:
    """But for where it went on."""
    assert [each.step for each in resumed.resumptions] == [step]
    assert repr(resumed.curves) == repr(straight.curves)
    assert resumed.digests == straight.digests
    assert torch.equal(resumed.random, straight.random)
    assert resumed.state.keys() == straight.state.keys()
    for part, value in straight.state.items():
        assert torch.equal(resumed.state[part], value), part
