from collections.abc import Callable, Sequence
from typing import Any

from support.views import found, view_of

from benchsuite.analysis.boards import Board, boards, paired
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import read_table
from benchsuite.records.schema import Record, Result, TunedBy
from benchsuite.report.numbers import measured
from benchsuite.setup import Protocol

Runs = dict[int, Record]
MakeRuns = Callable[..., Runs]
HIGH, LOW, LIKE_HIGH = (0.80, 0.81, 0.82), (0.10, 0.12, 0.11), (0.81, 0.80, 0.83)


def board(*configurations: Runs) -> Board:
    (found,) = boards([record for runs in configurations for record in runs.values()])
    return found


def shown(*records: Record) -> TableView:
    table = read_table("temo/table1")
    return view_of(table, [found(table.row("RN50/InfoNCE"), {record.seed: record for record in records})])


def test_configurations_of_one_setup_stand_beside_each_other_with_their_seeds(make_runs: MakeRuns) -> None:
    found = board(
        make_runs("infonce", LOW), make_runs("ts", HIGH), make_runs("ts", HIGH[:2], hyperparameters={"periods": 1})
    )
    assert [one.label for one in found.rows] == ["TS", "TS (periods=1)", "InfoNCE"]
    assert [len(one.records) for one in found.rows] == [3, 2, 3]
    (task,) = found.tasks
    assert (task.protocol, task.metric) == ("retrieval", "r_mean")
    assert dict(found.rows[0].values(task)) == dict(enumerate(HIGH))
    assert measured(found.rows[0].cell(task)) == "81.0 ± 2.5"
    assert (found.runs, found.seeds) == (8, [0, 1, 2])


def test_a_run_that_two_searches_found_is_in_the_rows_of_both(make_runs: MakeRuns) -> None:
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    both = make_runs("infonce", (0.1,), tuned=short, also_tuned=[long])
    rows = board(both, make_runs("infonce", (None, 0.2), tuned=short)).rows
    assert sorted(sorted(row.records) for row in rows) == [[0], [0, 1]]


def test_what_a_longer_search_left_of_a_shorter_one_is_no_row(make_runs: MakeRuns) -> None:
    """Seeds whose best of 2 trials is the best of 4, too, are no sample of the row that was searched by 2."""
    short, long, other = (
        TunedBy(trials=n, trial=0, score=0.5, digest="d", searched=of) for n, of in ((2, []), (4, []), (2, ["tau"]))
    )
    rest = make_runs("infonce", (None, 0.2, 0.3), tuned=long)

    def seeds(found_by: TunedBy, *more: Runs) -> list[list[int]]:
        both = make_runs("infonce", (0.1,), tuned=long, also_tuned=[found_by])
        return sorted(sorted(row.records) for row in board(both, rest, *more).rows)

    assert seeds(short, make_runs("ts", LOW)) == [[0, 1, 2], [0, 1, 2]]
    assert seeds(short, make_runs("infonce", (None, 0.15), tuned=short)) == [[0, 1], [0, 1, 2]]
    assert seeds(other) == [[0], [0, 1, 2]]


def test_a_setup_with_one_configuration_is_a_board_only_for_runs_of_no_table(make_runs: MakeRuns) -> None:
    runs = make_runs(recipe="mine")
    (found,) = boards(runs.values())
    assert (found.title, list(found.outside)) == ("mine, test_vit, distilbert", list(runs.values()))
    some = shown(runs[0], runs[1])
    assert [record.seed for record in boards(runs.values(), [some])[0].outside] == [2]
    assert boards(runs.values(), [shown(*runs.values())]) == []


def test_of_two_runs_of_a_row_and_seed_a_board_shows_what_tables_show(make_runs: MakeRuns) -> None:
    """That of the later search; elsewhere the later one, too."""
    searched = TunedBy(trials=2, trial=0, score=0.5, digest="d", searched=["tau"])
    early, late = (
        make_runs("infonce", (tau,), tuned=searched, hyperparameters={"tau": tau}, created=f"2026-0{month}-01")
        for month, tau in ((1, 0.2), (2, 0.1))
    )
    other = make_runs("ts", (0.3,))
    every = [runs[0] for runs in (early, late, other)]
    of_row = [boards(each, views) for each in (every, every[::-1]) for views in ((), [shown(late[0], other[0])])]
    assert [next(row.record for row in one.rows if row.method == "infonce") for (one,) in of_row] == [late[0]] * 4
    (one,) = boards(every, [shown(early[0])])
    assert next(row.record for row in one.rows if row.method == "infonce") == early[0]


