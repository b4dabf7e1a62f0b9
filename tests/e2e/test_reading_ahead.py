"""Reading ahead, bad pictures and tracking by the real command."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support.in_process import in_this_process
from support.real_files import write_pairs, write_shards

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "benchsuite"]
RUN = ["run", "infonce", "--recipe", "tiny.toml", "--seed", "0"]
RECIPE = """
title = "tiny"
track = "cc3m"
description = "For tests."
seeds = 1
projection = { width = 8 }
data = { name = "cc3m", options = { size = 32 } }
optimizer = { lr = 1e-3 }
backbones.small = { description = "small", step_seconds = 0.1, tower = { timm = "test_resnet" } }
training = { batch = 4, steps = STEPS }
protocols.geometry = { task = "geometry", options = { split = "validation" } }
primary.geometry = { metric = "gap", difference = 0.05 }
[text]
transformer = "distilbert"
vocabulary = 90
config = { dim = 16, n_layers = 1, n_heads = 2, hidden_dim = 32 }
"""


def command(folder: Path, *more: str, steps: int = 3) -> list[str]:
    recipe = RECIPE.replace("STEPS", str(steps))
    (folder / "tiny.toml").write_text(recipe)
    return [*COMMAND, *RUN, "--data", "cc3m=data", *more]


def run(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(folder, *more), cwd=folder, capture_output=True, text=True, check=False)


def record(folder: Path) -> dict[str, dict[str, object]]:
    (file,) = (file for file in folder.glob("infonce*.json"))
    content: dict[str, dict[str, object]] = json.loads(file.read_text())
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pairs(write_shards(tmp_path / "data"), 4, "validation")
    return tmp_path


def test_workers_and_tracking_change_no_byte_of_a_result(folder: Path) -> None:
    in_this_process(folder, *command(folder, "--results", "a", "--workers", "0")[3:])
    ahead = run(folder, "--results", "b", "--workers", "2", "--track", "csv")
    assert ahead.returncode == 0, ahead.stderr
    one, two = record(folder / "a"), record(folder / "b")
    for part in ("run_id", "curves", "results", "digests"):
        assert one[part] == two[part], part
    (points,) = (folder / "b" / "tracking").rglob("points.csv")
    assert "gradient_norm" in points.read_text()
    assert not (folder / "a" / "tracking").exists()


def test_a_bad_picture_is_named_by_tar_file_and_key_or_skipped(folder: Path) -> None:
    tar = folder / "data" / "train" / "00001.tar"
    content = tar.read_bytes()
    at = content.index(b"\xff\xd8\xff")
    tar.write_bytes(content[:at] + bytes(200) + content[at + 200 :])
    refused = run(folder, "--results", "a", "--workers", "1")
    assert refused.returncode != 0
    assert "00001.tar, 000010000: not an image that can be decoded" in refused.stderr
    assert "Traceback" not in refused.stderr
    in_this_process(folder, *command(folder, "--results", "b", "--workers", "1", "--skip-bad-pictures")[3:])
    assert record(folder / "b")["cost"]["skipped_pictures"] == 1


def test_killed_by_force_it_leaves_no_process(folder: Path) -> None:
    with subprocess.Popen(
        command(folder, "--results", "a", "--workers", "2", steps=10**5), cwd=folder, stderr=subprocess.DEVNULL
    ) as process:
        family: dict[int, psutil.Process] = {}
        for _ in range(1200):
            family |= {child.pid: child for child in psutil.Process(process.pid).children(recursive=True)}
            depths = [child for child in family.values() if child.is_running() and child.ppid() in family]
            if len(depths) >= 2:  # the workers of the run's process
                break
            time.sleep(0.25)
        else:
            pytest.fail("no worker was started")
        os.kill(process.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(list(family.values()), timeout=60)
    assert [child for child in alive if child.status() != psutil.STATUS_ZOMBIE] == []
