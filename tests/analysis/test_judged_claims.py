import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from support.claimed import HIGH, LOW, TEXT, TWO, MakeRecord, claimed, row, table, view

from benchsuite.analysis.building import build_table
from benchsuite.analysis.judged_claims import interest_of, judged_added, judged_claims, published_gain, unrun_claims
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Family, Verdict
from benchsuite.papers.claim import claims_of
from benchsuite.planning.recipe import Primary
from benchsuite.records.schema import Result, TunedBy


@pytest.mark.parametrize(
    ("ours", "old", "kind"),
    [(HIGH, LOW, "reproduced"), (LOW, HIGH, "opposite"), (LOW, (0.2, 0.05, 0.2, 0.05), "undecided")],
)
def test_a_claim_is_judged_by_paired_runs(
    make_record: MakeRecord, ours: Sequence[float], old: Sequence[float], kind: str
) -> None:
    (one,) = judged_claims(view(make_record, claimed(*TWO), {"ours": ours, "old": old}))
    assert (one.claim.row[2], one.verdict.kind, one.scale) == ("ours", kind, "small")


def test_a_family_is_the_headline_claims_of_all_tables_with_the_scale(make_record: MakeRecord) -> None:
    three = claimed(row("old", 10), row("older", 9), row("ours", 12, "proposed"))
    whole = view(make_record, three, {"ours": HIGH, "old": LOW, "older": LOW})
    other = claimed(*TWO, row("oldest", 3), table="other")
    elsewhere = claimed(*TWO, table="elsewhere", recipes={"gpu": "r"})
    for mates, size in (([], 1), ([other], 2), ([other, elsewhere], 2)):
        built = build_table(three, whole.asked, whole.setting, [], [three, *mates])
        headline, further = judged_claims(replace(whole, siblings=built.siblings))
        assert headline.verdict.family == Family("headline claims of p at scale small", size)
        assert (further.verdict.kind, further.verdict.family) == ("exploratory", None)


def test_a_confirmed_claim_of_another_table_leaves_more_for_this_one(make_record: MakeRecord) -> None:
    tables = {name: claimed(*TWO, table=name) for name in ("t", "u")}
    near = (0.11, 0.15, 0.13, 0.15)
    one, clear, unclear = (
        view(make_record, tables[name], {"old": LOW, "ours": ours})
        for name, ours in (("t", near), ("u", HIGH), ("u", LOW))
    )

    def p(*beside: TableView) -> float | None:
        return judged_claims(replace(one, siblings=[tables["u"]], beside=[*beside]))[0].verdict.p_adjusted

    alone = judged_claims(one)[0].verdict.p_adjusted
    assert alone is not None
    assert p() == p(unclear) == pytest.approx(2 * alone), "what was not run counts as not confirmed"
    assert p(clear) == pytest.approx(alone)


def test_what_is_no_headline_claim_is_explored_with_the_others_of_its_table(make_record: MakeRecord) -> None:
    rows = row("old", 10), row("older", 9), row("oldest", 8), row("ours", 12, "proposed")
    values = {"old": LOW, "older": (0.11, 0.15, 0.13, 0.15), "oldest": (0.2, 0.05, 0.2, 0.05), "ours": HIGH}
    judged = judged_claims(view(make_record, table(*rows), values))
    assert [one.verdict.kind for one in judged] == ["exploratory"] * 3
    found = sorted((one.verdict.paired.p, one.verdict.false_discovery_rate) for one in judged if one.verdict.paired)
    (p, q), (second, q2), (third, q3) = found
    assert (q, q2, q3) == pytest.approx((min(3 * p, 1.5 * second, third), min(1.5 * second, third), third))
    assert all(one.verdict.p_adjusted is None and one.verdict.confirmable is None for one in judged)


def test_each_added_row_is_a_family_of_its_own(make_record: MakeRecord) -> None:
    three = claimed(row("old", 10), row("ours", 12, "proposed"), row("mine", 0), row("mine too", 0))
    whole = view(make_record, three, {"ours": HIGH, "old": LOW, "mine": HIGH, "mine too": LOW})
    added = dataclasses.replace(whole, table=claimed(*TWO))
    alone = view(make_record, claimed(*TWO), {"ours": HIGH, "old": LOW})
    assert judged_claims(added) == judged_claims(alone), "verdicts on the paper's claims are as without the rows"
    judged = judged_added(added)
    assert [(one.claim.row[2], one.claim.reference[2], one.verdict.kind) for one in judged] == [
        ("mine", "old", "reproduced"), ("mine too", "old", "not exercised")
    ]  # fmt: skip
    assert [one.verdict.family and one.verdict.family.size for one in judged] == [1, 1]
    first = dataclasses.replace(added, rows=[row for row in added.rows if row.label != "mine too"])
    assert judged_added(first) == judged[:1]
    assert judged_added(alone) == []
    plain = [one.verdict.kind for one in judged_added(dataclasses.replace(added, table=table(*TWO)))]
    assert plain == ["exploratory", "not exercised"], "a table without headline claims asks nothing of added rows"


