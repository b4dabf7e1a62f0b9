"""A fine-tuned model in the layout of its library, loaded by that library."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from support.commands import exit_code
from support.in_process import in_this_process
from support.own_data import write_image_folder
from support.peers import open_clip_clip, timm_vit, transformers_clip, transformers_siglip
from support.real_files import write_cifar, write_webdataset
from torch import Tensor
from torch.nn.functional import normalize

import benchsuite
from benchsuite.cli.evaluate import parse_shares
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.errors import UsageError
from benchsuite.execution.measure import carry_scale
from benchsuite.folders import built_in_recipes
from benchsuite.methods import create_method
from benchsuite.models.judged import interpolated, judged

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
RETAINED = """
[protocols.cifar10]
task = "zero-shot"
data = { name = "cifar10" }
options = { classes = "class", templates = "names" }
"""
BESIDES = """
[protocols.fruit]
task = "zero-shot"
data = { name = "clip-benchmark", options = { dataset = "wds/fruit" } }
options = { classes = "class", templates = "clip-benchmark" }
"""
MOVED = ("--model", "transformers:moved")
LORA = 'train = "lora", lora = { rank = 2, targets = LAYERS }'


def tuned(
    folder: Path, kind: str, train: str, protocols: str = "", *data: str, method: tuple[str, ...] = ("infonce",)
) -> str:
    """The record of a few steps on a tiny model, by the command."""
    library = "transformers" if kind == "siglip" else kind
    write_image_folder(folder / "photos", 40)
    MAKE[kind](folder / kind)
    (folder / "short.toml").write_text(SHORT.replace("TRAIN", train) + protocols)
    given = (*data, "--data", "pairs=photos", "--model", f"{library}:{kind}")
    in_this_process(folder, "run", *method, "--recipe", "short.toml", *given)
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
    front = yaml.safe_load((tmp_path / f"theirs-{kind}" / "README.md").read_text().split("---\n")[1])
    assert front["library_name"] == library
    before, _ = by_library(library, tmp_path / kind, standardize(to_unit(pictures), tower.mean, tower.std))
    assert not torch.allclose(before, image, atol=1e-3)
    for file in (path for path in (tmp_path / f"theirs-{kind}").rglob("*") if path.is_file()):
        assert str(tmp_path).encode() not in file.read_bytes(), file
    data = ("--task", "retrieval", "--data", "pairs=photos")
    assert exit_code("evaluate", f"{library}:theirs-{kind}", *data) == 0
    if kind == "siglip":
        assert exit_code("weights", run, "--out", "other", "--format", "open_clip") == 2
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("kind", "method", "moves"),
    [("transformers", "infonce-learnable", True), ("siglip", "siglip", True), ("transformers", "infonce", False)],
)
def test_the_logit_scale_is_the_one_that_was_learned(
    kind: str, method: str, moves: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the method starts, two steps of at most 0.01 away; a fixed temperature leaves the model's own."""
    from transformers import AutoModel

    run = tuned(tmp_path, kind, 'train = "last 1"', method=(method, "--set", "tau=0.5"))
    monkeypatch.chdir(tmp_path)
    assert exit_code("weights", run, "--out", "after", "--format", "transformers") == 0
    before, after = (AutoModel.from_pretrained(folder) for folder in (kind, "after"))
    if not moves:
        assert torch.equal(after.logit_scale, before.logit_scale)
        return
    assert 0 < abs(float(after.logit_scale.detach()) - np.log(2)) < 0.021
    if method == "siglip":
        assert 0 < abs(float(after.logit_bias.detach()) + 10) < 0.021


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"learned": "log-scale"}, -np.log(0.05)),
        ({"learned": "temperature"}, -np.log(0.05)),
        ({"version": "v1"}, 3.0),
        ({"version": "v2"}, 3.0),
    ],
)
def test_of_fastclip_one_learned_temperature_is_the_logit_scale(options: dict[str, str], scale: float) -> None:
    """Whether tau or -log tau is learned; not one that is constant, or one for each sample."""
    model = torch.nn.Module()
    model.logit_scale = torch.nn.Parameter(torch.tensor(3.0))
    carry_scale(model, create_method("fastclip", num_samples=8, tau=0.05, **options))
    assert model.logit_scale.item() == pytest.approx(scale)


def test_a_parameter_that_is_read_otherwise_is_no_logit_scale() -> None:
    model, method = torch.nn.Module(), create_method("infonce", num_samples=8)
    model.logit_scale = torch.nn.Parameter(torch.tensor(3.0))
    method.temperature = torch.nn.Parameter(torch.tensor(0.05))
    carry_scale(model, method)
    assert model.logit_scale.item() == 3


