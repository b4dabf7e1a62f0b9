"""A build is whole or absent, says what it is, and reads back as it was written."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from benchsuite.data.scenes import dataset

from benchsuite.data import scenes

SIZES = {"train": 40, "validation": 6, "test": 6}


def visible(folder):
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def test_reads_back_what_was_generated(tmp_path):
    made, read = scenes.generate(1, SIZES), scenes.load(scenes.build(tmp_path, 1, SIZES))
    assert list(read) == list(made) == list(SIZES)
    for name, split in read.items():
        assert split.digest() == made[name].digest()
        assert split.images.shape == (SIZES[name], 32, 32, 3)
        assert split.images.dtype == np.uint8
        assert split.images.flags.c_contiguous


def test_manifest_tells_what_was_built(tmp_path):
    told = scenes.manifest(scenes.build(tmp_path, 1, SIZES, 0.1))
    assert (told["name"], told["version"], told["sizes"]) == ("scenes", 1, SIZES)
    assert told["parameters"]["seed"] == 1
    assert told["parameters"]["mismatched"] == 0.1
    assert told == scenes.describe(scenes.generate(1, SIZES, 0.1), 1, 0.1)


def test_a_second_build_reuses_the_first_and_another_request_does_not(tmp_path, monkeypatch):
    first = scenes.build(tmp_path, 1, SIZES)
    other = scenes.build(tmp_path, 1, SIZES, 0.2)
    monkeypatch.setattr(dataset, "generate", None)
    assert scenes.build(tmp_path, 1, SIZES) == first != other


def test_verify_names_the_split_that_changed(tmp_path):
    path = scenes.build(tmp_path, 1, SIZES)
    assert scenes.verify(path) == []
    file = path / dataset.MANIFEST
    told = scenes.manifest(path)["digests"]["test"]
    file.write_text(file.read_text().replace(told, "0" * 64))
    assert scenes.verify(path) == ["test"]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_mismatched_share_is_as_stated_and_only_in_training(share):
    splits = scenes.generate(2, {"train": 200, "validation": 50, "test": 50}, share)
    honest = scenes.generate(2, {"train": 200}, 0.0)["train"]
    train = splits["train"]
    assert (~train.matched).sum() == round(200 * share)
    assert splits["validation"].matched.all()
    assert splits["test"].matched.all()
    for i, matched in enumerate(train.matched):
        assert (train.captions[i] == honest.captions[i]) == matched
        assert (train.paraphrases[i] == honest.paraphrases[i]) == matched
    assert (train.images == honest.images).all()
    assert (train.labels["both"] == honest.labels["both"]).all()
    wrong = np.flatnonzero(~train.matched)
    assert sorted(train.captions[i] for i in wrong) == sorted(honest.captions[i] for i in wrong)
    for i in wrong:  # caption and paraphrases come from the same other picture
        assert honest.captions.index(train.captions[i]) == honest.paraphrases.index(train.paraphrases[i])


def test_a_failed_build_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(dataset, "describe", fail)
    with pytest.raises(RuntimeError, match="disk on fire"):
        scenes.build(tmp_path, 1, SIZES)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time
from pathlib import Path
from benchsuite.data.scenes import dataset
real, done = dataset._save, []
def slow(split, folder):
    if done:
        print("half", flush=True)
        time.sleep(60)
    done.append(real(split, folder))
dataset._save = slow
dataset.build(Path(sys.argv[1]), 1, {"train": 40, "validation": 6, "test": 6})
"""


def test_a_killed_build_leaves_no_half(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "half\n"
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
    assert list(tmp_path.iterdir()) != [], "it was killed before it wrote anything"
    assert visible(tmp_path) == []
    path = scenes.build(tmp_path, 1, SIZES)
    assert scenes.verify(path) == []
    assert visible(tmp_path) == [path]


def test_drafts_of_builds_killed_long_ago_are_swept(tmp_path):
    old, young = (tmp_path / f".scenes-v1-abc-{name}" for name in ("old", "young"))
    for draft in (old, young):
        (draft / "train").mkdir(parents=True)
    os.utime(old, (0, 0))
    path = scenes.build(tmp_path, 1, SIZES)
    assert sorted(tmp_path.iterdir()) == sorted([young, path])


def build_at(folder):
    return scenes.build(folder, 1, SIZES)


def test_builds_at_the_same_time_agree(tmp_path):
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        paths = set(pool.map(build_at, [tmp_path] * 3))
    assert len(paths) == 1
    assert list(tmp_path.iterdir()) == list(paths)
    assert scenes.verify(paths.pop()) == []


def test_default_is_read_with_all_of_its_splits(tmp_path):
    path = scenes.build(tmp_path)
    assert {name: len(split) for name, split in scenes.load(path).items()} == scenes.SPLITS


def test_torch_stays_away(tmp_path):
    script = (
        "import sys; from pathlib import Path; from benchsuite.data import scenes\n"
        "heavy = {'torch', 'datasets', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "scenes.load(scenes.build(Path(sys.argv[1]), 0, {'train': 8}))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"seed": -1}, "seed must be at least 0"),
        ({"sizes": {"trian": 5}}, "no split 'trian'"),
        ({"sizes": {"train": 0}}, "train split must hold at least one picture, not 0"),
        ({"mismatched": 1.5}, r"share must lie in \[0, 1\], not 1.5"),
    ],
)
def test_nonsense_is_refused(tmp_path, arguments, told):
    with pytest.raises(ValueError, match=told):
        scenes.generate(**arguments)
    with pytest.raises(ValueError, match=told):
        scenes.build(tmp_path, **arguments)


def test_missing_build_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no build of scenes"):
        scenes.load(tmp_path)
