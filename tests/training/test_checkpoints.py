"""What is written, when, and what becomes of a training whose checkpoints are damaged, foreign or cannot be written."""

import errno
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from support.resuming import KilledError, Outcome, trained

from benchsuite.data.base import Split
from benchsuite.errors import Interrupted, RunError
from benchsuite.files import sha256_of
from benchsuite.records import checkpoints as folders
from benchsuite.records.checkpoints import EVERY, MARKER, Every, StoredCheckpoint, checkpoints_in, read_marker
from benchsuite.setup import Setup
from benchsuite.training import checkpoint, checkpoint_files
from benchsuite.training.checkpoint import Checkpoints
from benchsuite.training.curves import Meter

METHOD = "infonce-learnable"
STOP = 3


class Place:
    """A run's folder, and what was said about it."""

    def __init__(self, folder: Path, setup: Setup, split: Split) -> None:
        self.folder, self.setup, self.split = folder, setup, split
        self.notes: list[str] = []

    def run(self, end: int | None = None, every: Every = Every(steps=1), run: str = "a run", **more: object) -> Outcome:  # noqa: B008
        to = Checkpoints(self.folder, run, every, self.notes.append)
        return trained(METHOD, self.setup, self.split, to, end, **more)  # type: ignore[arg-type]

    @property
    def steps(self) -> list[int]:
        return [int(path.name.removeprefix("step-")) for path in checkpoints_in(self.folder)]

    @property
    def latest(self) -> Path:
        return checkpoints_in(self.folder)[0]


@pytest.fixture
def place(make_setup: Callable[..., Setup], split: Split, tmp_path: Path) -> Place:
    return Place(tmp_path / "run", make_setup(steps=5, zero_stage=1), split)


@pytest.fixture
def stopped(place: Place) -> Place:
    """Stopped after three steps, with checkpoints of the second and the third."""
    with pytest.raises(KilledError):
        place.run(STOP)
    assert place.steps == [3, 2]
    return place


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def require_same(one: Outcome, other: Outcome) -> None:
    assert repr(one.curves) == repr(other.curves)
    assert torch.equal(one.random, other.random)
    for part, value in one.state.items():
        assert torch.equal(other.state[part], value), part


