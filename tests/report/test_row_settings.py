"""What a row was run with, as tables, boards and runs say it."""

from collections.abc import Callable

import pytest
from support.html_pages import Reading, pages
from support.html_pages import leaderboard as board_of
from support.made_trials import trials_of
from support.measured import CURVES
from support.views import found, view_of

from benchsuite.papers import read_table
from benchsuite.records.schema import Record, TunedBy
from benchsuite.records.trials import trials_digest
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.pages import table_page
from benchsuite.report.row_settings import own, search_cost, trials_behind

MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def board(make_record: MakeRecord) -> Leaderboard:
    """A tuned table with a row of TeMo, whose run names its trials, and with InfoNCE trained twice as long, which is
    as printed."""
    trials = trials_of("temo")
    chosen = trials[3]
    by = TunedBy(
        trials=len(trials), trial=chosen.number, score=chosen.score or 0, digest=trials_digest(trials),
        searched=["tau", "tau_alpha", "tau_min"],
    )  # fmt: skip
    plain = make_record()[0].method.model_copy(update={"longer": 2.0})
    rows = []
    for label, method, tuned in (("TeMo", chosen.method, by), ("InfoNCE", plain, None)):
        record = make_record(method=method, tuned=tuned, curves=CURVES)[0]
        rows.append(found(read_table("temo/table1").row(f"RN50/{label}"), {0: record}))
    measures = {"coco_ir1": "retrieval.t2i_r1"}
    return board_of([view_of(read_table("temo/table1"), rows, measures, "latents", "tuned")])


def table_of(board: Leaderboard) -> str:
    return table_page(board.views[0])


def words(page: str) -> str:
    return " ".join(Reading(page).text.split())


def test_tables_and_boards_name_the_trial_that_chose_a_row(board: Leaderboard) -> None:
    found = pages(board)
    (record,) = (one for one in board.records.values() if one.tuned)
    assert record.tuned is not None
    for name in (table_of(board), f"compare/{record.setup_id}"):
        assert f"trial {record.tuned.trial} of 16, the best" in found[name], name
    assert "Trials of each: 16;" in words(found[table_of(board)])
    for page in (table_of(board), f"compare/{record.setup_id}"):
        assert all(own([one]) in words(found[page]) for one in board.records.values())


def test_temperatures_are_named_and_those_that_were_not_tuned_said_to_be_as_printed(make_record: MakeRecord) -> None:
    method = make_record()[0].method.model_copy(
        update={"name": "ts", "hyperparameters": {"tau_min": 0.01, "tau_max": 0.05, "periods": 3.0}}
    )
    assert own(make_record(method=method)[:1]) == "tau_min 0.01, tau_max 0.05"
    by = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=["tau_max"])
    rated = method.model_copy(update={"learning_rate": 0.003, "longer": 2.0})
    first = make_record(method=rated, tuned=by)[0]
    assert own([first]) == (
        "tau_min 0.01 (as printed, not tuned), tau_max 0.05, learning rate 0.003, 2 times the steps"
    )
    also = by.model_copy(update={"searched": ["periods", "tau_max", "tau_min"]})
    assert own(make_record(method=rated, tuned=also)[:1]).endswith(
        "learning rate 0.003, periods searched, too, 2 times the steps"
    )
    wider = rated.model_copy(update={"hyperparameters": {**rated.hyperparameters, "tau_max": 0.2}})
    both = [first, make_record(method=wider, tuned=by, seed=1)[0]]
    assert "tau_max 0.05 to 0.2, learning rate 0.003" in own(both)
    assert trials_behind([first]) == "trial 3 of 16, the best"
    assert trials_behind(both) == "best of 16 trials for each seed"
    rate = by.model_copy(update={"searched": [], "trials": 5})
    assert trials_behind(make_record(method=rated, tuned=rate)[:1]) == "trial 3 of 5 for the learning rate, the best"


def test_a_search_costs_its_trials_times_a_run(board: Leaderboard) -> None:
    (view,) = board.views
    (tuned,), (plain,) = sorted((row.records for row in view.rows), key=lambda records: records[0].tuned is None)
    runs = [tuned.model_copy(update={"cost": {"cpu_seconds": seconds}}) for seconds in (2.0, 4.0, 9.0)]
    assert tuned.tuned is not None
    assert search_cost(runs) == f"{tuned.tuned.trials} × 4 s"
    assert search_cost([plain]) == "none"