@pytest.mark.parametrize("text", ["0,x", "0,,1", "0,1.5", "-.1"])
def test_shares_that_are_no_numbers_from_0_to_1_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f'--interpolate "{text}": give numbers from 0 to 1'):
        parse_shares(text)


def test_interpolated_weights_are_those_of_the_library_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the model before the training, on the target and on a set with data of its own, to the record's numbers."""
    from transformers import AutoModel, AutoTokenizer

    write_cifar(tmp_path / "cifar", [*range(10)], range(10))
    run = tuned(tmp_path, "transformers", LORA.replace("LAYERS", '["q_proj"]'), RETAINED, "--data", "cifar10=cifar")
    monkeypatch.chdir(tmp_path)
    for given in (["own"], ["after", "--format", "transformers"]):
        assert exit_code("weights", run, "--out", *given) == 0
    before, after = (AutoModel.from_pretrained(folder).state_dict() for folder in ("transformers", "after"))
    mixed = AutoModel.from_pretrained("after").eval()
    mixed.load_state_dict({name: 0.7 * before[name] + 0.3 * own for name, own in after.items()})
    Path("transformers").rename("moved")
    (at,) = interpolated(judged("own"), [0.3], "transformers:moved")
    with torch.inference_mode():
        words = AutoTokenizer.from_pretrained("moved")(TEXTS, padding=True, return_tensors="pt")
        out: Any = mixed.get_text_features(**words)
        expected = normalize(out if isinstance(out, Tensor) else out.pooler_output, dim=-1)
    assert torch.allclose(at.sides.texts(TEXTS), expected, atol=1e-6)
    share = ("--interpolate", "0.3")
    assert exit_code("weights", run, "--out", "mixed", "--format", "transformers", *share, *MOVED) == 0
    written = AutoModel.from_pretrained("mixed").state_dict()
    for name, own in mixed.state_dict().items():
        assert torch.allclose(written[name], own, atol=1e-6), name
    assert "0.3 of the fine-tuned weights" in Path("mixed", "README.md").read_text()
    assert exit_code("weights", run, "--out", "none", *share, *MOVED) == 2
    wanted = ("evaluate", "own", "--data", "pairs=photos", "--data", "cifar10=cifar", "--interpolate", "0,.3,1")
    capsys.readouterr()
    assert exit_code(*wanted, *MOVED, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told[2]["results"] == json.loads(Path(run).read_text())["results"]
    assert exit_code("evaluate", "transformers:moved", "--recipe", "short.toml", *wanted[2:6], "--json") == 0
    assert told[0]["results"] == json.loads(capsys.readouterr().out)["results"]
    assert exit_code(*wanted, *MOVED) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["alpha", "retrieval.r_mean", "cifar10.top1"]
    assert exit_code(*wanted, "--model", "transformers:after") == 2
    assert "its weights have changed" in capsys.readouterr().err
    assert exit_code("evaluate", "transformers:moved", *wanted[2:], "--task", "retrieval") == 2
    assert "is not a fine-tuned run of ours" in capsys.readouterr().err
    assert exit_code(*wanted) == 2
    assert "Say where the model before the training is: --model" in capsys.readouterr().err
    assert exit_code(*wanted[:-1], "0,2") == 2


def test_a_dry_run_says_what_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By `run`, `compare` and `repro` alike, and in which rows where these differ."""
    write_image_folder(tmp_path / "photos", 40)
    transformers_clip(tmp_path / "given")
    towers = SHORT.replace("TRAIN", 'train = "lora", projection = "new"', 1).replace("TRAIN", 'train = "last 1"')
    primary = 'primary.retrieval = { metric = "t2i_r10", difference = 0.01 }\n'
    (tmp_path / "short.toml").write_text(towers + primary)
    given = ("--recipe", "short.toml", "--data", "pairs=photos", "--model", "transformers:given", "--dry-run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchsuite.work.duration.seconds_of", lambda run: 1.0)
        for command in (("run", "infonce"), ("compare", "infonce", "siglip")):
            out = in_this_process(tmp_path, *command, *given)
            said = "training: image tower: LoRA of rank 8, a new projection; text tower: last 1 block"
            assert out.splitlines().count(said) == 1, out
    rows = ("--rows", "RN50/InfoNCE", "--rows", "ViT-B/16/InfoNCE")
    monkeypatch.chdir(tmp_path)
    exit_code("repro", "temo/table1", "--scale", "finetune", *rows, *given[2:])  # refused: too few pictures for a batch
    out = capsys.readouterr().out
    assert "  training: image tower: last 2 blocks; text tower: last 2 blocks (RN50 (transformers:given) " in out
    assert "  training: image tower: whole; text tower: last 2 blocks (ViT-B/16 (transformers:given) " in out
    assert "training:" not in in_this_process(tmp_path, "run", "infonce", "--recipe", "scenes-small", "--dry-run")


@pytest.mark.slow
def test_losses_are_compared_on_the_model_that_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs are the rows', though the recipe names another model: the request knows it by its weights. A set that
    is evaluated besides is read at the model's size, and has a column."""
    write_image_folder(tmp_path / "photos", 60)
    write_webdataset(tmp_path / "sets" / "wds_fruit", [[0, 1] * 4], side=40)
    transformers_clip(tmp_path / "given")
    recipe = built_in_recipes()["finetune-tiny"].read_text("utf-8")
    (tmp_path / "short.toml").write_text(
        recipe.replace("steps = 100", "steps = 2").replace("_steps = 10", "_steps = 1") + BESIDES
    )
    monkeypatch.setattr("benchsuite.work.duration.seconds_of", lambda run: 1.0)
    given = ("--recipe", "short.toml", "--data", "pairs=photos", "--model", "transformers:given", "--replicates", "3")
    sets = ("--data", "clip-benchmark=sets")
    out = in_this_process(tmp_path, "compare", "infonce", "siglip", *given, *sets, "--trials", "2")
    assert "paired: undecided" in out
    assert "pretrained (transformers:given) InfoNCE seed 0" in out
    assert "pretrained (transformers:given) siglip, replicate 0 trial" in out
    (page,) = (tmp_path / "reports" / "tables").glob("*.html")
    assert "transformers:given: its last two blocks are trained" in page.read_text("utf-8")
    assert "of OpenAI" not in page.read_text("utf-8"), "the recipe's own model"
    run = re.search(r"next:    benchsuite weights (\w+) --results runs", out)
    assert run
    assert run[1] in {*benchsuite.load_results(tmp_path / "runs").query("seed == 0").run_id}
    assert "fruit.top1" in (tmp_path / "runs" / "papers" / "infonce-vs-siglip" / "pairs.toml").read_text()
    trials = benchsuite.load_trials(tmp_path / "runs")
    assert trials.groupby(["method", "replicate"]).learning_rate.nunique().tolist() == [2] * 6
    results = benchsuite.load_results(tmp_path / "runs").query("method == 'siglip' and metric == 't2i_r10'")
    in_this_process(tmp_path, "weights", results.run_id.iloc[0], "--format", "transformers", "--out", "tuned")
    card, values = (tmp_path / "tuned" / "README.md").read_text(), 100 * results.value
    spread = 4.302653 * values.std() / 3**0.5  # Student's t of two degrees of freedom
    assert f"| retrieval.t2i_r10 | {values.iloc[0]:.2f} | {values.mean():.2f} ± {spread:.2f} |" in card
    (record,) = (tmp_path / "runs").glob(f"*-{results.run_id.iloc[0]}.json")
    assert f"lr = {json.loads(record.read_text())['method']['learning_rate']}" in card


def test_a_timm_folder_is_trained_kept_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the commands: what is written needs no folder of timm's, and scores as the run did."""
    monkeypatch.chdir(tmp_path)
    write_image_folder(tmp_path / "photos", 40)
    transformers_clip(tmp_path / "clip")
    timm_vit(tmp_path / "vit")
    lora = 'model = "timm:vit", train = "lora", lora = { targets = ["qkv"] }'
    recipe = SHORT.replace('model = "transformers:clip", TRAIN', lora, 1).replace("TRAIN", 'train = "none"')
    (tmp_path / "short.toml").write_text(recipe)
    in_this_process(tmp_path, "run", "infonce", "--recipe", "short.toml", "--data", "pairs=photos")
    (record,) = (tmp_path / "runs").glob("*.json")
    assert exit_code("weights", str(record), "--out", "own") == 0
    assert exit_code("weights", str(record), "--out", "theirs", "--format", "transformers") == 2
    assert "did not train both sides of one model" in capsys.readouterr().err
    (tmp_path / "vit").rename(tmp_path / "gone")
    capsys.readouterr()
    assert exit_code("evaluate", "own", "--task", "retrieval", "--data", "pairs=photos", "--json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["results"] == json.loads(record.read_text())["results"]
