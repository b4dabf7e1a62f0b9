from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchsuite.analysis.pairing import Difference
from benchsuite.records.schema import Record
from benchsuite.setup import Optimizer

Make = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def between(make_sound: Make) -> Callable[..., Difference]:
    """A sound record against itself with changes."""

    def make(**changes: Any) -> Difference:
        return Difference(make_sound(0)[0], make_sound(**{"seed": 0, **changes})[0])

    return make


def method(make_sound: Make, **changes: Any) -> Any:
    return make_sound()[0].method.model_copy(update=changes)


def named(found: Difference) -> dict[str, set[str]]:
    return {part: set(fields) for part, fields in found.fields.items() if fields}


def test_a_record_differs_from_itself_in_nothing(between: Callable[..., Difference]) -> None:
    found = between()
    assert named(found) == {}
    assert list(found.verdicts()) == ["One and the same record."]


def test_another_method_under_one_setup_is_named_and_may_be_paired(
    between: Callable[..., Difference], make_sound: Make
) -> None:
    other = method(make_sound, name="ts", title="TS", hyperparameters={"tau_min": 0.01})
    found = between(method=other)
    assert named(found) == {"method": {"name", "title", "hyperparameters.tau", "hyperparameters.tau_min"}}
    assert found.fields["method"]["hyperparameters.tau"] == (0.03, None)
    assert (found.not_comparable, found.not_paired) == ("", "")


def test_another_setup_is_no_common_board_and_the_fields_are_named(
    between: Callable[..., Difference], make_sound: Make
) -> None:
    setup = make_sound()[0].setup.model_copy(update={"optimizer": Optimizer(lr=0.5)})
    found = between(setup=setup)
    assert found.fields["setup"] == {"optimizer.lr": (0.001, 0.5)}
    assert found.not_comparable == found.not_paired == "their setups differ in optimizer.lr"


@pytest.mark.parametrize("digest", ["initial_weights", "batches"])
def test_other_weights_or_batches_share_a_board_and_are_no_pair(
    between: Callable[..., Difference], make_sound: Make, digest: str
) -> None:
    digests = {**make_sound()[0].digests, digest: "other"}
    found = between(method=method(make_sound, hyperparameters={"tau": 0.5}), digests=digests)
    assert named(found)["digests"] == {digest}
    assert found.not_comparable == ""
    assert digest.replace("_", " ") in found.not_paired


def test_two_seeds_are_one_row_and_no_pair(between: Callable[..., Difference]) -> None:
    found = between(seed=1)
    assert found.fields["seed"] == {"seed": (0, 1)}
    assert list(found.verdicts()) == ["Two seeds of one row."]
    assert found.not_paired == "seed 0 against seed 1"


def test_a_run_measured_twice_is_held_to_its_results(between: Callable[..., Difference], make_sound: Make) -> None:
    equal = between(environment={"python": "3.14", "packages": {"torch": None}})
    assert named(equal) == {"environment": {"python"}}
    assert list(equal.verdicts()) == ["One run, measured twice; all its numbers are equal."]
    ranks = {"i2t": [1, 2, 9, 40], "t2i": [1, 1, 5, 6, 11, 3, 2, 2]}
    moved = between(ranks={way: np.array(found, np.int32) for way, found in ranks.items()})
    assert "retrieval.metrics.t2i_r1" in moved.fields["results"]
    assert next(moved.verdicts()) == f"One run, measured twice; {len(moved.fields['results'])} of its numbers moved."
    assert "results" not in between(seed=1).fields


def test_older_code_and_other_threads_are_mentioned(between: Callable[..., Difference], make_sound: Make) -> None:
    older = between(method=method(make_sound, code="c0de"), environment={"threads": 2})
    assert named(older)["method"] == {"code"}
    told = list(older.verdicts())
    assert "Stale: the second was measured with older code of infonce." in told
    assert any("numbers of threads" in line for line in told)
