from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.claimed import HEADLINE, HIGH, LOW, TWO, MakeRecord, claimed, row, table, view

from benchsuite.analysis.judged_claims import judged_added, judged_claims, unrun_claims
from benchsuite.analysis.premises import PremiseFinding, findings
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UsageError
from benchsuite.papers.claim import claims_of
from benchsuite.papers.questions import Premise

OLD = {"statement": "there is a gap", "rows": ["old"], "gauge": "gap", "at_least": 0.3}
BOTH = {"ours": HIGH, "old": LOW}


def measured(make: MakeRecord, *premises: dict[str, Any], gap: float = 0.2, **values: Any) -> TableView:
    """Both rows, with a gap that ends at this value after other ones, and at twice that value in the proposed row."""
    curves = {
        label: {"curves": {"step": [0.0, 1.0, 2.0], "gap": [9.0, size, None]}}
        for label, size in (("old", gap), ("ours", 2 * gap))
    }
    return view(make, claimed(*TWO, premises=premises), values or BOTH, curves)


def judged(view: TableView) -> tuple[str, str]:
    (one,) = judged_claims(view)
    return one.verdict.kind, one.verdict.reason


def state(view: TableView) -> PremiseFinding:
    return view.premises[0]


def test_a_premise_is_checked_on_the_last_finite_value_of_the_runs_own_gauge(make_record: MakeRecord) -> None:
    assert judged(measured(make_record, OLD))[0] == "premise not met"
    assert judged_claims(measured(make_record, OLD))[0].idle == "", "it is no mechanism of a method"
    assert judged(measured(make_record, OLD, gap=0.3))[0] == "reproduced"
    assert state(measured(make_record, OLD)).values == {("B", "", "old"): pytest.approx(0.2)}
    assert [state(measured(make_record, OLD, gap=gap)).state for gap in (0.2, 0.3)] == ["not met", "holds"]


def test_a_premise_may_be_about_a_column_in_the_unit_as_printed(make_record: MakeRecord) -> None:
    premise = {"statement": "below the ceiling", "column": "a", "at_most": 31.5}
    assert judged(measured(make_record, premise))[0] == "reproduced"
    ceiling = {**premise, "at_most": 31.4}
    kind, reason = judged(measured(make_record, ceiling))
    assert kind == "premise not met"
    assert "G R@1 at most 31.4, but B/ours has 31.5" in reason, "either row breaks it"
    assert judged(measured(make_record, {**ceiling, "rows": ["old"]}))[0] == "reproduced"


def test_a_claim_without_its_premise_leaves_the_family(make_record: MakeRecord) -> None:
    rows = (row("old", 10), row("older", 9), row("ours", 12, "proposed"))
    premise = {"statement": "P", "column": "a", "rows": ["older"], "at_least": 90, "concerns": ["older"]}
    claims = [HEADLINE, {**HEADLINE, "reference": "older"}]
    values = {"ours": HIGH, "old": LOW, "older": LOW[::-1]}
    without, found = (
        judged_claims(view(make_record, table(*rows, claims=claims, premises=premises), values))
        for premises in ([], [premise])
    )
    assert [one.verdict.kind for one in without] == ["reproduced", "reproduced"]
    assert [one.verdict.kind for one in found] == ["reproduced", "premise not met"]
    sizes = [one.verdict.family and one.verdict.family.size for one in (without[0], found[0])]
    assert sizes == [2, 1]
    elsewhere = {**premise, "concerns": [], "columns": ["a"], "rows": ["old"]}
    both = judged_claims(view(make_record, table(*rows, claims=claims, premises=[elsewhere]), values))
    assert [one.verdict.kind for one in both] == ["premise not met"] * 2


def test_a_claim_whose_rows_were_not_run_is_not_run_whatever_premise_is_known_not_to_hold(
    make_record: MakeRecord,
) -> None:
    known = {**OLD, "unmet": {"small": "the runs are too short"}}
    why = '"there is a gap" does not hold at this scale: the runs are too short'
    assert judged(measured(make_record, known, ours=HIGH)) == ("not run", "old: no record")
    there = measured(make_record, known, gap=0.9)
    assert judged(replace(there, rows=there.rows[:1])) == ("not selected", "its rows were not selected")
    no_run = "no stored run of this table at this scale"
    for scale, reason in (("small", f"{no_run}; {why}"), ("", no_run)):
        (one,) = unrun_claims(table(*TWO, premises=[known]), scale)
        assert (one.verdict.kind, one.verdict.reason) == ("not run", reason)


def test_a_premise_without_runs_is_not_checked_and_its_claims_wait(make_record: MakeRecord) -> None:
    three = table(*TWO, row("gapped", 3), premises=[{**OLD, "rows": ["gapped"]}])
    found = view(make_record, three, BOTH)
    (one, _) = judged_claims(found)
    assert (one.verdict.kind, state(found).state) == ("not run", "not checked")


def test_a_gauge_that_no_run_has_is_an_error_with_those_there_are(make_record: MakeRecord) -> None:
    for premise in ({**OLD, "gauge": "gab"}, {**OLD, "per": "gab"}):
        with pytest.raises(UsageError, match=r'p/t, premise "there is a gap".*gauge "gab".*known: gap.*mean "gap"'):
            judged_claims(measured(make_record, premise))


