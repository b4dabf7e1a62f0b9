from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, create_task
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCE
from benchsuite.objectives.softmax import info_nce
from benchsuite.registry import register_method
from benchsuite.setup import Augmentation, Optimizer, Setup
from benchsuite.training.loop import train

Make = Callable[..., Setup]


class Images(Embedder):
    """Embeds images without an encoder."""

    def __init__(self) -> None:
        pass

    def images(self, split: Split, features: bool = False) -> torch.Tensor:
        return torch.eye(len(split))


@pytest.fixture
def views_only(forgetful_registries: None) -> Method:
    @register_method("views-only", serves=("image", "text"))
    class ViewsOnly(Method):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            assert not batch.is_pair
            one, other = batch.views
            return Loss(info_nce(one @ other.T, 0.1))

    return ViewsOnly()


@pytest.mark.parametrize("tower", ["image", "text"])
def test_one_tower_learns_from_two_views(tower: str, make_setup: Make, split: Split, views_only: Method) -> None:
    other = {"image": "text", "text": "image"}[tower]
    projector = {"projection": {"width": 8, "hidden": 16}, other: None}
    setup = Setup.model_validate(make_setup(steps=8).model_dump() | projector)
    trained = train(setup, views_only, split, 0)
    assert trained.curves["loss"][-1] < trained.curves["loss"][0]
    assert not any(name.startswith(other) for name, _ in trained.encoder.named_parameters())


def test_images_without_captions_train_alike(make_setup: Make, split: Split, views_only: Method) -> None:
    setup = Setup.model_validate(make_setup(steps=2).model_dump() | {"text": None})
    bare = Split(split.name, split.images)
    with_captions, without = (train(setup, views_only, each, 0) for each in (split, bare))
    assert without.curves["loss"] == with_captions.curves["loss"]
    assert without.digests["batches"] != with_captions.digests["batches"]


@pytest.mark.parametrize("task", ["retrieval", "geometry"])
def test_a_task_of_captions_says_that_there_are_none(task: str, split: Split) -> None:
    class Bare(PairDataset):
        card: ClassVar = Card("dataset", "bare", __name__, "Bare", "tests", __file__, "")

        def manifest(self) -> Manifest:
            return Manifest("bare", 1, {"test": 4}, "0")

        def read(self, split_name: str) -> Split:
            return Split(split_name, split.images[:4])

    with pytest.raises(UsageError, match=f"split test has no captions, which {task}.* needs"):
        create_task(task).evaluate(Images(), Bare())


def test_a_text_tower_says_that_there_are_no_captions(make_setup: Make, split: Split) -> None:
    with pytest.raises(UsageError, match="split train has no captions, which a text tower needs"):
        train(make_setup(), InfoNCE(), Split(split.name, split.images), 0)


def test_dropout_makes_the_second_view_of_a_text(make_setup: Make, split: Split, views_only: Method) -> None:
    def first_loss(dropout: float) -> float:
        setup = make_setup(dropout=dropout, steps=1)
        changes = {"image": None, "augmentation": Augmentation(text_view="dropout")}
        return train(setup.model_copy(update=changes), views_only, split, 0).curves["loss"][0]

    assert first_loss(0.0) < first_loss(0.5)


def test_a_method_for_pairs_is_refused_with_the_reason(make_setup: Make, split: Split) -> None:
    setup = make_setup().model_copy(update={"text": None})
    with pytest.raises(
        UsageError, match="infonce trains an image and a text tower; the setup has an image tower alone"
    ):
        train(setup, InfoNCE(), split, 0)


@pytest.mark.parametrize("name", ["adamw", "adamp", "radam", "nadam", "sgd", "sgdp", "nvnovograd", "lars"])
def test_every_optimizer_trains_under_deepspeed(name: Any, make_setup: Make, split: Split) -> None:
    setup = make_setup(dropout=0.0, steps=3).model_copy(update={"optimizer": Optimizer(name=name, lr=1e-3)})
    losses = train(setup, InfoNCE(tau=0.1), split, 0).curves["loss"]
    assert len(set(losses)) == 3


def test_optimizers_differ_from_each_other(make_setup: Make, split: Split) -> None:
    names: tuple[Any, ...] = ("adamw", "sgd", "lars", "nvnovograd")
    setups = [
        make_setup(dropout=0.0, steps=2).model_copy(update={"optimizer": Optimizer(name=n, lr=1e-2, weight_decay=0.1)})
        for n in names
    ]
    ends = [train(setup, InfoNCE(tau=0.1), split, 0).curves["loss"] for setup in setups]
    assert len({first for first, _ in ends}) == 1
    assert len({last for _, last in ends}) == len(names)
