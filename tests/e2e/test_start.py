"""`benchmarks/start.py`: recipes start on generated data."""

from functools import partial
from pathlib import Path

import pytest
from support.files_of import module_of
from support.forked import Forked, script

from benchsuite.planning.recipe import read_recipe

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


def test_a_recipe_starts_in_its_processes_without_its_files_and_one_of_no_known_tower_says_so(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(CIFAR)
    (tmp_path / "bad.toml").write_text(CIFAR.replace("test_resnet", "test_resent"))
    words = [str(tmp_path / "two.toml"), str(tmp_path / "bad.toml"), "--devices", "2"]
    start = Forked(words, tmp_path, partial(script, BENCHMARKS / "start.py"), HF_HUB_OFFLINE="1")
    code, out, err = start.communicate()
    assert code == 1, err
    good, bad = out.splitlines()
    assert "4 pairs of a batch of 12 start in 2 processes: " in good
    assert good.endswith(" GiB a process (2 shares, bf16, ZeRO 1, sgd)")
    assert "not start: " in bad
    assert 'Did you mean "test_resnet"' in bad


def test_pretrained_towers_stand_in_with_their_architecture_and_all_else_as_it_is(forgetful_registries: None) -> None:
    start = module_of(BENCHMARKS / "start.py")
    recipe = read_recipe("epic-paper")
    setup = start.stood_in(recipe.setup("ViT-B"), 32)
    assert setup.data.options["shape"] == [16, 224, 224, 3]
    assert not setup.image.pretrained
    assert not setup.text.pretrained
    assert (setup.text.transformer, setup.text.vocabulary) == ("distilbert", 30522)
    kept = ("processes", "zero_stage", "precision", "accumulation")
    assert [getattr(setup.training, name) for name in kept] == [getattr(recipe.training, name) for name in kept]
    assert (setup.optimizer, setup.augmentation) == (recipe.optimizer, recipe.augmentation)
    own = setup.text.model_copy(update={"pretrained": True, "transformer": "/models/own", "vocabulary": None})
    assert start.from_random_weights(own) == own
