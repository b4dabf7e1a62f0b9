"""Other people's models through our protocols, against a direct computation with their own libraries."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.commands import exit_code
from support.own_data import write_image_folder
from support.peers import opened_by_open_clip, transformers_siglip
from support.real_files import write_cifar
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.synthetic.scenes import Scenes
from benchsuite.evaluation import geometry, retrieval

SIZES = {"train": 96, "validation": 8, "test": 40, "gallery": 8}
DATA = ["--data", "scenes", *(part for k, v in SIZES.items() for part in ("--data", f"scenes.{k}={v}"))]
COLOURS = ["--set", "classes=colour"]


@pytest.fixture(scope="module")
def scenes() -> Any:
    return create_dataset("scenes", **SIZES)


@torch.inference_mode()
def by_transformers(folder: Path, images: NDArray[np.uint8], texts: Sequence[str]) -> tuple[Tensor, Tensor, Tensor]:
    """Images, texts, and images before the projection, as the library's own examples have it."""
    from transformers import AutoTokenizer, CLIPModel

    model, words = CLIPModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    about = json.loads((folder / "preprocessor_config.json").read_text())
    pixels = torch.tensor(images).permute(0, 3, 1, 2) / 255
    pixels = (pixels - torch.tensor(about["image_mean"]).view(3, 1, 1)) / torch.tensor(about["image_std"]).view(3, 1, 1)
    tokens = words(list(texts), padding=True, truncation=True, max_length=16, return_tensors="pt")
    tokens = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    features = model.vision_model(pixel_values=pixels).pooler_output
    out = model(pixel_values=pixels, **tokens)
    return out.image_embeds, out.text_embeds, features


@torch.inference_mode()
def by_open_clip(folder: Path, images: NDArray[np.uint8], texts: Sequence[str]) -> tuple[Tensor, Tensor, Tensor]:
    from PIL import Image

    model, transform, words = opened_by_open_clip(folder)
    pixels = torch.stack([transform(Image.fromarray(image)) for image in images])
    tokens = words(list(texts))
    image, text = model.eval().encode_image(pixels), model.encode_text(tokens)
    projection, model.visual.proj = model.visual.proj, None
    features = model.visual(pixels)
    assert torch.allclose(features @ projection, image, atol=1e-5)
    return image, text, features


DIRECTLY = {"transformers": by_transformers, "open_clip": by_open_clip}


def evaluated(capsys: pytest.CaptureFixture[str], model: str, task: str, *options: str) -> Any:
    assert exit_code("evaluate", model, "--task", task, *DATA, *options, "--json") == 0
    out = capsys.readouterr().out
    return json.loads(out[out.index("{") :])


@pytest.mark.parametrize("library", ["transformers", "open_clip"])
def test_scores_are_those_of_the_library(
    library: str, folders: dict[str, Path], scenes: Scenes, capsys: pytest.CaptureFixture[str]
) -> None:
    model, split = f"{library}:{folders[library]}", scenes.split("test")
    captions = [text for texts in split.captions for text in texts]
    owners = np.repeat(np.arange(len(split)), [len(texts) for texts in split.captions])
    direct = DIRECTLY[library]
    image, text, _ = direct(folders[library], split.images, captions)
    told = evaluated(capsys, model, "retrieval")
    assert told["results"]["retrieval"]["metrics"] == pytest.approx(retrieval.score(image, text, owners), abs=1e-12)
    assert told["model"]["name"] == f"{library}:{folders[library].name}"
    assert told["model"]["sides"] == ["image", "text"]
    assert told["model"]["run"] is None
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    geometries = geometry.score(image.numpy(), text[first].numpy())
    measures = evaluated(capsys, model, "geometry")["results"]["geometry"]["measures"]
    assert measures["gap"] == pytest.approx(geometries["gap"], abs=1e-4)
    plain = evaluated(capsys, model, "knn-plain", *COLOURS)["results"]["knn-plain"]["metrics"]
    assert plain["k1_top1"] == nearest(scenes, lambda rows: direct(folders[library], rows, ["a"])[2])


def test_mixtures_on_a_collection_end_with_the_mean() -> None:
    from benchsuite.cli.evaluate import mixture_lines

    top1 = {name: SimpleNamespace(task="zero-shot", metrics={"top1": 0.25 * i}) for i, name in enumerate("ab", 1)}
    one: Any = SimpleNamespace(results=top1, means={"zero-shot.top1": 0.375})
    head, row = mixture_lines({0.5: one})
    assert head.endswith("a.top1  b.top1  mean of zero-shot.top1")
    assert row.split() == ["0.5", "25.00", "50.00", "37.50"]


