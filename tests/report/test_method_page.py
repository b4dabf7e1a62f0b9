"""A method's page: first how it does against the reference, board by board."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.html_pages import Reading, pages
from support.html_pages import leaderboard as board_of
from support.made_results import write_results

from benchsuite.analysis.against import against, decisions, principal
from benchsuite.analysis.results import ResultsFolder
from benchsuite.analysis.table_view import TableView
from benchsuite.papers.reader import Cited, bibliography
from benchsuite.planning.search_space import ranges
from benchsuite.records.schema import Record, TunedBy
from benchsuite.registry import methods
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.method_lines import OUTCOMES, MethodLine, by_gain, by_role, first_measures
from benchsuite.report.method_page import contained
from benchsuite.report.numbers import times
from benchsuite.report.overview import overviews
from benchsuite.report.pages import all_pages
from benchsuite.report.render import render

MakeRuns = Callable[..., dict[int, Record]]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    folder = tmp_path_factory.mktemp("made")
    write_results(folder)
    return Leaderboard.of(ResultsFolder.read(folder))


def page_of(board: Leaderboard, name: str) -> str:
    every = list(all_pages(board))
    (page,) = (page for page in every if page.name == name)
    return render(page.template, Links(name, {page.name for page in every}), title=page.title, **page.values())


def test_the_answer_comes_before_the_description(board: Leaderboard) -> None:
    page = page_of(board, "methods/temo")
    order = [page.index(f'id="{name}"') for name in ("differences", "method", "fields", "cost", "results")]
    assert order == sorted(order)


def test_a_method_says_when_it_acts_and_which_other_one_it_contains(board: Leaderboard) -> None:
    text = " ".join(Reading(page_of(board, "methods/temo")).text.split())
    assert "temperature_positive / temperature (last value) at least 1.05" in text
    assert "infonce, at modulated = False, unimodal = none, schedule = none: with its values there" in text


def test_each_hyper_parameter_says_what_searches_draw_of_it(board: Leaderboard) -> None:
    text = " ".join(Reading(page_of(board, "methods/temo")).text.split())
    assert "tau_alpha0.040.5 to 32 times taufloat" in text
    assert "schedulequadratic–" in text


def test_each_board_has_a_line_with_difference_and_verdict(board: Leaderboard) -> None:
    page, found = page_of(board, "methods/temo"), board.against("temo")
    text = " ".join(Reading(page).text.split())
    first = first_measures(found)
    assert len(first) > 1
    for one in first:
        assert MethodLine(one).gained in text
    assert page.count('<svg class="strip') - page.count('<svg class="strip ticks"') == len(first)
    for one in first:
        assert f'href="../compare/{one.board.setup_id}.html"' in page


def test_wins_and_losses_are_counted_over_all_measures(board: Leaderboard) -> None:
    page, found = page_of(board, "methods/temo"), board.against("temo")
    (sentence,) = re.findall(r'<p class="verdicts">(.*?)</p>', page)
    words = " ".join(Reading(sentence).text.split()).partition("all ")[2]
    for kind in OUTCOMES:
        count = sum(one.outcome == kind for one in found)
        assert (f" {count} {kind}" in words) == bool(count)


def test_authors_and_year_are_left_out_where_they_are_not_known() -> None:
    assert Cited(title="T").text == "T"
    assert Cited(title="T", authors="Yeh et al.", year=2022).text == "Yeh et al., T, 2022"


def test_the_page_of_the_bibliography_has_the_same_papers() -> None:
    shown = re.findall(r"^\| `([^`]+)` \| (.*) \|$", (ROOT / "docs" / "bibliography.md").read_text("utf-8"), re.M)
    assert dict(shown) == {key: paper.text for key, paper in bibliography().items()}


def test_a_comparison_is_answered_by_verdicts_first_and_each_line_has_one(board: Leaderboard) -> None:
    for one in board.boards:
        found = board.comparisons[one.setup_id]
        if not found:
            continue
        page = page_of(board, f"compare/{one.setup_id}")
        lines = page[page.index('id="differences"') :].partition("</table>")[0]
        own = [principal(row for row in one.rows if row.method == method) for method in {r.method for r in one.rows}]
        for kind in OUTCOMES:
            expected = sum(pair.outcome == kind and bool(pair.pair.n) and pair.row in own for pair in found)
            assert len(re.findall(rf"</span> {kind}</span>", lines)) == expected
        text = " ".join(Reading(page).text.split())
        assert f"Against {found[0].reference.label}, " in text


def test_a_page_can_give_the_verdict_on_any_two_rows(board: Leaderboard) -> None:
    one = max(board.boards, key=lambda one: len(one.rows))
    told = decisions(one, {})
    for number, task in enumerate(one.tasks):
        assert told["ranks"][number] == (task.better != "neither")
        decided = {(first, second) for first, second in told["decided"][number]}
        for a, ours in enumerate(one.rows):
            for b, theirs in enumerate(one.rows):
                if a != b and told["ranks"][number]:
                    outcome = against(one, ours, theirs, task, {}).outcome
                    assert ((a, b) in decided) == (outcome == "better")
    assert any(told["decided"])


def test_a_method_stands_once_on_each_board_and_its_other_configurations_apart(make_runs: MakeRuns) -> None:
    near, far, between = (0.5, 0.51, 0.52, 0.53), (0.7, 0.71, 0.72, 0.73), (0.6, 0.61, 0.62, 0.635)
    rows = [make_runs("infonce", near), make_runs("temo", near[:3])]
    rows += [make_runs("temo", values, hyperparameters={"tau": tau}) for values, tau in ((between, 0.3), (far, 0.2))]
    made = board_of([], [record for one in rows for record in one.values()])
    own, others = by_role(made.against("temo"))
    assert [one.row.label for one in own] == ["TeMo"]
    assert [one.row.label for one in by_gain(others)] == ["TeMo (tau=0.2)", "TeMo (tau=0.3)"]
    compare = page_of(made, f"compare/{made.boards[0].setup_id}")
    assert re.findall(r'<th scope="row">(?:<a[^>]*>)?(TeMo[^<]*)<', compare)[:3] == [
        "TeMo (tau=0.2)", "TeMo (tau=0.3)", "TeMo",
    ]  # fmt: skip


def test_a_method_costs_what_its_own_rows_cost_on_its_page_and_on_the_first(make_runs: MakeRuns) -> None:
    values, records = (0.5, 0.51, 0.52), []
    by = TunedBy(trials=16, trial=1, score=0.5, digest="d", searched=["tau"])
    for steps, cost in ((10, 2.0), (20, 4.0)):
        first = make_runs()[0].setup
        setup = first.model_copy(update={"training": first.training.model_copy(update={"steps": steps})})
        rows = [make_runs("infonce", values, [1.0] * 3, setup=setup, tuned=by)]
        rows += [make_runs("temo", values, [cost] * 3, setup=setup, tuned=by)]
        rows += [make_runs("temo", values, [9.0] * 3, setup=setup, hyperparameters={"tau": 0.3})]
        rows += [make_runs("temo", values[:2], [9.0] * 3, setup=setup, hyperparameters={"schedule": "none"}, tuned=by)]
        records += [record for row in rows for record in row.values()]
    made = board_of([], records)
    (line,) = overviews(made)[0].lines
    text = " ".join(Reading(page_of(made, "methods/temo")).text.split())
    assert f"cost {times(line.cost)} (median over boards; {times(2)} to {times(4)})".replace("\xa0", " ") in text
    assert "Not tuned, though their reference (InfoNCE) is, with 16 trials: 2 of 4." in text
    same = [record for record in records if record.tuned or record.method.name == "infonce"]
    assert "Not tuned, though" not in page_of(board_of([], same), "methods/temo")


def test_an_undecided_difference_whose_interval_has_no_zero_says_why(make_runs: MakeRuns) -> None:
    near = (0.50, 0.51, 0.52, 0.53)
    small = tuple(value + gain for value, gain in zip(near, (0.01, 0.002, 0.015, 0.012), strict=True))
    rows = [make_runs("infonce", near), make_runs("temo", small), make_runs("ts", near), make_runs("cwcl", near)]
    made = board_of([], [record for one in rows for record in one.values()])
    (one,) = made.against("temo")
    line = MethodLine(one)
    assert one.gains.low is not None
    assert (one.outcome, one.gains.low > 0, line.remark) == ("undecided", True, "after correction")
    assert "≈ undecided after correction" in " ".join(Reading(page_of(made, "methods/temo")).text.split())
    (tied,) = made.against("ts")
    assert (tied.outcome, MethodLine(tied).remark) == ("undecided", "")


def test_a_method_shows_what_its_docstring_says_and_leads_to_its_rows(measured: TableView) -> None:
    other = replace(measured, asked=measured.asked.model_copy(update={"scale": "smoke"}))
    page = Reading(pages(board_of([measured, other]))["methods/temo"])
    assert "math" in page.tags
    for said in ("Traps:", "tau_alpha", "image view, text view", "benchsuite.methods.temo"):
        assert said in page.text
    assert {f"../tables/temo-table1-{scale}.html" for scale in ("small", "smoke")} <= {*page.addresses}


def test_a_method_whose_plugin_is_not_loaded_still_has_its_page(make_record: Callable[..., Any]) -> None:
    part = make_record()[0].method.model_copy(update={"name": "mine", "title": "Mine"})
    assert "its plugin is not loaded" in pages(board_of(records=[make_record(method=part)[0]]))["methods/mine"]


def test_a_plugins_values_are_not_called_a_papers_and_its_file_has_no_folder(measured: TableView) -> None:
    board = board_of([measured])
    method = board.methods["temo"]
    assert method.card is not None
    about = {**method.card.about, "paper": "me2026", "citation": "Me <et al.>,\nMine, 2026"}
    mine = replace(method, card=replace(method.card, owner="/somewhere/mine.py", about=about))
    vars(board)["methods"] = {**board.methods, "temo": mine}
    text = Reading(pages(board)["methods/temo"]).text
    assert "Defaults are those of the paper." not in text
    assert "Me <et al.>,\nMine, 2026" in text
    assert mine.owner == "mine.py"


@pytest.mark.parametrize(
    ("method", "undrawn"),
    [
        ("dystress", []),
        ("temo", ["modulated", "unimodal", "schedule"]),
        ("softclip", ["soft_weight", "negatives_weight"]),
    ],
)
def test_a_method_that_contains_another_says_whether_a_search_can_find_it(method: str, undrawn: list[str]) -> None:
    card = methods.card(method)
    found = contained(card.about, ranges(card))
    assert {tuple(left) for _, _, left in found} == {tuple(undrawn)}
