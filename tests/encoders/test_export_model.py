"""A fine-tuned model in the layout of its library, loaded by that library."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.commands import exit_code
from support.in_process import in_this_process
from support.own_data import write_image_folder
from support.peers import open_clip_clip, transformers_clip, transformers_siglip
from torch import Tensor
from torch.nn.functional import normalize

import benchsuite
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.folders import built_in_recipes

MAKE = {"transformers": transformers_clip, "siglip": transformers_siglip, "open_clip": open_clip_clip}
TEXTS = ["a red thing, number 3", "green"]
SHORT = """
title = "tiny"
track = "pairs"
description = "a few steps of LoRA"
seeds = 1
keep_weights = true
data = { name = "pairs" }
projection = { width = 1 }
optimizer = { lr = 1e-2 }
training = { batch = 16, steps = 2 }
protocols.retrieval = { task = "retrieval" }
backbones.ViT = { description = "tiny", tower = { model = "transformers:clip", TRAIN } }
text = { model = "transformers:clip", TRAIN }
"""
LORA = 'train = "lora", lora = { rank = 2, targets = LAYERS }'


def tuned(folder: Path, kind: str, train: str) -> str:
    """The run_id of a few steps on a tiny model, by the command."""
    library = "transformers" if kind == "siglip" else kind
    write_image_folder(folder / "photos", 40)
    MAKE[kind](folder / kind)
    (folder / "short.toml").write_text(SHORT.replace("TRAIN", train))
    given = ("--data", "pairs=photos", "--model", f"{library}:{kind}")
    in_this_process(folder, "run", "infonce", "--recipe", "short.toml", *given)
    (record,) = (folder / "runs").glob("*.json")
    return str(record)


@torch.inference_mode()
def by_library(library: str, folder: Path, pixels: Tensor) -> tuple[Tensor, Tensor]:
    """Embeddings by the library alone."""
    if library == "open_clip":
        import open_clip

        place = f"local-dir:{folder.resolve()}"
        model = open_clip.create_model(place, require_pretrained=True).eval()
        return model.encode_image(pixels), model.encode_text(open_clip.get_tokenizer(place)(TEXTS))
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    siglip = model.config.model_type == "siglip"
    words = AutoTokenizer.from_pretrained(folder)(TEXTS, padding="max_length" if siglip else True, return_tensors="pt")
    given = {"input_ids": words["input_ids"]} if siglip else dict(words)
    out: list[Any] = [model.get_image_features(pixel_values=pixels), model.get_text_features(**given)]
    image, text = (each if isinstance(each, Tensor) else each.pooler_output for each in out)
    return image, text


@pytest.mark.parametrize(
    ("kind", "train"),
    [
        ("transformers", LORA.replace("LAYERS", '["q_proj"]')),
        ("siglip", 'train = "last 1"'),
        ("open_clip", LORA.replace("LAYERS", '["c_fc"]')),
    ],
)
def test_the_library_gives_the_embeddings_of_the_trained_towers(
    kind: str, train: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, library = tuned(tmp_path, kind, train), "transformers" if kind == "siglip" else kind
    monkeypatch.chdir(tmp_path)
    assert exit_code("weights", run, "--out", "own") == 0
    assert exit_code("weights", run, "--out", f"theirs-{kind}", "--format", library) == 0
    encoder = benchsuite.load_encoder("own")
    pictures = np.random.default_rng(0).integers(0, 255, (3, 32, 32, 3), np.uint8)
    tower: Any = encoder.about.setup.image
    image, text = by_library(
        library, tmp_path / f"theirs-{kind}", standardize(to_unit(pictures), tower.mean, tower.std)
    )
    assert np.abs(normalize(image, dim=-1).numpy() - encoder.images(pictures)).max() < 1e-5
    assert np.abs(normalize(text, dim=-1).numpy() - encoder.texts(TEXTS)).max() < 1e-5
    before, _ = by_library(library, tmp_path / kind, standardize(to_unit(pictures), tower.mean, tower.std))
    assert not torch.allclose(before, image, atol=1e-3)
    for file in (path for path in (tmp_path / f"theirs-{kind}").rglob("*") if path.is_file()):
        assert str(tmp_path).encode() not in file.read_bytes(), file
    data = ("--task", "retrieval", "--data", "pairs=photos")
    assert exit_code("evaluate", f"{library}:theirs-{kind}", *data) == 0
    if kind == "siglip":
        assert exit_code("weights", run, "--out", "other", "--format", "open_clip") == 2
        assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_losses_are_compared_on_the_model_that_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs are the rows', though the recipe names another model: the request knows it by its weights."""
    write_image_folder(tmp_path / "photos", 60)
    transformers_clip(tmp_path / "given")
    recipe = built_in_recipes()["finetune-tiny"].read_text("utf-8")
    (tmp_path / "short.toml").write_text(
        recipe.replace("steps = 100", "steps = 2").replace("_steps = 10", "_steps = 1")
    )
    monkeypatch.setattr("benchsuite.work.duration.seconds_of", lambda run: 1.0)
    given = ("--recipe", "short.toml", "--data", "pairs=photos", "--model", "transformers:given", "--replicates", "3")
    assert "paired: undecided" in in_this_process(tmp_path, "compare", "infonce", "siglip", *given)
