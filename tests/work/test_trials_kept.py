"""Trials on their way to their file: seldom enough to cost little, and never left behind."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.made_trials import RULE, trials_of, tuning_setup

from benchsuite.execution.events import Failed
from benchsuite.planning.recipe import Tuning
from benchsuite.records.names import TRIALS
from benchsuite.records.store import Store
from benchsuite.records.trials import read_trials
from benchsuite.work.tables import SHARE, TrialKeeper

WRITING = 3.0
"""Seconds that writing takes here."""


def test_trials_are_written_again_after_many_times_what_writing_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    store = Store(tmp_path)
    store.require_writable()
    subject = SimpleNamespace(recipe="latents-pairs", rule=Tuning.model_validate(RULE), setup=tuning_setup())
    runs: list[Any] = [
        SimpleNamespace(subject=subject, run=SimpleNamespace(run_id=trial.run_id), failed=lambda reason, t=trial: t)
        for trial in trials_of("infonce")
    ]
    keeper = TrialKeeper(SimpleNamespace(to_do=runs), store)  # type: ignore[arg-type]  # all that it reads of the work
    monkeypatch.setattr(time, "monotonic", lambda: now)
    discard = store.discard_checkpoints

    def slowly(run_id: str) -> None:
        nonlocal now
        now += WRITING / 2
        discard(run_id)

    monkeypatch.setattr(Store, "discard_checkpoints", lambda self, run_id: slowly(run_id))

    def stored(number: int, later: float = 0.0) -> int:
        nonlocal now
        now += later
        keeper.keep(Failed(runs[number].run, "diverged", diverged=True))
        return len(read_trials(tmp_path / TRIALS / "latents-pairs.parquet").trials)

    assert stored(0) == 1, "the first at once"
    assert [stored(1), stored(2, SHARE * WRITING / 2 - 0.1), stored(3, 0.2)] == [1, 1, 4]
    assert stored(4) == 4
    keeper.write()
    assert stored(5) == 5
