from collections.abc import Callable

import pytest
from scipy import stats

from benchsuite.analysis.boards import Board, boards, comparison
from benchsuite.analysis.stats import compare
from benchsuite.records.schema import Record

Runs = dict[int, Record]
MakeRuns = Callable[..., Runs]


def board(*configurations: Runs) -> Board:
    (found,) = boards(record for runs in configurations for record in runs.values())
    return found


def test_every_value_is_there_by_row_task_and_seed(make_runs: MakeRuns) -> None:
    told = comparison(board(make_runs("infonce", (0.1, None, 0.3)), make_runs("ts", (0.5, 1 / 3, None))))
    assert told["seeds"] == [0, 1, 2]
    assert [(row["label"], row["values"]) for row in told["rows"]] == [
        ("TS", [[0.5, 0.333333, None]]),
        ("InfoNCE", [[0.1, None, 0.3]]),
    ]
    retrieval = {"id": "retrieval", "metric": "r_mean", "title": "Image-text retrieval", "unit": "percent"}
    assert told["tasks"] == [retrieval]


def test_seeds_that_did_not_mean_the_same_are_named_for_two_rows(make_runs: MakeRuns) -> None:
    other = {"initial_weights": "w", "batches": "x", "data": "d" * 64}
    mixed = {**make_runs("ts"), 1: make_runs("ts", digests=other)[1]}
    told = comparison(board(make_runs("infonce"), mixed))
    labels = [row["label"] for row in told["rows"]]
    assert told["unpairable"] == [[labels.index("InfoNCE"), labels.index("TS"), [1]]]


def test_the_quantiles_give_the_interval_that_the_analysis_gives(make_runs: MakeRuns) -> None:
    told = comparison(board(make_runs("infonce", (0.1, 0.2, 0.4)), make_runs("ts", (0.5, 0.55, 0.6))))
    assert list(told["quantiles"]) == ["2", "3"]
    ours, theirs = (row["values"][0] for row in told["rows"])
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean, reach = sum(differences) / 3, told["quantiles"]["3"] * stats.sem(differences)
    paired = compare(dict(enumerate(ours)), dict(enumerate(theirs)))
    assert (mean - reach, mean + reach) == (pytest.approx(paired.low), pytest.approx(paired.high))
