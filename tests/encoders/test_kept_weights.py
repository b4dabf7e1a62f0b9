"""Trained towers from the run that keeps them to a process that has only their folder."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from support.commands import exit_code
from support.in_process import InProcess
from support.peers import transformers_text
from support.tiny_recipes import VECTORS
from support.two_processes import two_process_folder

import benchsuite
import benchsuite.errors
from benchsuite.data import create_dataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder
from benchsuite.execution import measure as measuring
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.saved import save_towers
from benchsuite.models.sides import TrainedSides
from benchsuite.planning.plan import plan_run
from benchsuite.records.checkpoints import folder_of
from benchsuite.records.listing import find_run
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

SIZES = "train = 128, validation = 8, test = 48, gallery = 8"
RECIPE = f"""
title = "tiny"
track = "scenes"
description = "a few steps"
seeds = 1
keep_weights = true
data = {{ name = "scenes", options = {{ {SIZES} }} }}
projection = {{ width = 12 }}
optimizer = {{ lr = 1e-3 }}
training = {{ batch = 32, steps = 2 }}
backbones.RN50 = {{ description = "tiny", tower = {{ timm = "test_resnet" }} }}
"""
PAIRS = """
text = { transformer = "distilbert", vocabulary = 200, pool = "mean", max_tokens = 12, \
config = { dim = 16, hidden_dim = 32, n_layers = 1, n_heads = 2 } }
[protocols]
retrieval = { task = "retrieval" }
colours = { task = "zero-shot", options = { classes = "colour", templates = "scenes-colour-7" } }
knn = { task = "knn-plain", options = { classes = "colour" } }
geometry = { task = "geometry" }
"""
IMAGES = """
[protocols]
knn = { task = "knn-plain", options = { classes = "colour" } }
"""
LOAD = """
import sys, numpy as np, benchsuite
encoder = benchsuite.load_encoder(sys.argv[1])
given = np.load(sys.argv[2], allow_pickle=False)
texts = [str(text) for text in given["texts"]] if given["texts"].dtype.kind == "U" else given["texts"]
np.savez(sys.argv[3], images=encoder.images(given["images"]), texts=encoder.texts(texts))
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder of one run, by the command: its recipe says that weights are kept."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "tiny.toml").write_text(RECIPE + PAIRS)
    results = ("--results", folder / "runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchsuite.work.session.Pool", InProcess)
        assert exit_code("run", "infonce", "--recipe", folder / "tiny.toml", *results) == 0
    assert exit_code("weights", only(folder / "runs").run_id[:6], *results, "--out", folder / "out") == 0
    return folder


def only(results: Path) -> Record:
    (record,) = Store(results).read().records.values()
    return record


def trained(folder: Path, method: str, recipe: str, spy: pytest.MonkeyPatch) -> tuple[Record, Embedder]:
    """A run in this process, its weights exported to `out`, and the encoder that was trained."""
    (folder / "mine.toml").write_text(recipe)
    backbone = "mlp" if "backbones.mlp" in recipe else "RN50"
    run = plan_run(method, str(folder / "mine.toml"), backbone, 0, {}).model_copy(update={"keep_weights": True})
    seen: list[Any] = []
    save = measuring.save_towers
    spy.setattr(measuring, "save_towers", lambda *given: (seen.append(given), save(*given))[1])
    store = Store(folder / "runs")
    store.require_writable()
    store.write(*measuring.measure(run, folder=folder_of(store.folder, run.run_id)))
    assert exit_code("weights", run.run_id, "--results", store.folder, "--out", folder / "out") == 0
    (_, encoder, words, *_), = seen  # fmt: skip
    return only(store.folder), Embedder(TrainedSides(encoder, words, run.setup.image))