def test_where_lower_is_better_the_lower_row_is_ahead(make_record: MakeRecord) -> None:
    lower = claimed(row("old", 12), row("ours", 10, "proposed"), column={"better": "lower"})
    (one,) = judged_claims(view(make_record, lower, {"ours": LOW, "old": HIGH}))
    assert (one.claim.row[2], one.verdict.kind) == ("ours", "reproduced")
    assert one.verdict.paired is not None
    assert one.verdict.paired.difference == pytest.approx(-(one.gain or 0))
    assert (one.gain or 0) > 0


def test_the_gain_speaks_for_the_claim_and_is_none_where_nothing_was_compared(make_record: MakeRecord) -> None:
    (lost,) = judged_claims(view(make_record, claimed(*TWO), {"ours": LOW, "old": HIGH}))
    (unrun,) = unrun_claims(table(*TWO))
    assert lost.gain == pytest.approx(sum(LOW) / len(LOW) - sum(HIGH) / len(HIGH))
    assert unrun.gain is None


def test_a_row_without_runs_is_not_run_with_its_reason(make_record: MakeRecord) -> None:
    (one,) = judged_claims(view(make_record, claimed(*TWO), {"ours": HIGH}))
    assert one.verdict.kind == "not run"
    assert "old: no record" in one.verdict.reason


def test_a_row_that_was_not_asked_for_is_not_selected_even_if_the_other_has_no_run(make_record: MakeRecord) -> None:
    whole = view(make_record, claimed(*TWO), {"ours": HIGH})
    for label in ("ours", "old"):
        some = replace(whole, rows=[row for row in whole.rows if row.label == label])
        assert [one.verdict.kind for one in judged_claims(some)] == ["not selected"]


def test_runs_with_other_batches_are_not_compared(make_record: MakeRecord) -> None:
    digests = {**make_record(0)[0].digests, "batches": "other"}
    ceiling = {"statement": "below the ceiling", "column": "a", "at_most": 1}
    one, untested = (
        judged_claims(view(make_record, told, {"ours": HIGH, "old": LOW}, {"ours": {"digests": digests}}))[0]
        for told in (claimed(*TWO), claimed(*TWO, premises=[ceiling]))
    )
    assert one.verdict.kind == "not comparable"
    assert "batches" in one.verdict.reason
    assert untested.verdict.kind == "premise not met", "whatever else is wrong"


def test_rows_whose_searches_had_other_numbers_of_trials_are_not_compared(make_record: MakeRecord) -> None:
    def kind(ours: int, old: int) -> str:
        tuned = {
            label: {"tuned": TunedBy(trials=trials, trial=0, score=0.1, digest="d")} if trials else {}
            for label, trials in (("ours", ours), ("old", old))
        }
        return judged_claims(view(make_record, claimed(*TWO), {"ours": HIGH, "old": LOW}, tuned))[0].verdict.kind

    assert [kind(16, 16), kind(0, 0)] == ["reproduced"] * 2
    assert [kind(16, 8), kind(16, 0)] == ["not comparable"] * 2


@pytest.mark.parametrize(("factors", "kind"), [([], "not comparable"), (["optimizer"], "reproduced")])
def test_rows_differ_only_in_a_tables_factors(make_record: MakeRecord, factors: list[str], kind: str) -> None:
    setup = make_record(0)[0].setup
    other = setup.model_copy(update={"optimizer": setup.optimizer.model_copy(update={"name": "adamp"})})
    told = claimed(*TWO, factors=factors)
    judged = judged_claims(view(make_record, told, {"ours": HIGH, "old": LOW}, {"ours": {"setup": other}}))
    assert [one.verdict.kind for one in judged] == [kind]
    assert factors or "optimizer.name" in "".join(judged[0].verdict.fields)


def test_rows_of_another_variant_are_another_board_unless_variants_are_the_point(make_record: MakeRecord) -> None:
    rows = [row("a", 1), row("b", 2), row("c", 3, variant="V")]
    values = {"a": (0.1, 0.1), "b": (0.2, 0.2), "c": (0.3, 0.3)}
    assert [*map(len, view(make_record, table(*rows), values).boards.values())] == [2, 1]
    assert [*map(len, view(make_record, table(*rows, factors=["optimizer"]), values).boards.values())] == [3]


