"""The lines that answer a comparison: differences in points, verdicts in a user's words, and the best row first."""

import re
from dataclasses import replace

import pytest
from support.claimed import HEADLINE, HIGH, LOW, TWO, MakeRecord, table, view

from benchsuite.analysis.table_view import TableView
from benchsuite.records.shipped import shipped_digests
from benchsuite.report.answer import answer_lines, latex_rows


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
    assert sum("× " in line.replace("\N{NO-BREAK SPACE}", " ") for line in answer_lines(views[:1])) == 0
    assert shipped_digests() is not elsewhere


def test_methods_beside_the_question_are_rows_without_an_answer(views: list[TableView]) -> None:
    lines = [*answer_lines(views, beside=["ours"])]
    assert not any("against" in line for line in lines)
    assert sum(line.startswith("  ours ") for line in lines) == 2


def test_latex_has_a_row_a_method_and_regime(views: list[TableView]) -> None:
    lines = [*latex_rows(views)]
    assert [line.split(" &")[0] for line in lines if not line.startswith("%")] == ["old", "ours"] * 2
    assert all(line.endswith("\\\\") for line in lines if not line.startswith("%"))
