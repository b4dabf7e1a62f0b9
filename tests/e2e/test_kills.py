"""Commands killed with SIGKILL at random moments: nothing is lost, nothing is half, and the end is the same.

A few kills of commands that write files are always tried. BENCHSUITE_KILLS=200 tries so many, over five commands: also
`tune` and `repro`, whose kills at stated moments are in cli/test_tune.py and e2e/test_command_line.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import tiny_tuning
from support.copies import Copy, command, files, only_linux
from support.made_records import MakeRecord

from benchsuite.records.store import Store
from benchsuite.records.trials import read_trials
from benchsuite.report.site import WRITTEN

pytestmark = [only_linux, pytest.mark.slow]
KILLS = int(os.environ.get("BENCHSUITE_KILLS", "0"))
EACH = max(4, KILLS // 5)
MEASURED = {"created", "cost", "digest", "resumptions", "environment"}
"""Keys in which records and trials of the same run may differ."""
Files = Mapping[str, bytes]


@pytest.fixture
def folders(tmp_path: Path, make_sound: MakeRecord) -> Sequence[Path]:
    """Two results folders, the second with more records."""
    made = [tmp_path / "few", tmp_path / "many"]
    for folder, count in zip(made, (3, 8), strict=True):
        folder.mkdir()
        for seed in range(count):
            Store(folder).write(*make_sound(seed))
    return made


def killed(moments: np.random.Generator, most: float, *arguments: object) -> None:
    """Start the command in a copy of this process, and kill it."""
    copy = Copy(lambda: command(*arguments))
    time.sleep(float(moments.uniform(0, most)))
    copy.kill()


def seconds(*arguments: object) -> float:
    """How long the command takes that is left alone."""
    started = time.monotonic()
    assert Copy(lambda: command(*arguments)).result() == (0, "")
    return time.monotonic() - started


def without_drafts(folder: Path) -> Files:
    """What readers see: names that begin with a dot are nobody's."""
    return {name: content for name, content in files(folder).items() if "/." not in f"/{name}"}


def test_killed_reports_leave_whole_pages(tmp_path: Path, folders: Sequence[Path]) -> None:
    build = {folder: ["report", "--results", folder, "--report", tmp_path / "pages"] for folder in folders}
    whole, most = [], 0.0
    for folder in folders:
        most = seconds(*build[folder])
        whole.append(without_drafts(tmp_path / "pages"))
    moments = np.random.default_rng(17)
    for _, folder in zip(range(EACH), cycle(folders), strict=False):
        killed(moments, most, *build[folder])
        left = without_drafts(tmp_path / "pages")
        assert all(content in (each.get(name) for each in whole) for name, content in left.items())
    for folder, expected in zip(folders, whole, strict=True):
        seconds(*build[folder])
        assert without_drafts(tmp_path / "pages") == expected
        assert files(tmp_path / "pages").keys() - {WRITTEN} == expected.keys(), "drafts of killed builds are left"


def test_killed_updates_leave_the_old_manifest_or_the_new(tmp_path: Path, folders: Sequence[Path]) -> None:
    few, many = folders
    update = ["verify", many, "--update"]
    seconds("verify", few, "--update")
    before = files(many)
    most = seconds(*update)
    old, new = (few / "MANIFEST.json").read_bytes(), (many / "MANIFEST.json").read_bytes()
    moments = np.random.default_rng(18)
    for _ in range(EACH):
        (many / "MANIFEST.json").write_bytes(old)
        killed(moments, most, *update)
        left = dict(without_drafts(many))
        assert left.pop("MANIFEST.json") in (old, new)
        assert left == before
    seconds(*update)
    assert without_drafts(many) == {**before, "MANIFEST.json": new}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_killed_exports_leave_the_old_file_or_the_new(tmp_path: Path, folders: Sequence[Path], kind: str) -> None:
    file = tmp_path / "out" / f"all.{kind}"
    export = {folder: ["export", "--all", "--format", kind, "--results", folder, "--out", file] for folder in folders}
    whole, most = [], 0.0
    for folder in folders:
        most = seconds(*export[folder])
        whole.append(file.read_bytes())
    moments = np.random.default_rng(19)
    for _, folder in zip(range(EACH // 2), cycle(folders), strict=False):
        killed(moments, most, *export[folder])
        assert file.read_bytes() in whole
    seconds(*export[folders[0]])
    assert without_drafts(tmp_path / "out") == {file.name: whole[0]}


def the_same(content: Mapping[str, Any]) -> dict[str, Any]:
    """Of a record or a trial: what does not depend on when it was measured."""
    return {key: value for key, value in content.items() if key not in MEASURED}


def stored(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Records by name, and trials; each must be readable at any time."""
    records = {file.name: the_same(json.loads(file.read_bytes())) for file in folder.glob("*-s*.json")}
    trials = [read_trials(file).trials for file in folder.glob("trials/*.parquet")]
    return records, [the_same(trial.model_dump(mode="json")) for each in trials for trial in each]


@pytest.mark.skipif(not KILLS, reason="some minutes: BENCHSUITE_KILLS=200 kills `tune` and `repro` too")
@pytest.mark.parametrize("what", ["tune", "repro"])
def test_killed_trainings_lose_nothing_and_end_alike(tmp_path: Path, what: str) -> None:
    tiny_tuning.own_folder(tmp_path / "own")
    arguments = [what, tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--jobs", "1"]
    arguments += ["--regime", "tuned"] + (["--checkpoint-steps", "1"] if what == "repro" else [])
    whole = [sys.executable, "-m", "benchsuite", *arguments]

    def start(results: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*whole, "--results", results], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    started = time.monotonic()
    alone = start("alone")
    assert alone.wait() == 0, alone.communicate()
    most, expected, moments = time.monotonic() - started, stored(tmp_path / "alone"), np.random.default_rng(20)
    for _ in range(EACH):
        process = start("killed")
        time.sleep(float(moments.uniform(0, most)))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        records, trials = stored(tmp_path / "killed")
        assert records.items() <= expected[0].items()
        assert all(trial in expected[1] for trial in trials)
        if (records, trials) == expected:
            shutil.rmtree(tmp_path / "killed")
    last = start("killed")
    assert last.wait() == 0, last.communicate()
    assert stored(tmp_path / "killed") == expected
    assert not Store(tmp_path / "killed").read().errors
    assert not (tmp_path / "killed" / "checkpoints").exists()
