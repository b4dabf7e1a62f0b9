import numpy as np
import torch
from torch import nn

from benchsuite.models.dual_encoder import projection, seeded_encoder
from benchsuite.models.tokenizer import Tokens
from benchsuite.models.towers import weights_digest
from benchsuite.setup import Data, Optimizer, Projection, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower, TextTower

SETUP = Setup(
    data=Data(name="scenes"),
    image=ImageTower(timm="test_vit", options={"img_size": 8, "patch_size": 4, "depth": 1}),
    text=TextTower(
        transformer="distilbert", vocabulary=50, config={"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}
    ),
    projection={"width": 6},
    optimizer=Optimizer(lr=1e-3),
    training=Training(batch=4, steps=2),
    protocols={"retrieval": Protocol(task="retrieval")},
)


def test_both_sides_land_in_one_space() -> None:
    encoder = seeded_encoder(SETUP, 50, 0)
    tokens = Tokens(torch.ones(4, 3, dtype=torch.long), torch.ones(4, 3, dtype=torch.long))
    assert encoder.image(torch.zeros(4, 3, 8, 8)).shape == encoder.text(tokens).shape == (4, 6)


def test_same_seed_same_weights() -> None:
    torch.manual_seed(1)
    one = weights_digest(seeded_encoder(SETUP, 50, 3))
    torch.manual_seed(2)
    assert weights_digest(seeded_encoder(SETUP, 50, 3)) == one


def test_another_seed_has_other_weights() -> None:
    assert weights_digest(seeded_encoder(SETUP, 50, 3)) != weights_digest(seeded_encoder(SETUP, 50, 4))


def test_global_random_numbers_are_left_alone() -> None:
    torch.manual_seed(5)
    np.random.seed(5)
    before, numbers = torch.get_rng_state(), np.random.get_state()[1].tolist()
    seeded_encoder(SETUP, 50, 3)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.random.get_state()[1].tolist() == numbers


def test_digest_moves_with_one_number_of_one_weight_or_buffer() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    told = {weights_digest(model)}
    for tensor in model.state_dict().values():
        tensor.view(-1)[0] += 1
        told.add(weights_digest(model))
    assert len(told) == 1 + len(model.state_dict())


def test_digest_does_not_depend_on_memory_layout_or_on_devices_and_grads() -> None:
    model = nn.Conv2d(3, 4, 3)
    told = weights_digest(model)
    assert weights_digest(model.to(memory_format=torch.channels_last)) == told
    assert weights_digest(model.requires_grad_(False)) == told


def test_digest_covers_a_number_without_dimension() -> None:
    model = nn.Module()
    model.nu = nn.Parameter(torch.tensor(1.0))
    told = weights_digest(model)
    model.nu.data += 1
    assert weights_digest(model) != told


def test_a_hidden_layer_of_the_projection_is_normalised_and_one_layer_is_not() -> None:
    features = torch.randn(16, 5, generator=torch.Generator().manual_seed(0))
    plain, hidden = (projection(5, Projection(width=6, hidden=width)).train() for width in (None, 8))
    assert torch.allclose(plain(10 * features), 10 * plain(features), atol=1e-5)
    assert torch.allclose(hidden(10 * features), hidden(features), atol=1e-2)
