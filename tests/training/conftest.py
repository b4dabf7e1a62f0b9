from collections.abc import Callable
from typing import Any

import pytest
from support.peers import open_clip_clip, timm_resnet, timm_vit, transformers_clip, transformers_siglip
from support.resuming import STEPS

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.planning.resolve import with_models
from benchsuite.setup import Data, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower, TextTower

Make = Callable[..., Setup]
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


MODELS = {"clip": transformers_clip, "siglip": transformers_siglip, "open_clip": open_clip_clip}
LIBRARY = {"clip": "transformers", "siglip": "transformers", "open_clip": "open_clip"}


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tiny models with random weights, by kind."""
    folder = tmp_path_factory.mktemp("models")
    made = {kind: f"{LIBRARY[kind]}:{make(folder / kind)}" for kind, make in MODELS.items()}
    return made | {"vit": f"timm:{timm_vit(folder / 'vit')}", "resnet": f"timm:{timm_resnet(folder / 'resnet')}"}


@pytest.fixture
def tuning(make_setup: Make, models: dict[str, str]) -> Make:
    """`tuning(kind, image={}, text={}, **training)`: the setup with both sides of a model, resolved."""

    def make(kind: str, image: dict[str, Any] | None = None, text: dict[str, Any] | None = None, **more: Any) -> Setup:
        towers = {
            "image": ImageTower(model=models[kind], **(image or {})),
            "text": TextTower(model=models[kind], **(text or {})),
        }
        return with_models(make_setup(**{"lr": 1e-3, "steps": STEPS, **more}).model_copy(update=towers), {})

    return make


@pytest.fixture
def of_timm(tuning: Make, models: dict[str, str]) -> Make:
    """`of_timm(kind, text={}, **image)`: a timm folder beside the texts of CLIP."""

    def make(kind: str, text: dict[str, Any] | None = None, **image: Any) -> Setup:
        towers = {"image": ImageTower(model=models[kind], **image)}
        return with_models(tuning("clip", text=text).model_copy(update=towers), {})

    return make
