"""A run's curves can be watched as they come; nothing of it is in the record."""

import csv
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchsuite.data.base import Split
from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.running import Running, running
from benchsuite.setup import Setup
from benchsuite.training import tracking
from benchsuite.training.loop import train

Watched = Callable[[str], tuple[dict[str, list[float]], Path]]
NOW = {"pairs_per_second", "peak_memory_bytes"}


@pytest.fixture
def watched(make_setup: Callable[..., Setup], split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """`watched(way)`: the curves of a tracked training of four steps, and the run's folder."""

    def run(way: str) -> tuple[dict[str, list[float]], Path]:
        for name, value in Running(track=way, track_folder=str(tmp_path / "tracking")).environment().items():
            monkeypatch.setenv(name, value)
        with tracking.tracking("temo, RN50/seed 0", "a1b2", {"tau": 0.05}):
            trained = train(make_setup(), create_method("infonce-learnable"), split, 0)
        (folder,) = (tmp_path / "tracking").iterdir()
        return trained.curves, folder

    return run


def rows(folder: Path) -> Iterator[tuple[int, str, float]]:
    with (folder / "points.csv").open(newline="") as stream:
        yield from ((int(row["step"]), row["name"], float(row["value"])) for row in csv.DictReader(stream))


def test_csv_has_every_point_of_the_curves(watched: Watched) -> None:
    curves, folder = watched("csv")
    assert folder.name == "temo-RN50-seed-0-a1b2"
    seen = {(step, name): value for step, name, value in rows(folder)}
    expected = {
        (step, name): values[i]
        for name, values in curves.items()
        if name != "step"
        for i, step in enumerate(curves["step"])
    }
    assert {key: value for key, value in seen.items() if key[1] not in NOW} == expected
    assert {name for _, name in expected} >= {"loss", "lr", "gradient_norm", "temperature", "gap"}
    assert all(seen[3, name] > 0 for name in NOW)


def test_a_run_that_goes_on_adds_to_its_file(watched: Watched) -> None:
    _, folder = watched("csv")
    before = len(list(rows(folder)))
    watched("csv")
    assert len(list(rows(folder))) == 2 * before


def test_tensorboards_files_have_the_same_points(watched: Watched) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves, folder = watched("tensorboard")
    read = EventAccumulator(str(folder))
    read.Reload()
    assert set(read.Tags()["scalars"]) == {*curves, *NOW} - {"step"}
    points = [(event.step, event.value) for event in read.Scalars("loss")]
    assert [step for step, _ in points] == curves["step"]
    assert [value for _, value in points] == pytest.approx(curves["loss"])


def test_wandb_keeps_a_run_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    code = """
from benchsuite.training.tracking import tracked, tracking
with tracking("temo, RN50/seed 0", "a1b2", {"tau": 0.05}):
    for step in range(4):
        tracked.get()(step, {"loss": 1.0, "gradient_norm": 2.0})
"""
    chosen = Running(track="wandb", track_folder=str(tmp_path)).environment()
    environment = {**os.environ, **chosen, "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)  # all is written when it has ended
    (file,) = tmp_path.rglob("run-a1b2.wandb")
    assert b"gradient_norm" in file.read_bytes()


def test_trackio_keeps_runs_in_one_database(tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    code = """
import sys
from benchsuite.training.tracking import tracked, tracking
for run_id, steps in (("a1b2", range(2)), ("a1b2", range(2, 4)), ("c3d4", range(4))):
    with tracking("temo, RN50/seed 0", run_id, {"tau": 0.05}):
        for step in steps:
            tracked.get()(step, {"loss": 1.0 + step})
"""
    chosen = Running(track="trackio", track_folder=str(tmp_path)).environment()
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **chosen}, check=True)
    (file,) = tmp_path.glob("*.db")
    with closing(sqlite3.connect(file)) as database:
        found = database.execute("SELECT run_name, step, metrics FROM metrics ORDER BY run_name, step").fetchall()
    expected = [(f"temo, RN50/seed 0, {run_id}", step, 1.0 + step) for run_id in ("a1b2", "c3d4") for step in range(4)]
    assert [(name, step, json.loads(values)["loss"]) for name, step, values in found] == expected


def test_a_missing_library_and_an_unknown_way_are_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"--track wandb: the library wandb is not installed: pip install wandb"):
        tracking.require_library("wandb")
    monkeypatch.setenv("BENCHSUITE_TRACK", "paper")
    with pytest.raises(UsageError, match='BENCHSUITE_TRACK="paper": it must be one of tensorboard, wandb, '):
        running()
