"""`benchmarks/start.py`: recipes start on generated data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CIFAR = """
title = "tiny pictures"
track = "cifar"
description = "two processes"
seeds = 1
projection = { width = 8, hidden = 8 }
data = { name = "cifar10" }
optimizer = { name = "sgd", lr = 1e-3 }
training = { batch = 12, steps = 9, processes = 2, precision = "bf16", zero_stage = 1 }
backbones.tiny = { description = "a ResNet", tower = { timm = "test_resnet", pretrained = true } }
protocols.knn = { task = "knn", options = { classes = "class" } }
"""


def python(*arguments: object) -> "subprocess.CompletedProcess[str]":
    paths = [str(BENCHMARKS), str(BENCHMARKS.parent)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False
    )


def test_a_recipe_starts_in_its_processes_without_its_files_and_one_of_no_known_tower_says_so(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(CIFAR)
    (tmp_path / "bad.toml").write_text(CIFAR.replace("test_resnet", "test_resent"))
    done = python(BENCHMARKS / "start.py", tmp_path / "two.toml", tmp_path / "bad.toml", "--devices", 2)
    assert done.returncode == 1, done.stderr
    good, bad = done.stdout.splitlines()
    assert "4 pairs of a batch of 12 start in 2 processes: " in good
    assert good.endswith(" GiB a process (2 shares, bf16, ZeRO 1, sgd)")
    assert "not start: " in bad
    assert 'Did you mean "test_resnet"' in bad


PROGRAM = """
from start import from_random_weights, stood_in
from benchsuite.planning.recipe import read_recipe

recipe = read_recipe("epic-paper")
setup = stood_in(recipe.setup("ViT-B"), 32)
assert setup.data.options["shape"] == [16, 224, 224, 3]
assert not setup.image.pretrained and not setup.text.pretrained
assert (setup.text.transformer, setup.text.vocabulary) == ("distilbert", 30522)
kept = ("processes", "zero_stage", "precision", "accumulation")
assert [getattr(setup.training, k) for k in kept] == [getattr(recipe.training, k) for k in kept]
assert setup.optimizer == recipe.optimizer and setup.augmentation == recipe.augmentation
own = setup.text.model_copy(update={"pretrained": True, "transformer": "/models/own", "vocabulary": None})
assert from_random_weights(own) == own
"""


def test_pretrained_towers_stand_in_with_their_architecture_and_all_else_as_it_is() -> None:
    done = python("-c", PROGRAM)
    assert done.returncode == 0, done.stderr
