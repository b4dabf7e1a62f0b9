"""The pages of tuning, and how tables, boards and runs refer to trials."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.html_pages import Reading, pages
from support.html_pages import leaderboard as board_of
from support.made_trials import trials_file, trials_of
from support.measured import CURVES

from benchsuite.analysis.building import build_table
from benchsuite.analysis.tuned_methods import DrawnNumber
from benchsuite.papers import read_table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record, TunedBy
from benchsuite.records.trials import TrialsFile, trials_digest
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.site import downloads
from benchsuite.report.tuning_page import near_end, own, page_of, rule
from benchsuite.report.tuning_page import values as of_tuning

MakeRecord = Callable[..., tuple[Record, bytes]]
PAGE = page_of("latents-pairs", "RN50")


@pytest.fixture(scope="module")
def trials() -> TrialsFile:
    """Of InfoNCE, TeMo, and a method whose only trial failed."""
    failed = [trial.model_copy(update={"score": None, "error": "diverged <b>"}) for trial in trials_of("ts", count=1)]
    return trials_file({"infonce": 0.5, "temo": 0.55}, more=failed)


@pytest.fixture
def board(make_record: MakeRecord, trials: TrialsFile) -> Leaderboard:
    """A tuned table with a row of TeMo, whose run names its trials, and with InfoNCE trained twice as long, which is
    as printed."""
    own = [trial for trial in trials.trials if trial.method.name == "temo"]
    best = max(own, key=lambda trial: trial.score or 0)
    by = TunedBy(trials=len(own), trial=best.number, score=best.score or 0, digest=trials_digest(own))
    plain = make_record()[0].method.model_copy(update={"longer": 2.0})
    rows, records = [], {}
    for label, method, tuned in (("TeMo", best.method, by), ("InfoNCE", plain, None)):
        record = make_record(method=method, tuned=tuned, curves=CURVES)[0]
        records[record.run_id] = record
        runs = RequestedRuns(setup_id=record.setup_id, method_id=record.method_id, runs={0: record.run_id})
        rows.append(RequestedRow(label=label, backbone="RN50", method=method.name, parts={"": runs}))
    request = TableRequest(
        table="temo/table1", scale="latents", recipe="latents-pairs", track="latents", description="", tuned={},
        backbones={}, temperature_factor=1, regime="tuned", measures={"coco_ir1": "retrieval.t2i_r1"}, rows=rows,
    )  # fmt: skip
    made = board_of([build_table(read_table("temo/table1"), request, records, {})])
    return replace(made, contents=replace(made.contents, trials={"latents-pairs": trials}))


def table_of(board: Leaderboard) -> str:
    return f"tables/{board.views[0].request.name}"


def words(page: str) -> str:
    return " ".join(Reading(page).text.split())


def test_a_page_says_the_rule_and_lists_what_was_chosen(board: Leaderboard) -> None:
    page = pages(board)[PAGE]
    text = words(page)
    assert "diverged <b>" in text
    assert all(said in text for said in rule(board.tuning["latents-pairs", "RN50"][0]).values())
    ((recipe, backbone),) = board.tuning
    (temo,) = (one for one in board.tuning[recipe, backbone] if one.method == "temo")
    assert temo.chosen is not None
    assert temo.chosen.score is not None
    assert f"{100 * temo.chosen.score:.1f}" in text
    assert f"tau {temo.chosen.method.hyperparameters['tau']:.3g}, " in text
    assert page.count("<svg") == 2 + sum(len(one.drawn) for one in board.tuning[recipe, backbone] if one.chosen)


def test_tables_boards_and_runs_lead_to_the_trials_of_a_row(board: Leaderboard) -> None:
    found = pages(board)
    (record,) = (one for one in board.records.values() if one.tuned)
    assert record.tuned is not None
    said = f"trial {record.tuned.trial} of 16, the best"
    for name in (
        table_of(board),
        f"compare/{record.setup_id}",
        *(name for name in found if name.startswith("runs/temo")),
    ):
        assert said in found[name], name
        (link,) = set(re.findall(rf'href="([^"]+)">{said}', found[name]))
        target = link.rpartition("#")
        assert target[0].endswith(f"{PAGE.rpartition('/')[2]}.html")
        assert target[2] in Reading(found[PAGE]).ids
    assert f"{PAGE}.html" in Reading(found["index"]).addresses
    assert f"../{PAGE}.html" in Reading(found[table_of(board)]).addresses
    for page in (table_of(board), f"compare/{record.setup_id}"):
        assert all(own(one) in words(found[page]) for one in board.records.values())


def test_temperatures_are_named_and_those_that_were_not_tuned_said_to_be_as_printed(make_record: MakeRecord) -> None:
    method = make_record()[0].method.model_copy(
        update={"name": "ts", "hyperparameters": {"tau_min": 0.01, "tau_max": 0.05, "periods": 3.0}}
    )
    assert own(make_record(method=method)[0]) == "tau_min 0.01, tau_max 0.05"
    by = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, printed=["tau_min", "periods"])
    rated = method.model_copy(update={"learning_rate": 0.003, "longer": 2.0})
    assert own(make_record(method=rated, tuned=by)[0]) == (
        "tau_min 0.01 (as printed, not tuned), tau_max 0.05, learning rate 0.003, 2 times the steps"
    )


@pytest.mark.parametrize(("name", "value", "near"), [
    ("tau", 0.07, False), ("tau", 0.07 * 5.9, False), ("tau", 0.07 * 6.1, True), ("tau", 0.07 / 6.1, True),
    ("learning_rate", 0.07 * 2.9, False), ("learning_rate", 0.07 / 3.1, True), ("gamma", 0.07 * 7, False),
])  # fmt: skip
def test_chosen_values_near_the_end_of_what_was_drawn_say_so(name: str, value: float, near: bool) -> None:
    one = DrawnNumber(name, {0: value}, 0.07, temperature=name == "tau")
    assert near_end(one, value, {"spread": 8, "learning_rate_spread": 4}) == near
    assert not near_end(one, value, {})
    assert not near_end(replace(one, default=None), value, {"spread": 8, "learning_rate_spread": 4})


def test_a_row_whose_trials_are_not_in_the_folder_names_them_without_a_link(board: Leaderboard) -> None:
    found = pages(replace(board, contents=replace(board.contents, trials={})))
    assert " of 16, the best" in words(found[table_of(board)])
    assert "The trials are not in this results folder." in words(found[table_of(board)])
    assert PAGE not in found
    assert "Tuning" not in words(found["index"])


def test_the_data_of_all_panels_are_two_files(board: Leaderboard, trials: TrialsFile) -> None:
    (found,) = board.tuning.values()
    files = downloads(PAGE, of_tuning(found))
    assert set(files) == {f"{PAGE}-trials.csv", f"{PAGE}-curves.csv"}
    lines = list(csv.DictReader(io.StringIO(files[f"{PAGE}-trials.csv"])))
    assert [(line["method"], line["trial"]) for line in lines] == [
        (subject.label, str(trial.number)) for subject in found for trial in subject.trials
    ]
    for subject in found:
        own = [line for line in lines if line["method"] == subject.label]
        for drawn in subject.drawn:
            shown = {int(line["trial"]): float(line[drawn.name]) for line in own if line[drawn.name]}
            assert shown == drawn.values
        chosen = {line["trial"] for line in own if line["chosen"] == "True"}
        assert chosen == ({str(subject.chosen.number)} if subject.chosen else set())
        assert {line["score"] for line in own} == {str(trial.score or "") for trial in subject.trials}
    curves = list(csv.DictReader(io.StringIO(files[f"{PAGE}-curves.csv"])))
    assert {line["series"] for line in curves} >= {subject.label for subject in found if subject.finished}
    assert len(re.findall(r"<a href=\"[^\"]*\.csv\" download>", pages(board)[PAGE])) == 2
