"""The page that compares two methods makes the numbers that Python makes, and keeps the choice in the address."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import MadeSite, address

from benchsuite.analysis.against import against
from benchsuite.analysis.boards import Board, PrimaryMeasure, paired
from benchsuite.analysis.results import ResultsFolder
from benchsuite.planning.recipe import Primary
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.numbers import in_unit, signed
from benchsuite.report.numbers import paired as in_words

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]
ALL_CHOICES = """() => {
  const [left, right, task] = document.querySelectorAll(".picker select");
  const found = [];
  for (const on of task.options) for (const a of left.options) for (const b of right.options) {
    [task.value, left.value, right.value] = [on.value, a.value, b.value];
    task.dispatchEvent(new Event("change"));
    const output = document.querySelector(".picker output");
    found.push({a: a.text, b: b.text, task: on.text, told: output.querySelector("p").textContent,
      lines: [...output.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent))});
  }
  return found;
}"""


def name_of(task: PrimaryMeasure) -> str:
    return f"{task.title} ({task.protocol}, {task.metric})"


@pytest.fixture(scope="module")
def shown(site: MadeSite) -> Leaderboard:
    return Leaderboard.of(ResultsFolder.read(site.results))


@pytest.fixture(scope="module")
def board(shown: Leaderboard) -> Board:
    return shown.boards[0]


def test_every_pair_has_the_difference_that_python_has(new_page: Open, shown: Leaderboard, board: Board) -> None:
    assert board.unpairable, "a pair with a seed left out is among what this test is about"
    choices = new_page(f"compare/{board.setup_id}").evaluate(ALL_CHOICES)
    told = {(one["a"], one["b"], one["task"]): one for one in choices}
    checked, verdicts, stated = 0, set(), shown.interest[board.setup_id]
    for ours, theirs in permutations(board.rows, 2):
        for task in board.tasks:
            pair = paired(board, ours, theirs, task)
            said = told[ours.label, theirs.label, name_of(task)]
            points = " points" if task.unit == "percent" else ""
            n = f"{pair.n} {'seed' if pair.n == 1 else 'seeds'}"
            verdict = "" if task.better == "neither" else against(board, ours, theirs, task, stated).outcome
            answer = f"{ours.label} against {theirs.label}: {verdict}. " if verdict else ""
            assert said["told"].startswith(f"{answer}Mean difference {in_words(pair, task.unit)}{points} over {n}.")
            verdicts.add(verdict)
            assert said["lines"] == [
                [str(seed), in_unit(a, task.unit).replace("-", "−"), in_unit(b, task.unit).replace("-", "−"),
                 signed(a - b, task.unit)]
                for seed, a, b in zip(pair.seeds, pair.ours, pair.theirs, strict=True)
            ]  # fmt: skip
            left_out = (
                board.unpairable.get((ours.label, theirs.label))
                or board.unpairable.get((theirs.label, ours.label))
                or ()
            )
            assert ("Skipped seeds" in said["told"]) == bool(left_out)
            assert all(str(seed) in said["told"].partition("Skipped seeds")[2] for seed in left_out)
            checked += 1
    assert checked >= 100
    assert {"better", "worse", "undecided"} <= verdicts


@pytest.mark.parametrize("interest", [0.001, 0.3])
def test_the_picker_says_equivalent_where_python_does(new_page: Open, board: Board, interest: float) -> None:
    """Whatever smallest difference of interest the recipe states: another one is put into the page's data."""
    page = new_page(f"compare/{board.setup_id}")
    page.add_init_script(
        "const parse = JSON.parse; JSON.parse = text => { const data = parse(text);"
        f"if (data.interest) data.interest = data.interest.map(() => {interest}); return data; }}"
    )
    page.reload()
    told = {(one["a"], one["b"], one["task"]): one["told"] for one in page.evaluate(ALL_CHOICES)}
    verdicts = Counter[str]()
    for task in (task for task in board.tasks if task.better != "neither" and task.unit == "percent"):
        stated = {task.protocol: Primary(metric=task.metric, difference=interest)}
        for ours, theirs in permutations(board.rows, 2):
            verdict = against(board, ours, theirs, task, stated).outcome
            said = told[ours.label, theirs.label, name_of(task)]
            assert said.startswith(f"{ours.label} against {theirs.label}: {verdict}. "), said
            verdicts[verdict] += 1
    assert verdicts["equivalent" if interest > 0.1 else "undecided"]


def test_the_choice_is_kept_in_the_address(new_page: Open, board: Board) -> None:
    page = new_page(f"compare/{board.setup_id}")
    one, other, task = board.rows[3], board.rows[1], board.tasks[1]
    page.get_by_role("combobox", name="Method", exact=True).select_option(label=one.label)
    page.get_by_role("combobox", name="minus", exact=True).select_option(label=other.label)
    page.get_by_role("combobox", name="on", exact=True).select_option(label=name_of(task))
    before = page.locator(".picker output").inner_text()
    assert parse_qs(urlsplit(address(page)).query) == {"a": ["3"], "b": ["1"], "task": ["1"]}
    page.reload()
    assert page.locator(".picker output").inner_text() == before
    assert one.label in before
    assert other.label in before