def test_setups_are_never_mixed_and_those_with_most_runs_come_first(make_runs: MakeRuns) -> None:
    plain = make_runs()[0].setup
    other = plain.model_copy(update={"temperature_factor": 2.0})
    few = [*make_runs("infonce", (0.1,), setup=other).values(), *make_runs("ts", (0.2,), setup=other).values()]
    many = [*make_runs("infonce").values(), *make_runs("ts").values()]
    found = boards([*few, *many])
    assert [one.setup_id for one in found] == [plain.setup_id, other.setup_id]
    assert [one.setup.temperature_factor for one in found] == [1.0, 2.0]


def test_places_are_of_pairs_and_only_the_unbeaten_are_marked(make_runs: MakeRuns) -> None:
    found = board(make_runs("infonce", LOW), make_runs("ts", HIGH), make_runs("mine", LIKE_HIGH))
    (task,) = found.tasks
    ranks = {one.label: found.rank(one, task) for one in found.rows}
    assert {label: rank and rank.rank for label, rank in ranks.items()} == {"mine": 1, "TS": 1, "InfoNCE": 3}
    assert getattr(ranks["TS"], "tied_with", None) == ("mine",)
    assert [found.is_best(one, task) for one in found.rows] == [True, True, False]
    assert found.separates


def test_a_seed_at_which_two_rows_may_not_be_paired_is_skipped_between_them(make_runs: MakeRuns) -> None:
    other = {"initial_weights": "w", "batches": "x", "data": "d" * 64}
    found = board(make_runs("infonce", LOW), {**make_runs("ts", HIGH), 1: make_runs("ts", HIGH, digests=other)[1]})
    assert paired(found, *found.rows, found.tasks[0]).seeds == (0, 2)
    assert paired(found, *reversed(found.rows), found.tasks[0]).seeds == (0, 2)


def test_rows_are_ordered_by_rank_before_means(make_runs: MakeRuns) -> None:
    """TS has the better mean only by seeds that InfoNCE lacks; on shared seeds it is significantly worse."""
    found = board(make_runs("infonce", HIGH), make_runs("ts", (0.70, 0.71, 0.725, 1.0, 1.0, 1.0)))
    means = [one.cell(found.tasks[0]).mean or 0 for one in found.rows]
    assert [one.label for one in found.rows] == ["InfoNCE", "TS"]
    assert means == sorted(means)
    assert not any(found.is_best(one, found.tasks[0]) for one in found.rows)


def two_protocols(make_runs: MakeRuns, method: str, recalls: Sequence[float], gap: float, **more: Any) -> Runs:
    plain = make_runs()[0]
    protocols = {"retrieval": plain.setup.protocols["retrieval"], "shape": Protocol(task="geometry", version=1)}
    setup = plain.setup.model_copy(update={"protocols": protocols})
    found: Runs = {}
    for seed, recall in enumerate(recalls):
        result = plain.results["retrieval"]
        results = {
            "retrieval": result.model_copy(update={"metrics": {**result.metrics, "r_mean": recall}}),
            "shape": Result(task="geometry", version=1, metrics={}, counts={"pairs": 1}, measures={"gap": gap}),
        }
        found[seed] = make_runs(method, [None] * seed + [0.0], setup=setup, results=results, **more)[seed]
    return found


def test_a_task_that_ranks_nothing_is_shown_and_counts_for_no_order(make_runs: MakeRuns) -> None:
    found = board(two_protocols(make_runs, "infonce", LOW, 0.9), two_protocols(make_runs, "ts", HIGH, 0.1))
    recall, gap = found.tasks
    assert (gap.protocol, gap.unit, gap.better) == ("shape", "number", "neither")
    assert [one.label for one in found.rows] == ["TS", "InfoNCE"]
    assert found.rank(found.rows[0], gap) is None
    assert not found.is_best(found.rows[0], gap)
    assert measured(found.rows[0].cell(gap)) == "0.100 ± 0.000"
    assert found.is_best(found.rows[0], recall)


def test_rows_measured_with_another_version_are_told(make_runs: MakeRuns) -> None:
    found = board(make_runs("infonce"), make_runs("ts", version=2))
    assert {one.method: one.stale for one in found.rows} == {
        "infonce": "", "ts": "measured with version 2 of ts, which is at 1",
    }  # fmt: skip
