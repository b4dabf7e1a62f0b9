from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.made_records import MakeRecord

from benchsuite.analysis.run_diff import RunDiff
from benchsuite.setup import Optimizer


@pytest.fixture
def between(make_sound: MakeRecord) -> Callable[..., RunDiff]:
    """A sound record against itself with changes."""

    def make(**changes: Any) -> RunDiff:
        return RunDiff(make_sound(0)[0], make_sound(**{"seed": 0, **changes})[0])

    return make


def method(make_sound: MakeRecord, **changes: Any) -> Any:
    return make_sound()[0].method.model_copy(update=changes)


def named(diff: RunDiff) -> dict[str, set[str]]:
    return {part: set(fields) for part, fields in diff.fields.items() if fields}


def test_a_record_differs_from_itself_in_nothing(between: Callable[..., RunDiff]) -> None:
    diff = between()
    assert named(diff) == {}
    assert list(diff.verdicts()) == ["One and the same record."]


def test_another_method_under_one_setup_is_named_and_may_be_paired(
    between: Callable[..., RunDiff], make_sound: MakeRecord
) -> None:
    other = method(make_sound, name="ts", title="TS", hyperparameters={"tau_min": 0.01})
    diff = between(method=other)
    assert named(diff) == {"method": {"name", "title", "hyperparameters.tau", "hyperparameters.tau_min"}}
    assert diff.fields["method"]["hyperparameters.tau"] == (0.03, None)
    assert (diff.not_comparable, diff.not_paired) == ("", "")


def test_another_setup_is_no_common_board_and_the_fields_are_named(
    between: Callable[..., RunDiff], make_sound: MakeRecord
) -> None:
    setup = make_sound()[0].setup.model_copy(update={"optimizer": Optimizer(lr=0.5)})
    diff = between(setup=setup)
    assert diff.fields["setup"] == {"optimizer.lr": (0.001, 0.5)}
    assert diff.not_comparable == diff.not_paired == "their setups differ in optimizer.lr"


@pytest.mark.parametrize("digest", ["initial_weights", "batches"])
def test_other_weights_or_batches_share_a_board_and_are_no_pair(
    between: Callable[..., RunDiff], make_sound: MakeRecord, digest: str
) -> None:
    digests = {**make_sound()[0].digests, digest: "other"}
    diff = between(method=method(make_sound, hyperparameters={"tau": 0.5}), digests=digests)
    assert named(diff)["digests"] == {digest}
    assert diff.not_comparable == ""
    assert digest.replace("_", " ") in diff.not_paired


def test_two_seeds_are_one_row_and_no_pair(between: Callable[..., RunDiff]) -> None:
    diff = between(seed=1)
    assert diff.fields["seed"] == {"seed": (0, 1)}
    assert list(diff.verdicts()) == ["Two seeds of one row."]
    assert diff.not_paired == "seed 0 against seed 1"


def test_a_run_measured_twice_is_held_to_its_results(between: Callable[..., RunDiff], make_sound: MakeRecord) -> None:
    equal = between(environment={"python": "3.14", "packages": {"torch": None}})
    assert named(equal) == {"environment": {"python"}}
    assert equal.repeated
    ranks = {"i2t": [1, 2, 9, 40], "t2i": [1, 1, 5, 6, 11, 3, 2, 2]}
    moved = between(ranks={way: np.array(values, np.int32) for way, values in ranks.items()})
    assert "retrieval.metrics.t2i_r1" in moved.fields["results"]
    assert next(moved.verdicts()) == f"One run, measured twice; {len(moved.fields['results'])} of its numbers moved."
    assert "results" not in between(seed=1).fields


def test_another_version_and_other_threads_are_mentioned(
    between: Callable[..., RunDiff], make_sound: MakeRecord
) -> None:
    older = between(method=method(make_sound, version=2), environment={"threads": 2})
    assert named(older)["method"] == {"version"}
    sentences = list(older.verdicts())
    assert "Stale: the second was measured with version 2 of infonce, which is at 1." in sentences
    assert any("numbers of threads" in line for line in sentences)
