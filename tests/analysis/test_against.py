"""A board's rows beside the reference: verdicts follow the board's ranks, and the smallest difference of interest."""

from collections.abc import Callable

import pytest

from benchsuite.analysis.against import Against, against, against_reference, outcomes, principal
from benchsuite.analysis.boards import Board, boards
from benchsuite.planning.recipe import Primary
from benchsuite.records.schema import Record, TunedBy

Runs = dict[int, Record]
MakeRuns = Callable[..., Runs]
BASE = (0.500, 0.510, 0.520, 0.530)
UP = tuple(value + 0.1 + noise for value, noise in zip(BASE, (0.001, 0.0, 0.002, 0.001), strict=True))
DOWN = tuple(2 * base - up for base, up in zip(BASE, UP, strict=True))
NEAR = tuple(value + noise for value, noise in zip(BASE, (0.001, -0.001, 0.002, -0.001), strict=True))
NOISY = tuple(value + noise for value, noise in zip(BASE, (0.1, -0.1, 0.05, 0.02), strict=True))
INTEREST = {"retrieval": Primary(metric="t2i_r10", difference=0.01)}


def board(*configurations: Runs) -> Board:
    (found,) = boards(record for runs in configurations for record in runs.values())
    return found


@pytest.fixture
def found(make_runs: MakeRuns) -> dict[str, Against]:
    """The comparisons of four methods with InfoNCE, by method."""
    values = {"infonce": BASE, "temo": UP, "ts": DOWN, "cwcl": NEAR, "sogclr": NOISY}
    made = board(*(make_runs(name, numbers) for name, numbers in values.items()))
    return {one.row.method: one for one in against_reference(made, INTEREST)}


def test_each_row_but_the_reference_has_one_verdict(found: dict[str, Against]) -> None:
    assert {name: one.outcome for name, one in found.items()} == {
        "temo": "better",
        "ts": "worse",
        "cwcl": "equivalent",
        "sogclr": "undecided",
    }
    assert {one.reference.method for one in found.values()} == {"infonce"}
    assert outcomes(found.values()) == {"better": 1, "worse": 1, "equivalent": 1, "undecided": 1}


def test_a_gain_is_the_mean_of_its_seeds_within_its_interval(found: dict[str, Against]) -> None:
    one = found["temo"]
    assert one.gain == pytest.approx(0.101)
    assert one.gains.differences == pytest.approx((0.101, 0.1, 0.102, 0.101))
    assert one.gains.low is not None
    assert one.gains.high is not None
    assert one.gains.low < 0.101 < one.gains.high


@pytest.mark.parametrize(("seeds", "outcome"), [(2, "undecided"), (3, "equivalent")])
def test_two_seeds_are_too_few_for_rows_to_be_equivalent(make_runs: MakeRuns, seeds: int, outcome: str) -> None:
    base = BASE[:seeds]
    near = tuple(value + noise for value, noise in zip(base, (0.0001, -0.0001, 0.0001), strict=False))
    (one,) = against_reference(board(make_runs("infonce", base), make_runs("cwcl", near)), INTEREST)
    assert one.outcome == outcome


def test_rows_whose_differences_are_all_equal_are_not_equivalent(make_runs: MakeRuns) -> None:
    near = tuple(value + 0.0001 for value in BASE)
    (one,) = against_reference(board(make_runs("infonce", BASE), make_runs("cwcl", near)), INTEREST)
    assert (one.gains.sd, one.outcome) == (0, "undecided")


def test_any_two_rows_can_be_compared_and_turned_around(found: dict[str, Against]) -> None:
    made, task = found["temo"].board, found["temo"].task
    up, down = (next(row for row in made.rows if row.method == name) for name in ("temo", "ts"))
    one, other = against(made, up, down, task, INTEREST), against(made, down, up, task, INTEREST)
    assert (one.outcome, other.outcome) == ("better", "worse")
    assert one.gain == pytest.approx(-(other.gain or 0))


def test_rows_without_a_seed_in_common_are_not_compared(make_runs: MakeRuns) -> None:
    made = board(make_runs("infonce", (*BASE, None)), make_runs("temo", (None, None, None, None, 0.5)))
    (one,) = against_reference(made, INTEREST)
    assert (one.outcome, one.gain, one.gains.low) == ("not compared", None, None)


def test_the_row_that_stands_for_a_method_is_tuned_then_plain_then_has_most_seeds(
    make_runs: MakeRuns,
) -> None:
    tuned = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=["tau"])
    rate = tuned.model_copy(update={"searched": []})
    plain, warm = make_runs("temo", BASE[:2]), make_runs("temo", BASE, hyperparameters={"tau": 0.3})
    partly = make_runs("temo", BASE, hyperparameters={"tau": 0.2}, tuned=rate)
    whole = make_runs("temo", BASE[:2], hyperparameters={"tau": 0.1}, tuned=tuned)
    assert principal(board(plain, warm).rows).method_id == plain[0].method_id
    assert principal(board(partly, warm, plain).rows).method_id == plain[0].method_id
    assert principal(board(partly, warm, plain, whole).rows).method_id == whole[0].method_id
    colder = make_runs("temo", BASE[:3], hyperparameters={"tau": 0.4})
    assert principal(board(colder, warm).rows).method_id == warm[0].method_id
    variant = make_runs("temo", BASE, hyperparameters={"tau": 0.1, "schedule": "fixed"}, tuned=tuned)
    assert principal(board(variant, whole).rows).method_id == whole[0].method_id


def test_a_tuned_row_is_compared_with_the_reference_whose_search_was_as_long(make_runs: MakeRuns) -> None:
    short = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=["tau"])
    long, other = (short.model_copy(update={"trials": count}) for count in (32, 8))
    found = {
        ("infonce", 16): make_runs("infonce", BASE, hyperparameters={"tau": 0.1}, tuned=short),
        ("infonce", 32): make_runs("infonce", BASE[:2], hyperparameters={"tau": 0.2}, tuned=long),
        ("temo", 16): make_runs("temo", BASE, hyperparameters={"tau": 0.1}, tuned=short),
        ("temo", 32): make_runs("temo", BASE, hyperparameters={"tau": 0.2}, tuned=long),
        ("temo", 8): make_runs("temo", BASE, hyperparameters={"tau": 0.3}, tuned=other),
    }
    pairs = against_reference(board(*found.values()), INTEREST)
    lengths = [[one.record.tuned.trials for one in (pair.row, pair.reference) if one.record.tuned] for pair in pairs]
    assert sorted(lengths) == [[8, 16], [16, 16], [32, 32]], "without one as long, the one with most seeds"