MODEL, OWN = "shared.pt", "process_0.pt"
DAMAGE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "truncated": (MODEL, cut, rf"{MODEL} has \d+ bytes instead of \d+"),
    "one bit": (OWN, flip, f"{OWN} has another SHA-256 than it was written with"),
    "a file is missing": (OWN, Path.unlink, rf"{OWN} is missing \(No such file or directory\)"),
    "curves": ("progress.json", flip, r"progress\.json has another SHA-256"),
    "marker truncated": (MARKER, cut, r"checkpoint\.json is damaged"),
    "marker edited": (MARKER, lambda f: f.write_text(f.read_text().replace('"step": 3', '"step": 4')), "is damaged"),
    "marker missing": (MARKER, Path.unlink, r"checkpoint\.json is missing"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_taken(stopped: Place, name: str) -> None:
    file, damage, why = DAMAGE[name]
    damage(stopped.latest / file)
    resumed = stopped.run()
    (note,) = stopped.notes
    assert note.startswith("checkpoint step-00000003 is damaged: ")
    assert note.endswith("; goes on from step 2 of 5")
    assert [each.step for each in resumed.resumptions] == [2]
    assert re.search(why, note)


def test_where_all_are_damaged_it_starts_anew_and_says_so(stopped: Place, place: Place) -> None:
    for path in checkpoints_in(stopped.folder):
        cut(path / MODEL)
    resumed = stopped.run()
    (note,) = stopped.notes
    assert note.count("is damaged") == 2
    assert note.endswith("; starts at step 0")
    assert resumed.resumptions == []
    require_same(trained(METHOD, place.setup, place.split), resumed)
    assert place.steps == [5, 4]


class Bomb:
    """Runs code where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (str(self.file),)


@pytest.mark.parametrize("file", [MODEL, OWN])
def test_a_checkpoint_that_would_run_code_is_refused(stopped: Place, tmp_path: Path, file: str) -> None:
    path, bomb = stopped.latest / file, Bomb(tmp_path / "exploded")
    torch.save({**torch.load(path, weights_only=False), "bomb": bomb}, path)
    marker = read_marker(stopped.latest)
    files = {**marker.files, file: StoredCheckpoint(size=path.stat().st_size, sha256=sha256_of(path))}
    stopped.latest.rename(folders.draft(stopped.folder, STOP))
    folders.complete(stopped.folder, marker.model_copy(update={"files": files}))
    with pytest.raises(RunError, match="holds more than tensors and plain data"):
        stopped.run()
    assert not bomb.file.exists()
    pickle.loads(pickle.dumps(bomb))
    assert bomb.file.exists()


def test_a_marker_cannot_name_files_elsewhere(stopped: Place) -> None:
    marker = read_marker(stopped.latest)
    stopped.latest.rename(folders.draft(stopped.folder, STOP))
    elsewhere = {**marker.files, "../../x": StoredCheckpoint(size=1, sha256="")}
    folders.complete(stopped.folder, marker.model_copy(update={"files": elsewhere}))
    with pytest.raises(ValueError, match="names files elsewhere"):
        read_marker(stopped.latest)


def test_a_checkpoint_of_another_run_is_ignored(stopped: Place) -> None:
    resumed = stopped.run(run="another run")
    assert resumed.resumptions == []
    (note,) = stopped.notes
    ignored = "is ignored: its run is another"
    assert note == f"checkpoint step-00000003 {ignored}; checkpoint step-00000002 {ignored}; starts at step 0"


def test_so_is_one_of_other_code_libraries_or_batches(stopped: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "code_of", lambda files: "other")
    monkeypatch.setattr("benchsuite.training.loop.file_digest", lambda card: "other")
    monkeypatch.setattr(checkpoint, "version", lambda name: "other" if name == "torch" else "same")
    monkeypatch.setattr(checkpoint, "LIBRARIES", ("torch",))
    stopped.run()
    others = "training code, torch, method's file, deepspeed, timm, transformers, numpy"
    assert f"is ignored: its {others} is another" in stopped.notes[0]
    assert stopped.steps == [5, 4]


@pytest.fixture
def full_disk() -> Iterator[Callable[[bool], None]]:
    """`full_disk(True)`: no file of this process may be longer than a few kilobytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda full: resource.setrlimit(resource.RLIMIT_FSIZE, (4096 if full else before[0], before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("stage", [0, 2])
def test_a_full_disk_does_not_end_the_training(
    make_setup: Callable[..., Setup],
    split: Split,
    tmp_path: Path,
    full_disk: Callable[[bool], None],
    stage: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(tmp_path / "run", make_setup(steps=6, zero_stage=stage), split)
    seen: list[list[int]] = []
    saving = checkpoint.Saver.after

    def after(saver: checkpoint.Saver, done: int) -> None:
        full_disk(2 <= done <= 4)
        saving(saver, done)
        full_disk(False)
        seen.append(place.steps)

    monkeypatch.setattr(checkpoint.Saver, "after", after)
    result = place.run()
    (note,) = place.notes
    why = os.strerror(errno.EFBIG)
    assert note.startswith(f"checkpoint of step 2 not written: {why}; the last good one, step-00000001, stays")
    assert seen == [[1], [1], [1], [1], [5, 1], [5, 1]]
    assert place.steps == [6, 5]
    assert {path.name for path in place.folder.iterdir()} == {"lock", "step-00000005", "step-00000006"}
    require_same(trained(METHOD, place.setup, split), result)


def test_the_systems_reason_is_told_where_torch_hides_it(
    make_setup: Callable[..., Setup], split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        try:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598")  # noqa: B904

    monkeypatch.setattr(checkpoint_files, "_written", full)
    place = Place(tmp_path / "run", make_setup(steps=2), split)
    place.run()
    assert place.notes[0].startswith(f"checkpoint of step 1 not written: {os.strerror(errno.ENOSPC)}; there is none")


def test_while_another_process_trains_the_run_nothing_is_saved(stopped: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LOCK_SECONDS", 0.2)
    hold = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire(); "
        "print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", hold, str(stopped.folder / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        result = stopped.run()
        assert stopped.steps == [3, 2]
        other.communicate("\n")
    assert result.resumptions == []
    assert stopped.notes == [
        "its checkpoints are left alone: another process is training this run; starts at step 0",
        "checkpoint of step 1 not written: another process is training this run; there is none yet, "
        "the training goes on",
    ]


def test_drafts_of_a_killed_process_are_removed(stopped: Place) -> None:
    for step in (4, 9):
        folders.draft(stopped.folder, step).mkdir()
        (folders.draft(stopped.folder, step) / "process_7.pt").touch()
    stopped.run()
    step4 = checkpoints_in(stopped.folder)[1]
    assert {path.name for path in step4.iterdir()} == {MODEL, OWN, "progress.json", MARKER}
    assert {path.name for path in stopped.folder.iterdir()} == {"lock", "step-00000004", "step-00000005"}


def test_a_short_training_writes_nothing(place: Place) -> None:
    place.run(every=EVERY)
    assert not place.folder.exists()


def test_after_so_many_minutes_it_is_saved(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def monotonic() -> float:
        now[0] += 60.0
        return now[0]

    # Its own clock: the one of the process would go on by what other threads ask of it.
    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=monotonic))
    with pytest.raises(KilledError):
        place.run(4, Every(minutes=2.5))
    assert place.steps == [3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_saves_and_stops(place: Place, number: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match=rf"stopped by {signal.Signals(number).name} after step 3 of 5; it is saved"):
        place.run(every=Every(steps=100), signals={2: number})
    assert place.steps == [3]
    assert signal.getsignal(number) is before
    assert Interrupted.exit_code == 75


def test_a_signal_that_comes_too_late_for_the_training_is_delivered_after_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))
    monkeypatch.setattr(checkpoint.Saver, "finish", lambda saver: os.kill(os.getpid(), signal.SIGUSR1))
    try:
        place.run(every=EVERY)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert came == [signal.SIGUSR1]


def test_what_was_spent_before_a_stop_counts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"seconds": 1000.0, "cpu_seconds": 500.0, "peak_memory_bytes": 2**50}
    with monkeypatch.context() as patch:
        patch.setattr(Meter, "spent", lambda self: before)
        with pytest.raises(KilledError):
            place.run(STOP)
    cost = place.run().cost
    assert cost["seconds"] > 1000
    assert cost["cpu_seconds"] > 500
    assert cost["peak_memory_bytes"] == 2**50


def test_a_training_of_seconds_is_not_worth_it(place: Place) -> None:
    with pytest.raises(Interrupted, match=r"after step 3 of 5; it is not saved: .* not worth it"):
        place.run(every=EVERY, signals={2: signal.SIGTERM})
    assert not place.folder.exists()


def test_a_training_that_is_over_is_not_repeated_if_its_evaluation_fails(stopped: Place) -> None:
    first = stopped.run()
    torch.manual_seed(1)  # another process has another state
    second = stopped.run()
    assert [each.step for each in second.resumptions] == [3, 5]
    require_same(first, second)