def nearest(scenes: Scenes, encode: Any) -> float:
    """One-nearest-neighbour accuracy by features before the projection."""
    train, test = (scenes.split(name) for name in ("train", "test"))
    bank, queries = (normalize(encode(part.images), dim=-1) for part in (train, test))
    near = torch.cdist(queries, bank).argmin(1)
    return float(np.mean(train.labels["colour"][near.numpy()] == test.labels["colour"]))


@torch.inference_mode()
def test_texts_of_siglip_are_padded_as_it_was_trained(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, SiglipModel

    from benchsuite.models.judged import judged

    folder = transformers_siglip(tmp_path / "siglip")
    model = judged(f"transformers:{folder}")
    assert model.fit == "squash"
    texts = ["red", "a photo of big blue square"]
    tokens = AutoTokenizer.from_pretrained(folder)(texts, padding="max_length", max_length=16, return_tensors="pt")
    out = SiglipModel.from_pretrained(folder).eval().get_text_features(input_ids=tokens["input_ids"])
    rows = out if isinstance(out, Tensor) else out.pooler_output
    assert torch.allclose(model.sides.texts(texts), normalize(rows, dim=-1), atol=1e-6)


def test_one_tower_does_what_needs_one_tower(
    folders: dict[str, Path], scenes: Scenes, capsys: pytest.CaptureFixture[str]
) -> None:
    import timm

    model = f"timm:{folders['timm']}"
    told = evaluated(capsys, model, "knn-plain", *COLOURS)
    body = timm.create_model("test_resnet", num_classes=7, checkpoint_path=str(folders["timm"] / "model.safetensors"))
    body.reset_classifier(0)

    @torch.inference_mode()
    def encode(images: NDArray[np.uint8]) -> Tensor:
        pixels = torch.tensor(images).permute(0, 3, 1, 2) / 255
        mean, std = (torch.tensor(rows).view(3, 1, 1) for rows in ([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]))
        out: Tensor = body.eval()((pixels - mean) / std)
        return out

    assert told["results"]["knn-plain"]["metrics"]["k1_top1"] == nearest(scenes, encode)
    assert exit_code("evaluate", model, "--task", "retrieval", *DATA) == 2
    assert "it embeds texts, but timm:resnet has an image side alone" in capsys.readouterr().err


def test_a_recipe_gives_data_and_protocols(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What one tower cannot do is left out, and told; with --task, only protocols of that task are taken."""
    (tmp_path / "tiny.toml").write_text(RECIPE)
    assert exit_code("evaluate", f"timm:{folders['timm']}", "--recipe", tmp_path / "tiny.toml") == 0
    out = capsys.readouterr().out
    assert "note: retrieval (task retrieval) is left out: it embeds texts, but timm:resnet" in out
    assert "knn.k1_top1" in out
    model = f"transformers:{folders['transformers']}"
    options = ["--task", "retrieval", "--data", "scenes.test=30", "--json"]
    assert exit_code("evaluate", model, "--recipe", tmp_path / "tiny.toml", *options) == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("{") :])
    assert set(told["protocols"]) == {"retrieval"}
    assert told["data"]["options"]["test"] == 30
    assert exit_code("evaluate", model, "--recipe", tmp_path / "tiny.toml", "--task", "geometry") == 2
    assert "no protocol of task geometry can be evaluated" in capsys.readouterr().err


def test_the_model_that_is_named_is_evaluated_and_not_the_recipes(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recipe's own need not even be there: its data are read as the named model takes them."""
    write_image_folder(tmp_path / "photos", 40)
    model, data = f"transformers:{folders['transformers']}", ("--data", f"pairs={tmp_path / 'photos'}", "--json")
    side = '{ model = "transformers:nowhere" }'
    towers = f'text = {side}\nbackbones.CLIP = {{ description = "CLIP", tower = {side} }}\n'
    rest = "optimizer = { lr = 1e-3 }\ntraining = { batch = 8, steps = 1 }\nprojection = { width = 8 }\n"
    about = 'title = "t"\ntrack = "pairs"\ndescription = "d"\nseeds = 1\ndata = { name = "pairs" }\n'
    (tmp_path / "own.toml").write_text(f'{about}{towers}{rest}protocols.retrieval = {{ task = "retrieval" }}\n')
    told = []
    for given in (("--recipe", tmp_path / "own.toml"), ("--task", "retrieval")):
        assert exit_code("evaluate", model, *given, *data) == 0
        out = capsys.readouterr().out
        told.append(json.loads(out[out.index("{") :]))
    assert told[0]["model"] == told[1]["model"]
    assert told[0]["data"] == told[1]["data"]
    assert told[0]["results"] == told[1]["results"]
    assert exit_code("evaluate", model, "--recipe", tmp_path / "own.toml", "--model", model, *data) == 2
    assert "is for --interpolate alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--task", "knn"], 'model "nowhere": no such folder. Give one that `benchsuite weights` wrote'),
        (["timm:test_resnt", "--task", "knn"], 'timm has no such model, and there is no such folder. Did you mean "t'),
        (["open_clip:ViT-B-3", "--task", "knn"], "open_clip has no such model, and there is no such folder. Did you"),
        (
            ["open_clip:ViT-B-32", "--task", "knn"],
            "say which weights: open_clip:ViT-B-32?pretrained=TAG (known: openai",
        ),
        (["open_clip:ViT-B-32?pretrained=laion", "--task", "knn"], 'no weights "laion" (known: openai'),
        (["{timm}", "--task", "knn"], "say on which data: --data NAME, or NAME=FOLDER"),
        (["{timm}"], "say what to evaluate: --task TASK --data NAME[=FOLDER], or --recipe NAME"),
        (["{timm}", "--task", "kn", "--data", "scenes"], 'task "kn" does not exist'),
        (["{timm}", "--task", "knn", "--data", "scene"], 'dataset "scene" does not exist'),
        (["{timm}", "--task", "knn", "--data", "scenes"], '"classes" must be given'),
        (["{timm}", "--task", "knn", "--data", "scenes", "--set", "classes=color"], 'set of classes "color" does not'),
        (["{timm}", "--task", "knn", "--data", "latents", "--set", "classes=group"], "shows vectors, but timm:resnet"),
        (["{timm}", "--recipe", "scenes-smoke", "--set", "k=3"], "--set is for the options of one task"),
        (["{timm}", "--task", "knn", "--data", "scenes", "--set", "k"], "write name=value"),
    ],
)
def test_what_cannot_be_evaluated_is_one_clear_message(
    arguments: list[str], message: str, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [text.format(timm=f"timm:{folders['timm']}") if text == "{timm}" else text for text in arguments]
    assert exit_code("evaluate", *given) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_open_clip_is_optional(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchsuite.models.clip_models import open_clip_model

    open_clip_model.cache_clear()
    monkeypatch.setitem(sys.modules, "open_clip", None)
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", "--task", "retrieval", *DATA) == 2
    assert "pip install open-clip-torch" in capsys.readouterr().err


def test_data_are_read_as_the_model_takes_them_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    from benchsuite.encoders.evaluate import Wanted, plan_evaluation

    folder = str(write_cifar(tmp_path / "cifar", [*range(10)], range(10)))
    model: Any = SimpleNamespace(size=24, fit="squash", exported=None, embeds={"image"}, takes="images")

    def read(**given: str) -> dict[str, Any]:
        folders = {"cifar10": folder, **{f"cifar10.{name}": value for name, value in given.items()}}
        wanted = Wanted("knn-plain", {"classes": "class"}, dataset="cifar10", folders=folders)
        return plan_evaluation(model, wanted).data.options

    assert (read()["size"], read()["fit"]) == (24, "squash")
    assert (read(size="16")["size"], read(size="16")["fit"]) == (16, "squash")


def test_pictures_of_another_size_are_resized(folders: dict[str, Path]) -> None:
    from benchsuite.models.judged import judged

    model = judged(f"transformers:{folders['transformers']}")
    small = np.random.default_rng(0).integers(0, 255, (3, 20, 20, 3), np.uint8)
    split = Split("test", small)
    assert model.sides.pictures(split.images).shape == (3, 24)


RECIPE = f"""
title = "tiny"
track = "scenes"
description = "a few steps"
seeds = 1
data = {{ name = "scenes", options = {{ {", ".join(f"{k} = {v}" for k, v in SIZES.items())} }} }}
projection = {{ width = 12 }}
optimizer = {{ lr = 1e-3 }}
training = {{ batch = 32, steps = 2 }}
backbones.RN50 = {{ description = "tiny", tower = {{ timm = "test_resnet" }} }}
[text]
transformer = "distilbert"
vocabulary = 200
config = {{ dim = 16, hidden_dim = 32, n_layers = 1, n_heads = 2 }}
[protocols]
retrieval = {{ task = "retrieval" }}
knn = {{ task = "knn-plain", options = {{ classes = "colour" }} }}
"""
