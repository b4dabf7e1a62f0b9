import numpy as np
import pytest
import torch
from pydantic import ValidationError

from benchsuite.errors import UsageError
from benchsuite.models.vectors import VectorEncoder, VectorWords
from benchsuite.tower_settings import MLP, ImageTower, TextTower


@pytest.mark.parametrize(("layers", "linear"), [(1, True), (2, False), (3, False)])
def test_one_layer_is_linear_and_more_are_not(layers: int, linear: bool) -> None:
    tower = VectorEncoder(MLP(layers=layers, hidden=16), inputs=8)
    a, b = torch.randn(2, 32, 8)
    zero = tower(torch.zeros(1, 8))
    assert tower(a).shape == (32, 16)
    assert torch.allclose(tower(a + b) + zero, tower(a) + tower(b), atol=1e-5) == linear


def test_texts_that_are_words_are_refused() -> None:
    read = VectorWords(3)
    assert read([np.zeros(3, np.float32), np.ones(3, np.float32)]).tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(UsageError, match='takes vectors; given the text "a cat"'):
        read(["a cat"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ImageTower(), 'timm = "..."'),
        (lambda: ImageTower(timm="resnet50", mlp=MLP()), "given timm"),
        (lambda: TextTower(mlp=MLP(), vocabulary=5, pool="mean"), "given pool, vocabulary"),
        (lambda: TextTower(vocabulary=5), 'transformer = "..."'),
    ],
)
def test_a_tower_is_a_model_or_an_mlp(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValidationError, match=message.replace("...", r"\.\.\.")):
        make()


def test_a_stored_head_is_read_again() -> None:
    tower = TextTower(mlp=MLP(layers=2))
    assert TextTower.model_validate(tower.model_dump(mode="json")) == tower
    assert tower.name == "MLP of 2 layers of 256"
