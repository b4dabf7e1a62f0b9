from collections.abc import Callable
from typing import Any

import pytest

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.setup import Data, ImageTower, Optimizer, Protocol, Setup, TextTower, Training

VIT = {"img_size": 32, "patch_size": 16, "depth": 1}


@pytest.fixture(scope="session")
def split() -> Split:
    """64 drawn pictures."""
    return create_dataset("scenes", train=64, validation=8, test=8).split("train")


@pytest.fixture(scope="session")
def make_setup() -> Callable[..., Setup]:
    """`make_setup(dropout=, lr=, resnet=, warmup_steps=, **training)`: the smallest towers, four steps of 16 pairs."""

    def make(dropout: float = 0.1, lr: float = 1e-2, resnet: bool = False, **training: Any) -> Setup:
        sizes = {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}
        return Setup(
            data=Data(name="scenes", options={"train": 64}),
            image=ImageTower(timm="test_resnet") if resnet else ImageTower(timm="test_vit", options=VIT),
            text=TextTower(
                transformer="distilbert",
                vocabulary=120,
                config={**sizes, "dropout": dropout, "attention_dropout": dropout},
            ),
            projection={"width": 8},
            optimizer=Optimizer(lr=lr, weight_decay=0.02),
            training=Training(**{"batch": 16, "steps": 4, **training}),
            protocols={"retrieval": Protocol(task="retrieval")},
        )

    return make
