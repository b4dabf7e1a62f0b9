"""What becomes of a run that failed, and of a command that is stopped."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.execution.events import Failed
from benchsuite.planning.plan import plan_run
from benchsuite.records.checkpoints import folder_of
from benchsuite.records.store import Store
from benchsuite.work.session import Session


@pytest.mark.parametrize("diverged", [False, True])
def test_a_run_that_diverged_does_not_go_on_from_its_checkpoints(tmp_path: Path, diverged: bool) -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    checkpoint = folder_of(tmp_path, run.run_id) / "step-3"
    checkpoint.mkdir(parents=True)
    events = (event for event in [Failed(run, "no number", diverged=diverged)])
    workplace: Any = SimpleNamespace(executor=lambda store: SimpleNamespace(execute=lambda runs: events))
    assert [each.run for each in Session(workplace, Store(tmp_path), lambda *lines, **how: None).do([run])] == [run]
    assert checkpoint.exists() is not diverged
    assert [failure.reason for failure in Store(tmp_path).read().failures.values()] == ["no number"]


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_a_command_stops_takes_nothing_from_what_it_says(tmp_path: Path, first: signal.Signals) -> None:
    said: list[str] = []

    def say(*lines: str, **how: bool) -> None:
        signal.raise_signal(signal.SIGINT)
        said.extend(lines)

    def execute(runs: Sequence[Any]) -> Iterator[Any]:
        try:
            signal.raise_signal(first)
            yield
        finally:
            signal.raise_signal(signal.SIGINT)

    workplace: Any = SimpleNamespace(executor=lambda store: SimpleNamespace(execute=execute, left=lambda: ()))
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if the tests were started in the background
    try:
        with pytest.raises(SystemExit) as stopped:
            Session(workplace, Store(tmp_path), say).do([plan_run("infonce", "scenes-smoke", "RN50", 0, {})])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped.value.code == (130 if first == signal.SIGINT else 75)
    assert [line.partition(":")[0] for line in said] == ["stopped"]
