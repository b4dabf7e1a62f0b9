import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from support.claimed import HEADLINE, HIGH, LOW, TEXT, TWO, MakeRecord, row, table, view

from benchsuite.analysis.building import build_table
from benchsuite.analysis.judged_claims import (
    interest_of,
    judged_added,
    judged_claims,
    published_gain,
    unrun_claims,
)
from benchsuite.analysis.rank_agreement import agreements
from benchsuite.analysis.rows import Cell
from benchsuite.analysis.verdict import Family, Verdict
from benchsuite.papers.claim import claims_of
from benchsuite.records.requests import SmallestDifference
from benchsuite.records.schema import Result


@pytest.mark.parametrize(
    ("ours", "old", "kind"),
    [(HIGH, LOW, "reproduced"), (LOW, HIGH, "opposite"), (LOW, (0.2, 0.05, 0.2, 0.05), "undecided")],
)
def test_a_claim_is_judged_by_paired_runs(
    make_record: MakeRecord, ours: Sequence[float], old: Sequence[float], kind: str
) -> None:
    (one,) = judged_claims(view(make_record, table(*TWO), {"ours": ours, "old": old}))
    assert (one.claim.row[2], one.verdict.kind, one.scale) == ("ours", kind, "small")


def test_families_are_counted_in_the_files_of_all_tables_with_the_scale(make_record: MakeRecord) -> None:
    three = table(row("old", 10), row("older", 9), row("ours", 12, "proposed"), claims=[HEADLINE])
    whole = view(make_record, three, {"ours": HIGH, "old": LOW, "older": LOW})
    other = table(*TWO, row("oldest", 3), table="other")
    elsewhere = table(*TWO, table="elsewhere", recipes={"gpu": "r"})
    for mates, headline, further in (([], 1, 1), ([other], 1, 3), ([other, elsewhere], 1, 3)):
        built = build_table(three, whole.asked, {}, {}, [three, *mates])
        judged = judged_claims(replace(whole, siblings=built.siblings))
        assert [one.claim.headline for one in judged] == [True, False]
        assert [one.verdict.family for one in judged] == [
            Family("headline claims of p at scale small", headline),
            Family("further claims of p at scale small", further),
        ]


def test_a_verdict_is_the_same_whichever_other_rows_were_run(make_record: MakeRecord) -> None:
    three = table(row("old", 10), row("older", 9), row("ours", 12, "proposed"), claims=[HEADLINE])
    whole = judged_claims(view(make_record, three, {"ours": HIGH, "old": LOW, "older": LOW}))
    some = judged_claims(view(make_record, three, {"ours": HIGH, "old": LOW}))
    assert whole[0] == some[0]
    assert [one.verdict.kind for one in some] == ["reproduced", "not run"]


def test_each_added_row_is_a_family_of_its_own(make_record: MakeRecord) -> None:
    three = table(row("old", 10), row("ours", 12, "proposed"), row("mine", 0), row("mine too", 0))
    whole = view(make_record, three, {"ours": HIGH, "old": LOW, "mine": HIGH, "mine too": LOW})
    added = dataclasses.replace(whole, table=table(*TWO))
    alone = view(make_record, table(*TWO), {"ours": HIGH, "old": LOW})
    assert judged_claims(added) == judged_claims(alone), "verdicts on the paper's claims are as without the rows"
    judged = judged_added(added)
    assert [(one.claim.row[2], one.claim.reference[2], one.verdict.kind) for one in judged] == [
        ("mine", "old", "reproduced"), ("mine too", "old", "not exercised")
    ]  # fmt: skip
    assert [one.verdict.family and one.verdict.family.size for one in judged] == [1, 1]
    first = dataclasses.replace(added, rows=[row for row in added.rows if row.label != "mine too"])
    assert judged_added(first) == judged[:1]
    assert judged_added(alone) == []


def test_where_lower_is_better_the_lower_row_is_ahead(make_record: MakeRecord) -> None:
    lower = table(row("old", 12), row("ours", 10, "proposed"), column={"better": "lower"})
    (one,) = judged_claims(view(make_record, lower, {"ours": LOW, "old": HIGH}))
    assert (one.claim.row[2], one.verdict.kind) == ("ours", "reproduced")
    assert one.verdict.paired is not None
    assert one.verdict.paired.difference == pytest.approx(-(one.gain or 0))
    assert (one.gain or 0) > 0


