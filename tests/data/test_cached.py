"""What is made once is whole or absent, and made by one process only."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from benchsuite.data.cached import load, made_once, save


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def write_twice(draft: Path) -> None:
    draft.mkdir()
    (draft / "a").write_text("1")
    (draft / "b").write_text("2")


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    place = made_once(tmp_path / "deep" / "folder", write_twice)
    assert sorted(file.name for file in place.iterdir()) == ["a", "b"]
    assert made_once(place, lambda draft: pytest.fail("it is there")) == place


@pytest.mark.parametrize("name", ["file.json", "folder"])
def test_a_failure_leaves_nothing(tmp_path: Path, name: str) -> None:
    def fail(draft: Path) -> None:
        draft.write_text("half") if draft.suffix else write_twice(draft)
        raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        made_once(tmp_path / name, fail)
    assert visible(tmp_path) == []


KILLED = """
import sys, time
from pathlib import Path
from benchsuite.data.cached import made_once

def slow(draft):
    draft.mkdir()
    (draft / "a").write_text("half")
    print("half", flush=True)
    time.sleep(60)

made_once(Path(sys.argv[1]), slow)
"""


def test_a_killed_process_leaves_no_half_and_its_draft_goes(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(place)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
    assert visible(tmp_path) == [".partial-folder"]
    made_once(place, write_twice)
    assert visible(tmp_path) == ["folder"]
    assert (place / "a").read_text() == "1"


def make_once(place: Path) -> Path:
    def write(draft: Path) -> None:
        with (place.parent / "log").open("a") as log:
            log.write("made\n")
        write_twice(draft)

    return made_once(place, write)


def test_of_processes_at_the_same_time_one_makes_it(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert set(pool.map(make_once, [tmp_path / "folder"] * 3)) == {tmp_path / "folder"}
    assert (tmp_path / "log").read_text() == "made\n"


def test_columns_are_read_as_they_were_saved(tmp_path: Path) -> None:
    images = np.arange(48, dtype=np.uint8).reshape(4, 2, 2, 3)
    columns = {
        "images": images,
        "captions": [["é"], ["b", "c"]],
        "labels": np.array([3, -1]),
        "matched": images[:, 0, 0, 0] > 1,
    }
    save(columns, tmp_path / "split")
    stored = load(tmp_path / "split")
    assert stored.keys() == columns.keys()
    assert stored["captions"] == columns["captions"]
    for name in ("images", "labels", "matched"):
        assert stored[name].dtype == columns[name].dtype
        assert np.array_equal(stored[name], columns[name])
