"""Several processes write into one results folder at a time, as containers that share it do: nothing is lost."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.copies import Copy, as_process_1, only_linux
from support.made_trials import trials_file, trials_of
from support.planned import request_of

from benchsuite.errors import UsageError
from benchsuite.files import lock_of, locked, require_writable
from benchsuite.records.requests import TableRequest
from benchsuite.records.store import Store
from benchsuite.records.trials import add_trials, read_trials

pytestmark = only_linux
WRITERS, ROUNDS = 8, 4


def request(*labels: str) -> TableRequest:
    return request_of("temo/table1", "smoke", labels)


def beside_each_other(write: Callable[[int, int], Any], contained: bool) -> None:
    """Each writer of WRITERS does its ROUNDS; they begin together."""
    start = time.monotonic() + 0.5

    def writer(number: int) -> Callable[[], None]:
        def work() -> None:
            os.getpid = lambda: 1  # type: ignore[method-assign, assignment]
            time.sleep(max(0.0, start - time.monotonic()))
            for turn in range(ROUNDS):
                write(number, turn)

        return as_process_1(work) if contained else work

    for copy in [Copy(writer(number)) for number in range(WRITERS)]:
        copy.result()


@pytest.mark.parametrize("contained", [False, True])
def test_eight_writers_of_one_process_number_lose_no_row(tmp_path: Path, contained: bool) -> None:
    def write(number: int, turn: int) -> None:
        require_writable(tmp_path, "--results")
        Store(tmp_path).add_request(request(f"row {number}, {turn}"))

    beside_each_other(write, contained)
    (kept,) = Store(tmp_path).read().requests
    assert {*kept.rows} == {f"row {n}, {turn}" for n in range(WRITERS) for turn in range(ROUNDS)}
    assert not [file for file in tmp_path.rglob(".*") if file.suffix != ".lock"]


def test_eight_writers_lose_no_trial(tmp_path: Path) -> None:
    trials = trials_of("infonce", count=WRITERS * ROUNDS)

    def write(number: int, turn: int) -> None:
        add_trials(tmp_path, trials_file({}, more=[trials[number * ROUNDS + turn]]))

    beside_each_other(write, contained=False)
    (file,) = tmp_path.glob("trials/*.parquet")
    assert len(read_trials(file).trials) == WRITERS * ROUNDS


def test_a_lock_that_is_not_given_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.add_request(request("InfoNCE"))
    (file,) = tmp_path.glob("tables/*.json")
    monkeypatch.setattr(locked.__wrapped__, "__defaults__", (0.1,))  # type: ignore[attr-defined]
    message = r"table1-smoke\.json\.lock: another process still holds this lock after 0\.1 s\. Let it end, or end it"
    with locked(lock_of(file)), pytest.raises(UsageError, match=message):
        store.add_request(request("TS"))
    assert store.add_request(request("TS")).rows == ["InfoNCE", "TS"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    file = tmp_path / ".lock"

    def hold() -> None:
        with locked(file):
            (tmp_path / "held").touch()
            time.sleep(60)

    copy = Copy(hold)
    while not (tmp_path / "held").exists():
        time.sleep(0.01)
    with pytest.raises(UsageError, match="still holds"), locked(file, 0):
        pass
    assert copy.kill()
    with locked(file, 0):
        pass


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(lock: object, timeout: float) -> None:
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with (
        pytest.raises(UsageError, match=r"\.lock: this file system has no locks\. Take a folder"),
        locked(tmp_path / ".lock"),
    ):
        pass