def test_the_gain_speaks_for_the_claim_and_is_none_where_nothing_was_compared(make_record: MakeRecord) -> None:
    (lost,) = judged_claims(view(make_record, table(*TWO), {"ours": LOW, "old": HIGH}))
    (unrun,) = unrun_claims(table(*TWO))
    assert lost.gain == pytest.approx(sum(LOW) / len(LOW) - sum(HIGH) / len(HIGH))
    assert unrun.gain is None


def test_a_row_without_runs_is_not_run_with_its_reason(make_record: MakeRecord) -> None:
    (one,) = judged_claims(view(make_record, table(*TWO), {"ours": HIGH}))
    assert one.verdict.kind == "not run"
    assert "old: no record" in one.verdict.reason


def test_a_row_that_was_not_asked_for_is_not_selected_even_if_the_other_has_no_run(make_record: MakeRecord) -> None:
    whole = view(make_record, table(*TWO), {"ours": HIGH})
    for label in ("ours", "old"):
        some = replace(whole, rows=[row for row in whole.rows if row.label == label])
        assert [one.verdict.kind for one in judged_claims(some)] == ["not selected"]


def test_runs_with_other_batches_are_not_compared(make_record: MakeRecord) -> None:
    digests = {**make_record(0)[0].digests, "batches": "other"}
    (one,) = judged_claims(view(make_record, table(*TWO), {"ours": HIGH, "old": LOW}, {"ours": {"digests": digests}}))
    assert one.verdict.kind == "not comparable"
    assert "batches" in one.verdict.reason


@pytest.mark.parametrize(("factors", "kind"), [([], "not comparable"), (["optimizer"], "reproduced")])
def test_rows_differ_only_in_a_tables_factors(make_record: MakeRecord, factors: list[str], kind: str) -> None:
    setup = make_record(0)[0].setup
    other = setup.model_copy(update={"optimizer": setup.optimizer.model_copy(update={"name": "adamp"})})
    told = table(*TWO, factors=factors, claims=[TEXT])
    judged = judged_claims(view(make_record, told, {"ours": HIGH, "old": LOW}, {"ours": {"setup": other}}))
    assert [one.verdict.kind for one in judged] == [kind]
    assert factors or "optimizer.name" in "".join(judged[0].verdict.fields)


def test_the_order_of_rows_is_compared_with_the_published_one(make_record: MakeRecord) -> None:
    three = table(row("a", 1), row("b", 2), row("c", 3))
    values = {"a": (0.1, 0.1, 0.1), "b": (0.3, 0.3, 0.3), "c": (0.2, 0.2, 0.2)}
    (one,) = agreements(view(make_record, three, values))
    assert one.agreement.tau == pytest.approx(1 / 3)


def test_rows_of_another_variant_are_another_order_unless_variants_are_the_point(make_record: MakeRecord) -> None:
    rows = [row("a", 1), row("b", 2), row("c", 3, variant="V")]
    values = {"a": (0.1, 0.1), "b": (0.2, 0.2), "c": (0.3, 0.3)}
    assert [one.agreement.rows for one in agreements(view(make_record, table(*rows), values))] == [2, 1]
    assert [one.agreement.rows for one in agreements(view(make_record, table(*rows, factors=["x"]), values))] == [3]


def test_a_text_that_contradicts_its_cells_is_judged_once_as_the_text_has_it() -> None:
    (one,) = unrun_claims(table(*TWO, claims=[{**TEXT, "row": "old", "reference": "ours"}]))
    assert (one.claim.row[2], one.claim.published) == ("old", -2)


def test_runs_that_are_equal_in_every_protocol_are_not_exercised(make_record: MakeRecord) -> None:
    (same,) = judged_claims(view(make_record, table(*TWO), {"ours": LOW, "old": LOW}))
    assert same.verdict.kind == "not exercised"
    other = make_record(0)[0].results["retrieval"].model_copy(update={"counts": {"t2i": 7}})
    whole = view(make_record, table(*TWO), {"ours": LOW, "old": LOW})
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
    stated = {
        protocol: SmallestDifference(metric=metric, difference=size) for protocol, (metric, size) in primary.items()
    }
    assert interest_of(cell, stated) == interest


def test_the_stated_difference_of_interest_reaches_the_verdict(make_record: MakeRecord) -> None:
    def judged(**about: object) -> Verdict:
        return judged_claims(view(make_record, table(*TWO), {"ours": HIGH, "old": LOW}, **about))[0].verdict

    primary = {"retrieval": {"metric": "t2i_r10", "difference": 0.9}}
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
