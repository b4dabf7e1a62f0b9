"""The lines that answer a comparison: differences in points, verdicts in a user's words, and the best row first."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.claimed import HEADLINE, HIGH, LOW, TWO, MakeRecord, row, table, view

from benchsuite.analysis.table_view import TableView
from benchsuite.records.schema import Sidecar, TunedBy
from benchsuite.records.shipped import shipped_digests
from benchsuite.report.answer import answer_lines, latex_rows, run_lines


@pytest.fixture
def views(make_record: MakeRecord) -> list[TableView]:
    """`ours` is better than `old` as printed, and worse when tuned."""
    made = table(*TWO, claims=[HEADLINE])
    values = {"printed": {"old": LOW, "ours": HIGH}, "tuned": {"old": HIGH, "ours": LOW}}
    return [view(make_record, made, own, regime=regime) for regime, own in values.items()]


def test_each_regime_has_its_verdict_and_the_pair_a_name(views: list[TableView]) -> None:
    first, printed, tuned, name, *_ = answer_lines(views)
    assert first.startswith("ours against old")
    assert re.fullmatch(
        r"  as printed: \+\d+\.\d ± \d+\.\d points, paired: better \(p .*, \d replicates\); .*", printed
    )
    assert re.fullmatch(r"  tuned: −\d+\.\d ± \d+\.\d points, paired: worse \(p .*, \d replicates\); .*", tuned)
    assert name.startswith("  so: gain of tuning")


@pytest.mark.parametrize(("trials", "said"), [(0, "nothing was searched"), (5, "the learning rate alone was searched")])
def test_rows_as_printed_say_what_was_searched(views: list[TableView], trials: int, said: str) -> None:
    printed = replace(views[0], asked=views[0].asked.model_copy(update={"trials": trials}))
    assert any(said in line for line in answer_lines([printed]))


def test_rows_are_in_the_order_of_the_last_regime(views: list[TableView]) -> None:
    rows = [line.split()[0] for line in answer_lines(views) if re.match(r"  (old|ours) ", line)]
    assert rows == ["old", "ours"] * 2


def test_costs_are_compared_where_they_were_measured_on_one_machine(
    views: list[TableView], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum("× " in line.replace("\N{NO-BREAK SPACE}", " ") for line in answer_lines(views)) == 4
    elsewhere = frozenset(record.digest for record in views[0].rows[0].records)
    monkeypatch.setattr("benchsuite.report.answer.shipped_digests", lambda: elsewhere)
    alone = [*answer_lines(views[:1])]
    assert sum("× " in line.replace("\N{NO-BREAK SPACE}", " ") for line in alone) == 0
    assert not any("seconds" in line for line in alone), "nor are they announced"
    assert shipped_digests() is not elsewhere


def test_methods_beside_the_question_are_rows_without_an_answer(views: list[TableView]) -> None:
    lines = [*answer_lines(views, beside=["ours"])]
    assert not any("against" in line for line in lines)
    assert sum(line.startswith("  ours ") for line in lines) == 2


@pytest.mark.parametrize(("better", "best", "beaten"), [("higher", "ours", "old"), ("lower", "old", "ours")])
def test_of_three_rows_the_best_is_named_with_what_it_beats(
    better: str, best: str, beaten: str, make_record: MakeRecord
) -> None:
    """`near` lies beside the best row, apart from noise."""
    near = (0.31, 0.30, 0.34, 0.31) if better == "higher" else (0.11, 0.12, 0.13, 0.12)
    made = table(*TWO, row("near", 11), claims=[HEADLINE], column={"better": better})
    shown = view(make_record, made, {"old": LOW, "ours": HIGH, "near": near})
    (line,) = (line for line in answer_lines([shown]) if line.startswith("best"))
    named, than, against = line.partition(" (")[0].split(", ")
    assert named.endswith(best)
    assert than.endswith(f"better than {beaten}")
    assert against.endswith("near")
    two = view(make_record, table(*TWO, claims=[HEADLINE]), {"old": LOW, "ours": HIGH})
    assert not any(line.startswith("best") for line in answer_lines([two])), "its claim says it"


def test_the_run_to_take_is_that_of_the_first_replicate(make_record: MakeRecord) -> None:
    """Not the one of the best test score; its weights are offered where they are kept."""
    kept = Sidecar(file="w.safetensors", sha256="0" * 64)
    changes = {"ours": {"weights": kept}}
    shown = view(make_record, table(*TWO), {"old": LOW, "ours": HIGH}, changes, first=2)
    runs = {row.label: next(record.run_id for record in row.records if record.seed == 2) for row in shown.rows}
    listed, following = run_lines(shown, Path("else"))
    assert listed.endswith(", ".join(f"{label} {run}" for label, run in runs.items()))
    assert f"benchsuite weights {runs['ours']} --results else " in following
    bare = view(make_record, table(*TWO), {"old": LOW, "ours": HIGH})
    assert len([*run_lines(bare, Path("else"))]) == 1, "no command that would be refused"
    assert not [*run_lines(view(make_record, table(*TWO), {}), Path("else"))]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_row_without_runs_is_behind_all_others(better: str, make_record: MakeRecord) -> None:
    made = table(*TWO, row("none", 11), claims=[HEADLINE], column={"better": better})
    lines = [*answer_lines([view(make_record, made, {"old": LOW, "ours": HIGH})])]
    order = [line.split()[0] for line in lines if line.startswith(("  old ", "  ours ", "  none "))]
    assert order == (["ours", "old", "none"] if better == "higher" else ["old", "ours", "none"])


def test_a_gain_of_rows_that_search_the_rate_alone_is_one_at_given_values(make_record: MakeRecord) -> None:
    made, values = table(*TWO, claims=[HEADLINE]), {"old": LOW, "ours": HIGH}
    found = {label: {"tuned": TunedBy(trials=16, trial=0, score=0.5, digest="d")} for label in values}
    views = [view(make_record, made, values, regime="printed"), view(make_record, made, values, found, regime="tuned")]
    assert any(line.startswith("  so: gain at given values") for line in answer_lines(views))


def test_latex_has_a_row_a_method_and_regime(views: list[TableView]) -> None:
    lines = [*latex_rows(views)]
    assert [line.split(" &")[0] for line in lines if not line.startswith("%")] == ["old", "ours"] * 2
    assert all(line.endswith("\\\\") for line in lines if not line.startswith("%"))
