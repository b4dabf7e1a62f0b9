from collections.abc import Callable
from typing import Any

import pytest

from benchsuite.analysis.against import cost, costs, reference
from benchsuite.analysis.boards import Board, boards
from benchsuite.records.schema import Record, TunedBy

Runs = dict[int, Record]
MakeRuns = Callable[..., Runs]
TUNED = TunedBy(trials=16, trial=7, score=0.5, digest="d")
HERE = {"processor": "P", "device": "cpu", "threads": 1, "processes": 1}


def board(*configurations: Runs) -> Board:
    (found,) = boards(record for runs in configurations for record in runs.values())
    return found


def test_costs_are_multiples_of_the_references_paired_by_seed(make_runs: MakeRuns) -> None:
    """Each seed may have met a slower machine: the ratio of medians would be another."""
    found = costs(board(make_runs("infonce", cost=(1.0, 10.0, 4.0)), make_runs("ts", cost=(9.0, 20.0, 10.0))))
    assert dict(found["TS"].ratios) == {0: 9.0, 1: 2.0, 2: 2.5}
    assert (found["TS"].median, found["TS"].low, found["TS"].high, len(found["TS"].ratios)) == (2.5, 2.0, 9.0, 3)
    assert (found["TS"].note, found["TS"].reason) == ("", "")
    assert found["InfoNCE"].median == 1.0


def test_only_seeds_of_both_count_and_without_any_it_says_so(make_runs: MakeRuns) -> None:
    ours, theirs = (
        make_runs("ts", (0.1, 0.1, None), (2.0, 2.0, 2.0)),
        make_runs("infonce", (None, 0.1, 0.1), (1.0,) * 3),
    )
    assert dict(cost(ours, theirs).ratios) == {1: 2.0}
    none = cost({0: ours[0]}, theirs)
    assert (none.median, none.low, len(none.ratios), none.reason) == (
        None,
        None,
        0,
        "no seed shared with the reference",
    )


@pytest.mark.parametrize("change", [{"processor": "Q"}, {"threads": 2}, {"processes": 2}, {"device": "cuda"}])
def test_times_of_different_machines_are_not_compared(make_runs: MakeRuns, change: dict[str, Any]) -> None:
    ours = make_runs("ts", (0.1,), (2.0,), environment={**HERE, **change})
    found = cost(ours, make_runs("infonce", (0.1,), (1.0,), environment=HERE))
    (name, value) = next(iter(change.items()))
    assert found.ratios == {}
    assert found.reason == f"measured on different machines: {name} {value} against {HERE[name]}"


def test_without_cpu_seconds_it_is_seconds_and_says_so(make_runs: MakeRuns) -> None:
    ours, theirs = make_runs("ts", (0.1,), (2.0,)), make_runs("infonce", (0.1,))
    found = cost(ours, theirs)
    assert found.note
    assert dict(found.ratios) == {0: 4.0 / 1.5}


def test_of_several_references_the_one_whose_numbers_were_all_tuned_is_taken(make_runs: MakeRuns) -> None:
    """Else methods that are tuned would be compared with a reference that is not."""
    rate = make_runs("infonce", (0.1, 0.2, 0.3), tuned=TUNED.model_copy(update={"searched": []}))
    old = make_runs("infonce", (0.1, 0.2, 0.3), version=2)
    for tau in (0.02, 0.2, 0.4):  # whichever of the two has the larger id
        whole = make_runs(
            "infonce", (0.1, 0.2), hyperparameters={"tau": tau}, tuned=TUNED.model_copy(update={"searched": ["tau"]})
        )
        found = reference(board(rate, old, whole))
        assert found
        assert found.method_id == whole[0].method_id


def test_of_several_references_that_of_the_defaults_is_taken_then_other_versions_and_fewer_runs_lose(
    make_runs: MakeRuns,
) -> None:
    plain, warm = make_runs("infonce", (0.1,)), make_runs("infonce", (0.1,), hyperparameters={"tau": 0.3})
    more = make_runs("infonce", (0.1, 0.2), hyperparameters={"tau": 0.2})
    old = make_runs("infonce", version=2)
    tuned = make_runs("infonce", (0.1,), hyperparameters={"tau": 0.5}, tuned=TUNED)
    longer = make_runs("infonce", (0.1, 0.2), longer=2.0)
    boards_of = (
        (warm, plain), (warm, plain, more), (old, plain), (old, warm), (plain, tuned), (tuned, more), (plain, longer),
    )  # fmt: skip
    found = [reference(board(*some)) for some in boards_of]
    assert [one and one.method_id for one in found] == [
        runs[0].method_id for runs in (plain, more, plain, warm, tuned, more, plain)
    ]


def test_a_reference_that_trained_longer_is_none(make_runs: MakeRuns) -> None:
    found = board(make_runs("infonce", cost=(2.0,) * 3, longer=2.0), make_runs("temo", cost=(1.0,) * 3))
    assert reference(found) is None
    assert {label: one.median for label, one in costs(found).items()} == {"InfoNCE (steps=×2)": None, "TeMo": None}