def test_a_text_that_contradicts_its_cells_is_judged_once_as_the_text_has_it() -> None:
    (one,) = unrun_claims(table(*TWO, claims=[{**TEXT, "row": "old", "reference": "ours"}]))
    assert (one.claim.row[2], one.claim.published) == ("old", -2)


def test_runs_that_are_equal_in_every_protocol_are_not_exercised(make_record: MakeRecord) -> None:
    (same,) = judged_claims(view(make_record, claimed(*TWO), {"ours": LOW, "old": LOW}))
    assert same.verdict.kind == "not exercised"
    other = make_record(0)[0].results["retrieval"].model_copy(update={"counts": {"t2i": 7}})
    whole = view(make_record, claimed(*TWO), {"ours": LOW, "old": LOW})
    rows = [replace(row, cells=[with_results(row.cells[0], {"retrieval-2": other})]) for row in whole.rows[:1]]
    (differs,) = judged_claims(replace(whole, rows=[*rows, whole.rows[1]]))
    assert differs.verdict.kind == "undecided", "the column is equal, but not everything is"


def with_results(cell: Cell, more: Mapping[str, Result]) -> Cell:
    """The cell of runs that measured more."""
    records = {
        seed: record.model_copy(update={"results": {**record.results, **more}}) for seed, record in cell.records.items()
    }
    return replace(cell, records=records)


@pytest.mark.parametrize(
    ("primary", "measure", "interest"),
    [
        ({"retrieval": ("i2t_r1", 0.5)}, "retrieval.i2t_r1", 0.5),
        ({"retrieval": ("t2i_r10", 0.5)}, "retrieval.i2t_r1", 0.5),
        ({"retrieval": ("gap", 0.5)}, "retrieval.i2t_r1", None),
        ({"retrieval": ("gap", 0.5)}, "retrieval.gap", 0.5),
        ({"retrieval": ("gap", 0.5)}, "retrieval.other", None),
        ({"retrieval": ("t2i_r10", 0.5)}, "retrieval.gap", None),
        ({"geometry": ("gap", 0.5)}, "retrieval.gap", None),
        ({}, "retrieval.gap", None),
    ],
)
def test_the_difference_of_a_protocol_is_that_of_its_fractions_or_of_the_named_measure(
    make_record: MakeRecord, primary: dict[str, tuple[str, float]], measure: str, interest: float | None
) -> None:
    result = make_record(0)[0].results["retrieval"].model_copy(update={"measures": {"gap": 0.3, "other": 2.0}})
    whole = view(make_record, table(*TWO), {"old": LOW})
    cell = with_results(replace(whole.rows[0].cells[0], measure=measure), {"retrieval": result})
    stated = {protocol: Primary(metric=metric, difference=size) for protocol, (metric, size) in primary.items()}
    assert interest_of(cell, stated) == interest


def test_the_stated_difference_of_interest_reaches_the_verdict(make_record: MakeRecord) -> None:
    def judged(**about: object) -> Verdict:
        return judged_claims(view(make_record, claimed(*TWO), {"ours": HIGH, "old": LOW}, **about))[0].verdict

    primary = {"retrieval": Primary(metric="t2i_r10", difference=0.9)}
    assert judged().kind == "reproduced"
    assert judged(primary=primary).kind == "equivalent"
    assert judged(stand_ins={"a": "synthetic images"}).power == judged().power is not None
    assert judged(stand_ins={"b": "synthetic images"}) == judged()


@pytest.mark.parametrize(
    ("column", "published", "gain"),
    [
        ({}, (10, 12), 0.02),
        ({"better": "lower"}, (12, 10), 0.02),
        ({"unit": "number"}, (10, 12), 2),
        ({"unit": "number", "measure": {"paper": "g.gap", "small": "h.rank"}}, (10, 12), None),
        ({"measure": {"paper": "r.r1", "small": "s.r10"}}, (10, 12), 0.02),
    ],
)
def test_published_differences_have_the_unit_of_the_values(
    column: dict[str, object], published: tuple[float, float], gain: float | None
) -> None:
    rows = row("old", published[0]), row("ours", published[1], "proposed")
    (claim,) = claims_of(table(*rows, column=column))
    assert published_gain(claim) == (None if gain is None else pytest.approx(gain))


def test_a_difference_that_only_the_text_states_is_taken_and_one_against_the_claim_is_not() -> None:
    rows = row("old", 10), row("ours", 12, "proposed")
    bare = [{**one, "published": {}} for one in rows]
    (stated,) = claims_of(table(*bare, claims=[{**TEXT, "by": 3.0}]))
    (against,) = claims_of(table(*rows, claims=[{**TEXT, "row": "old", "reference": "ours"}]))
    assert (published_gain(stated), published_gain(against)) == (0.03, None)
