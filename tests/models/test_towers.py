from pathlib import Path
from typing import Any

import pytest
import torch
from support.peers import transformers_clip

from benchsuite.errors import UsageError
from benchsuite.models import pretrained
from benchsuite.models.tokenizer import Tokens
from benchsuite.models.towers import ImageEncoder, TextEncoder
from benchsuite.tower_settings import ImageTower, TextTower

VIT = {"img_size": 8, "patch_size": 4, "depth": 1}
SMALL = {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}


def text_encoder(**changes: Any) -> TextEncoder:
    return TextEncoder(TextTower(**{"transformer": "distilbert", "vocabulary": 50, "config": SMALL, **changes}), 50)


def test_an_image_tower_maps_images_to_its_width() -> None:
    tower = ImageEncoder(ImageTower(timm="test_vit", options=VIT))
    assert tower(torch.zeros(2, 3, 8, 8)).shape == (2, tower.width)


@pytest.mark.parametrize(
    "tower",
    [
        ImageTower(timm="test_resent"),
        ImageTower(timm="nosuch:model"),
        ImageTower(timm="test_vit", options={"img_sise": 8}),
        ImageTower(timm="test_vit", options={"num_heads": 7}),
        ImageTower(timm="test_vit", options={"patch_size": "small"}),
    ],
)
def test_an_image_tower_that_cannot_be_made_is_refused_in_one_line(tower: ImageTower) -> None:
    with pytest.raises(UsageError, match=f'image tower "{tower.timm}"') as caught:
        ImageEncoder(tower)
    assert "\n" not in str(caught.value)


def test_a_misspelt_timm_name_is_one_clear_message() -> None:
    with pytest.raises(UsageError, match=r'image tower "test_resent".*test_resnet'):
        ImageEncoder(ImageTower(timm="test_resent"))


@pytest.mark.parametrize(
    "changes",
    [
        {"transformer": "distlbert"},
        {"config": {**SMALL, "n_heads": 3}},
        {"config": {**SMALL, "dim": "wide"}},
        {"config": {**SMALL, "activation": "rellu"}},
        {"config": {**SMALL, "vocab_size": 9}},
        {"config": {**SMALL, "n_layer": 9}},
    ],
)
def test_a_text_tower_that_cannot_be_made_is_refused_briefly(changes: dict[str, Any]) -> None:
    name = changes.get("transformer", "distilbert")
    with pytest.raises(UsageError, match=f'text tower "{name}"') as caught:
        text_encoder(**changes)
    assert len(str(caught.value)) < 1000


def test_a_model_of_two_towers_is_asked_for_as_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'text tower ".*": a clip model has two .* Write model = "transformers:'):
        text_encoder(transformer=str(transformers_clip(tmp_path)), pretrained=True, vocabulary=None, config={})


@pytest.mark.parametrize("pool", ["first", "mean", "last"])
def test_padding_does_not_change_a_text(pool: str) -> None:
    encoder = text_encoder(pool=pool).eval()
    short = Tokens(torch.tensor([[2, 7, 3]]), torch.ones(1, 3, dtype=torch.long))
    padded = Tokens(torch.tensor([[2, 7, 3, 0, 0]]), torch.tensor([[1, 1, 1, 0, 0]]))
    with torch.no_grad():
        assert torch.allclose(encoder(short), encoder(padded), atol=1e-6)
        assert encoder(short).shape == (1, encoder.width)


def test_pools_differ_and_the_mean_is_over_all_tokens() -> None:
    tokens = Tokens(torch.tensor([[2, 7, 3]]), torch.ones(1, 3, dtype=torch.long))
    encoder = text_encoder(pool="mean").eval()
    with torch.no_grad():
        states = encoder.body(input_ids=tokens.ids, attention_mask=tokens.mask).last_hidden_state
        assert torch.allclose(encoder(tokens), states.mean(1), atol=1e-6)
        encoder.pool = "first"
        assert torch.allclose(encoder(tokens), states[:, 0])
        encoder.pool = "last"
        assert torch.allclose(encoder(tokens), states[:, -1])


def test_clips_causal_transformer_is_read_at_its_last_token() -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    encoder = text_encoder(transformer="clip_text_model", config=sizes, pool="last").eval()
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 7, 9, 9, 3]])
    with torch.no_grad():
        one, other = encoder(Tokens(ids, torch.ones_like(ids)))
        states = encoder.body(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    assert not torch.allclose(one, other)
    assert torch.allclose(states[0, :2], states[1, :2], atol=1e-6)  # what comes later is not seen


def test_a_stem_for_small_images_keeps_their_detail() -> None:
    usual, small = (ImageEncoder(ImageTower(timm="resnet18", stem=stem)).eval() for stem in (None, "cifar"))
    grids = []
    for tower in (usual, small):
        tower.body.layer4.register_forward_hook(lambda *call: grids.append(call[-1].shape[-1]))
        assert tower(torch.zeros(1, 3, 32, 32)).shape == (1, 512)
    assert grids == [1, 4]
    assert small.body.conv1.weight.shape == (64, 3, 3, 3)


def test_a_stem_is_for_resnets_that_have_one() -> None:
    with pytest.raises(UsageError, match='image tower "test_vit": stem = "cifar" is for ResNets'):
        ImageEncoder(ImageTower(timm="test_vit", stem="cifar"))


def test_a_model_that_cannot_be_read_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for = []

    def unreachable(wanted: object) -> None:
        asked_for.append(wanted)
        raise UsageError("no hub")

    monkeypatch.setattr(pretrained, "clip_model", unreachable)
    for _ in range(3):
        with pytest.raises(UsageError, match="no hub"):
            pretrained.opened("transformers:nobody/nothing")
    assert len(asked_for) == 1
