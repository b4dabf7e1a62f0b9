"""Configurations: which runs share a page, and what they share there."""

import re
from collections.abc import Callable
from typing import Any

from support.html_pages import Reading, leaderboard, pages

from benchsuite.analysis.table_view import TableView
from benchsuite.papers.schema import row_name
from benchsuite.records.schema import Record
from benchsuite.report.figures.model import MANY
from benchsuite.report.pages import run_page
from benchsuite.report.runs_page import AMOUNT, Configuration, SeedNumbers, alike, apart, configurations, page_of

MakeRecord = Callable[..., tuple[Record, bytes]]


def runs(make_record: MakeRecord, seeds: int, tau: float = 0.03, **changes: Any) -> list[Record]:
    """Of InfoNCE, by seed."""
    method = make_record()[0].method.model_copy(update={"hyperparameters": {"tau": tau}})
    return [make_record(seed, method=method, **changes)[0] for seed in range(seeds)]


def test_runs_share_a_page_if_they_differ_in_the_seed_alone(make_record: MakeRecord) -> None:
    first = runs(make_record, 3)
    other = runs(make_record, 2, tau=0.5)
    elsewhere = runs(make_record, 1, setup=first[0].setup.model_copy(update={"temperature_factor": 2.0}))
    found = configurations([*other, *elsewhere, *reversed(first)])
    assert sorted([record.seed for record in one.records] for one in found) == [[0], [0, 1], [0, 1, 2]]
    assert len({page_of(one.first) for one in found}) == 3


def test_a_page_keeps_its_name_when_seeds_are_added(make_record: MakeRecord) -> None:
    assert len({page_of(record) for record in runs(make_record, 3)}) == 1


def test_a_hostile_name_is_no_address(make_record: MakeRecord) -> None:
    (record,) = runs(make_record, 1)
    hostile = record.model_copy(update={"method": record.method.model_copy(update={"name": "../<a>'\"/x"})})
    assert not set(page_of(hostile)) & set("/<>'\"")


def test_a_number_that_a_seed_lacks_is_a_dash_and_no_part_of_the_mean() -> None:
    line = SeedNumbers("t2i_r1", "percent", [0.1, None, 0.3])
    assert (line.label, line.mean, line.by_seed) == ("t2i r1, %", "20.0", ["10.0", "–", "30.0"])
    assert line.spread == ["20.0", "14.1", "10.0", "30.0"]
    assert SeedNumbers("gap", "number", [None]).spread == ["–"] * 4
    assert SeedNumbers("gap", "number", [0.5, None]).spread == ["0.500", "–", "0.500", "0.500"]


def test_many_seeds_are_told_by_their_mean_and_spread(make_record: MakeRecord) -> None:
    few, many = (Configuration(runs(make_record, count)) for count in (MANY, MANY + 1))
    assert few.heads == ["Mean", *(f"Seed {seed}" for seed in range(MANY))]
    assert many.heads == ["Mean", "Standard deviation", "Lowest", "Highest"]
    for shown in (few, many):
        assert {len(shown.cells(line)) for lines in shown.results.values() for line in lines} == {len(shown.heads)}


def test_facts_are_alike_or_apart_and_never_both() -> None:
    facts = {"device": ["cpu", "cpu"], "seconds": ["1", "2"]}
    assert alike(facts) == {"device": "cpu"}
    assert apart(facts) == {"seconds": ["1", "2"]}


def test_a_count_that_all_runs_share_is_said_once() -> None:
    assert SeedNumbers("i2t", AMOUNT, [20, 20, 20]).common
    assert not SeedNumbers("i2t", AMOUNT, [20, 20, 19]).common, "runs that were tested on less must be seen"
    assert not SeedNumbers("i2t", AMOUNT, [20]).common
    assert not SeedNumbers("r1", "percent", [0.5, 0.5]).common, "equal results are results"


def test_a_run_has_its_digests_numbers_and_the_command_that_repeats_it(measured: TableView) -> None:
    found, record = pages(leaderboard([measured])), measured.rows[1].records[2]
    text = " ".join(Reading(found[run_page(record)]).text.split())
    command = "benchsuite repro temo/table1 --scale small --rows RN50/TeMo --seed 0 --results again"
    for said in (command, record.digest[:16], record.ranks.sha256[:16], record.setup_id):
        assert said in text
    assert re.search(r"Metric ?Mean ?Seed 0 ?Seed 1 ?Seed 2", text)
    assert re.search(r"i2t r1, % ?41\.2 ?40\.0 ?42\.5 ?41\.0", text)


def test_the_seeds_of_a_row_share_a_page_on_which_each_has_a_place(measured: TableView) -> None:
    found = pages(leaderboard([measured]))
    for row in measured.rows:
        (name,) = {run_page(record) for record in row.records}
        assert {record.run_id for record in row.records} <= set(Reading(found[name]).ids)
        assert (
            f'<li>{row_name(row.key)}: <a href="../{name}.html">3 seeds</a></li>' in found["tables/temo-table1-small"]
        )
    assert len({name for name in found if name.startswith("runs/")}) == len(measured.rows)
    assert "single-runs" not in Reading(found["index"]).ids


def test_a_run_that_no_table_asked_for_is_on_the_board_of_its_setup(make_record: MakeRecord) -> None:
    record = make_record(5, recipe="my-recipe")[0]
    found = pages(leaderboard(records=[record]))
    board, run = f"compare/{record.setup_id}", run_page(record)
    assert "<dt>recipe</dt><dd>my-recipe" in found[run]
    assert f'<a href="{board}.html#single-runs">my-recipe, test_vit, distilbert</a>' in found["index"]
    assert f"../{run}.html#{record.run_id}" in Reading(found[board]).addresses
    assert "picker" not in Reading(found[board]).ids