def in_a_fresh_process(folder: Path, images: Any, texts: Any) -> dict[str, np.ndarray]:
    """What the exported encoder gives where there is nothing but its folder."""
    alone = folder / "elsewhere"
    alone.mkdir()
    shutil.move(folder / "out", alone / "out")
    np.savez(alone / "given.npz", images=images, texts=texts)
    environment = {**os.environ, "BENCHSUITE_CACHE": str(alone / "cache"), "HF_HUB_OFFLINE": "1"}
    place = str(Path(benchsuite.__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [place, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", LOAD, "out", "given.npz", "made.npz"]
    done = subprocess.run(command, cwd=alone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(np.load(alone / "made.npz"))


@pytest.mark.slow
def test_a_fresh_process_embeds_as_the_trained_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, embed = trained(tmp_path, "infonce", RECIPE + PAIRS, monkeypatch)
    split = create_dataset("scenes", **record.setup.data.options).split("test")
    texts = [captions[0] for captions in split.captions]
    shutil.rmtree(tmp_path / "runs")
    made = in_a_fresh_process(tmp_path, split.images, np.array(texts))
    assert made["images"].dtype == np.float32
    assert np.abs(made["images"] - embed.images(split).numpy()).max() < 1e-6
    assert np.abs(made["texts"] - embed.texts(texts).numpy()).max() < 1e-6
    assert np.allclose(np.linalg.norm(made["texts"], axis=1), 1, atol=1e-6)


def test_towers_on_vectors_take_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, embed = trained(tmp_path, "infonce", VECTORS, monkeypatch)
    split = create_dataset("latents", **record.setup.data.options).split("test")
    captions = np.stack([lists[0] for lists in split.captions])
    encoder = benchsuite.load_encoder(tmp_path / "out")
    assert np.abs(encoder.images(split.images[:, 0]) - embed.images(split).numpy()).max() < 1e-6
    assert np.abs(encoder.texts(captions) - embed.texts(list(captions)).numpy()).max() < 1e-6
    with pytest.raises(UsageError, match=r"this tower takes vectors, float \[n, 128\]; given \[2, 3\]"):
        encoder.images(np.zeros((2, 3), np.float32))


@pytest.mark.slow
def test_a_pretrained_text_tower_needs_neither_its_folder_nor_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What began from a local folder is exported whole, and the folder's path is nowhere in it."""
    place = transformers_text(tmp_path / "secret place")
    text = f'text = {{ transformer = "{place}", pretrained = true, pool = "mean", max_tokens = 12 }}\n'
    _, embed = trained(tmp_path, "infonce", RECIPE + text + "protocols.retrieval = { task = 'retrieval' }", monkeypatch)
    shutil.rmtree(place)
    for file in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        assert str(tmp_path).encode() not in file.read_bytes(), file
    texts = ["a red square", "blue circle on the left", "big"]
    made = in_a_fresh_process(tmp_path, np.zeros((1, 32, 32, 3), np.uint8), np.array(texts))
    assert np.abs(made["texts"] - embed.texts(texts).numpy()).max() < 1e-6


def test_one_tower_is_kept_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained(tmp_path, "byol", RECIPE + IMAGES, monkeypatch)
    encoder = benchsuite.load_encoder(tmp_path / "out")
    assert not (tmp_path / "out" / "tokenizer").exists()
    with pytest.raises(UsageError, match="this encoder has no text tower"):
        encoder.texts(["a"])
    pictures = np.random.default_rng(0).integers(0, 255, (3, 32, 32, 3), np.uint8)
    assert encoder.images(pictures).shape == (3, 12)


def test_tensors_that_share_memory_are_kept(tmp_path: Path, make_record: Callable[..., Any]) -> None:
    setup = make_record()[0].setup
    encoder = DualEncoder(setup, 100)
    encoder.text_tower.body.embeddings.position_embeddings.weight = torch.nn.Parameter(
        encoder.text_tower.body.embeddings.word_embeddings.weight[:50].detach()
    )
    assert save_towers(tmp_path / "kept.safetensors", encoder, None, (32, 32, 3), "f00d")


@pytest.mark.slow
def test_under_zero_the_trained_weights_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = RECIPE.replace("steps = 2", "steps = 2, zero_stage = 2") + IMAGES
    record, embed = trained(tmp_path, "simclr", recipe, monkeypatch)
    split = create_dataset("scenes", **record.setup.data.options).split("test")
    made = benchsuite.load_encoder(tmp_path / "out").images(split.images)
    assert np.abs(made - embed.images(split).numpy()).max() < 1e-6


@pytest.mark.usefixtures("in_process")
@pytest.mark.slow
def test_repro_keeps_weights_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says of what is stored already that it has none."""
    own = two_process_folder(tmp_path / "own", ["ts", "infonce"], processes=1)
    table = ["repro", "two/pair", "--scale", "tiny", "--tables", own, "--report", tmp_path / "pages"]
    bare, kept = ([*table, "--rows", row, "--results", tmp_path / "runs"] for row in ("ts", "infonce"))
    assert exit_code(*bare) == 0
    assert not (tmp_path / "runs" / "weights").exists()
    assert exit_code(*kept, "--keep-weights") == 0
    records = Store(tmp_path / "runs").read().records.values()
    assert {record.method.name: record.weights is not None for record in records} == {
        "ts": False,
        "infonce": True,
    }
    assert len(list((tmp_path / "runs" / "weights").iterdir())) == 1
    assert not (tmp_path / "runs" / "checkpoints").exists()
    capsys.readouterr()
    assert exit_code(*bare, "--keep-weights") == 0
    assert "the run is stored without its weights" in capsys.readouterr().out


def test_evaluate_gives_the_metrics_of_the_record(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("evaluate", kept / "out", "--json") == 0
    record, told = only(kept / "runs").as_json(), json.loads(capsys.readouterr().out)
    assert told["results"] == record["results"]
    assert told["notes"] == []
    assert told["model"]["run"] == record["run_id"]


def test_evaluate_runs_another_task_on_other_data(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("evaluate", kept / "out", "--task", "sts", "--data", "scenes-sts", "--set", 'sets=["test"]') == 0
    assert "sts.test" in capsys.readouterr().out
    assert exit_code("evaluate", kept / "out", "--task", "retrieval", "--set", "split=gallery", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["results"]["retrieval"]["split_size"] == 8


def test_pictures_may_be_files_pillow_images_or_arrays(kept: Path, tmp_path: Path) -> None:
    encoder = benchsuite.load_encoder(kept / "out")
    pixels = np.random.default_rng(0).integers(0, 255, (2, 48, 40, 3), np.uint8)
    pictures = [Image.fromarray(row) for row in pixels]
    for i, picture in enumerate(pictures):
        picture.save(tmp_path / f"{i}.png")
    rows = encoder.images(pixels)
    assert rows.shape == (2, 12)
    for same in (pictures, [tmp_path / "0.png", str(tmp_path / "1.png")], list(pixels)):
        assert (encoder.images(same) == rows).all()
    assert encoder.images([]).shape == (0, 12)
    for wrong, message in (
        ([tmp_path / "2.png"], "not an image that can be decoded"),
        ([3], "item 0 is int; give a Pillow image"),
        (np.zeros((2, 8, 8), np.uint8), r"it takes images uint8 \[n, H, W, 3\]; given uint8 \[2, 8, 8\]"),
    ):
        with pytest.raises(UsageError, match=message):
            encoder.images(wrong)
    with pytest.raises(UsageError, match="give a list of texts, not one text"):
        encoder.texts("red")


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("break_", "message"),
    [
        (
            lambda f: damage(f / "model.safetensors"),
            "not what was exported: weights were edited",
        ),
        (lambda f: (f / "model.safetensors").write_bytes(b"cut"), "not what was exported"),
        (lambda f: shutil.rmtree(f / "tokenizer"), "tokenizer/tokenizer.json is missing, so no words can be read"),
        (
            lambda f: damage(f / "tokenizer" / "tokenizer.json"),
            "not what was exported: words were edited",
        ),
        (lambda f: (f / "config.json").unlink(), "no config.json. Give a folder that `benchsuite weights RUN"),
        (lambda f: (f / "config.json").write_text("{"), "config.json: not JSON"),
        (
            lambda f: (f / "config.json").write_text('{"model_type": "clip"}'),
            "It is a transformers model: write",
        ),
    ],
)
def test_a_broken_folder_is_one_clear_message(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], break_: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(kept / "out", tmp_path / "out")
    break_(tmp_path / "out")
    assert exit_code("evaluate", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_what_was_not_kept_says_how_to_keep_it(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make_record: Callable[..., Any]
) -> None:
    store = Store(tmp_path / "runs")
    store.require_writable()
    record, ranks = make_record()
    store.write(record, ranks)
    assert "weights" not in json.loads(find_run(store.folder, record.run_id).read_text())
    assert exit_code("weights", record.run_id, "--results", store.folder, "--out", tmp_path / "out") == 2
    assert "its trained weights were not kept. Measure it again with --keep-weights" in capsys.readouterr().err
    assert exit_code("weights", "nothing", "--results", store.folder, "--out", tmp_path / "out") == 2
    assert exit_code("weights", only(kept / "runs").run_id, "--results", kept / "runs", "--out", kept / "out") == 2
    assert "it exists and is not an empty folder" in capsys.readouterr().err


def test_verify_looks_at_weights_that_are_there(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(kept / "runs", tmp_path / "runs")
    (file,) = (tmp_path / "runs" / "weights").iterdir()
    assert exit_code("verify", tmp_path / "runs") == 0
    damage(file)
    capsys.readouterr()
    assert exit_code("verify", tmp_path / "runs") == 1
    assert f"weights/{file.name} are not what it was sealed with" in capsys.readouterr().out
    run = only(tmp_path / "runs").run_id
    assert exit_code("weights", run, "--results", tmp_path / "runs", "--out", tmp_path / "out") == 2
    assert "is not what the record was sealed with" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    file.unlink()
    assert exit_code("verify", tmp_path / "runs") == 0
    assert "weights/" not in capsys.readouterr().out.partition("This cannot check")[0]
    assert exit_code("weights", run, "--results", tmp_path / "runs", "--out", tmp_path / "out") == 2
    assert "was deleted, or not copied with the record" in capsys.readouterr().err
    (file.parent / "stray.safetensors").write_bytes(b"")
    assert exit_code("verify", tmp_path / "runs") == 0
    assert "weights/stray.safetensors: weights without a record" in capsys.readouterr().out


def test_a_stored_run_without_weights_is_told_and_not_repeated(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same run, kept or not, has one identity; --keep-weights does not replace a record."""
    recipe = tmp_path / "tiny.toml"
    recipe.write_text((kept / "tiny.toml").read_text().replace("keep_weights = true", ""))
    planned = plan_run("infonce", str(recipe), "RN50", 0, {})
    assert planned.run_id == only(kept / "runs").run_id
    assert not planned.keep_weights
    bare = read_record(find_run(kept / "runs", planned.run_id)).as_json()
    content = {**bare, "setup": planned.setup, "method": planned.method, "weights": None}
    for name in ("schema", "digest", "run_id", "setup_id", "method_id"):
        del content[name]
    store = Store(tmp_path / "runs")
    store.require_writable()
    ranks = (kept / "runs" / bare["ranks"]["file"]).read_bytes()
    store.write(Record.seal(**content), ranks)
    assert exit_code("run", "infonce", "--recipe", recipe, "--results", store.folder, "--keep-weights") == 0
    assert "the run is stored without its weights" in capsys.readouterr().out


def test_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a run is a file here, so nothing can be written to it."""
    (tmp_path / "mine.toml").write_text(RECIPE + IMAGES)
    run = plan_run("simclr", str(tmp_path / "mine.toml"), "RN50", 0, {})
    (tmp_path / "checkpoints").write_text("")
    with pytest.raises(benchsuite.errors.RunError, match="the trained weights cannot be written"):
        measuring.measure(run, folder=folder_of(tmp_path, run.run_id))