def test_a_row_without_a_gauge_that_others_have_is_not_checked(make_record: MakeRecord) -> None:
    found = measured(make_record, {**OLD, "rows": []})
    bare = [record.model_copy(update={"curves": {"step": [0.0]}}) for record in found.rows[0].records]
    found = replace(found, rows=[replace(found.rows[0], records=bare), found.rows[1]])
    assert (judged(found)[0], state(found).state) == ("not run", "not checked")
    assert list(state(found).missing) == [found.rows[0].key]


def test_added_rows_are_no_claims_of_the_paper(make_record: MakeRecord) -> None:
    premise = {"statement": "P", "rows": ["old"], "column": "a", "at_least": 99}
    whole = view(make_record, table(*TWO, row("mine", 0)), {**BOTH, "mine": HIGH})
    added = replace(whole, table=claimed(*TWO, premises=[premise]))
    assert [one.verdict.kind for one in judged_claims(added)] == ["premise not met"]
    assert [one.verdict.kind for one in judged_added(added)] == ["reproduced"]


def test_the_number_of_a_row_is_the_mean_over_its_runs(make_record: MakeRecord) -> None:
    (row, *others) = measured(make_record, OLD).rows
    records = [
        record.model_copy(update={"curves": {"step": [0.0], "gap": [seed]}}) for seed, record in enumerate(row.records)
    ]
    own = table(*TWO, premises=[OLD])
    (finding,) = findings(own, claims_of(own), "small", [replace(row, records=records), *others])
    assert finding.values == {row.key: 1.5}


SWINGS = {"step": [0.0, 1.0, 2.0], "temperature": [0.05, 0.01, None]}
STILL = {**SWINGS, "temperature": [0.05, 0.0461, None]}


def acting(make: MakeRecord, curves: dict[str, Any], other: dict[str, Any] | None = None, **changes: Any) -> TableView:
    """A row of a method that says when its mechanism acts, before a baseline."""
    rows = row("old", 10), row("ours", 12, "proposed", **{"method": "ts", **changes})
    return view(make, claimed(*rows), BOTH, {"ours": {"curves": curves}, "old": {"curves": other or SWINGS}})


def test_a_claim_whose_rows_mechanism_did_not_act_is_not_tested(make_record: MakeRecord) -> None:
    assert judged(acting(make_record, SWINGS))[0] == "reproduced"
    still = acting(make_record, STILL)
    kind, reason = judged(still)
    assert (kind, state(still).state) == ("premise not met", "not met")
    assert "TS: " in reason
    assert "highest over lowest value) at least 1.1, but B/ours has 1.085" in reason
    assert judged(acting(make_record, {"step": [0.0]}))[0] == "not run", "nobody knows whether it acted"


@pytest.mark.parametrize("method", ["infonce", "ts"])
def test_the_mechanism_of_the_reference_is_not_asked_for(make_record: MakeRecord, method: str) -> None:
    rows = row("old", 10, method="ts"), row("ours", 12, "proposed", method=method)
    found = view(make_record, claimed(*rows), BOTH, {"old": {"curves": STILL}, "ours": {"curves": SWINGS}})
    assert state(found).state == "not met"
    assert judged(found)[0] == "reproduced"
    (claim,) = judged_claims(found)
    assert claim.idle.endswith("(highest over lowest value) at least 1.1, but has 1.085"), "but it is said"
    acted = view(make_record, claimed(*rows), BOTH, {"old": {"curves": SWINGS}, "ours": {"curves": SWINGS}})
    assert [one.idle for one in judged_claims(acted)] == [""]


@pytest.mark.parametrize(
    ("hyperparameters", "kind"),
    [
        ({}, "premise not met"),
        ({"alpha": 0}, "reproduced"),
        ({"alpha": 0, "shift_min": 0.07, "shift_max": 0.07}, "reproduced"),
        ({"shift_min": 0.07, "shift_max": 0.07}, "premise not met"),
    ],
)
def test_a_row_that_turns_the_mechanism_off_is_not_asked_for_it(
    make_record: MakeRecord, hyperparameters: dict[str, float], kind: str
) -> None:
    """Clusters differ by far in these runs, and nothing swings."""
    curves = {**STILL, "temperature_min": [0.01] * 3, "temperature_max": [0.02] * 3}
    changed = acting(make_record, curves, method="mm-ts", hyperparameters=hyperparameters)
    assert judged(changed)[0] == kind


def test_mechanisms_of_added_rows_are_asked_for_too(make_record: MakeRecord) -> None:
    found = acting(make_record, STILL)
    added = replace(found, table=table(row("old", 10)), rows=found.rows)
    (one,) = judged_added(added)
    assert one.verdict.kind == "premise not met"


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=8), st.floats(0.01, 0.5))
def test_what_a_number_of_a_curve_must_be(points: list[float], least: float) -> None:
    swing = Premise(statement="P", gauge="g", over="swing", at_least=1 + least)
    assert swing.admits(swing.shown({"g": points})) == (max(points) / min(points) >= 1 + least)
    apart = Premise(statement="P", gauge="g", per="h", apart=least)
    quotient = apart.shown({"g": points, "h": [2.0]})
    assert apart.admits(quotient) == (quotient is not None and not 1 - least < quotient < 1 + least)
