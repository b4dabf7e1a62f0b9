from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.analysis.claims import Question, Verdict, judge_family
from benchsuite.analysis.stats import adjusted_ps, compare, seeds_needed

WOBBLE = (0.001, -0.002, 0.0, 0.002, -0.001)
OPPOSITE = {"reproduced": "opposite", "opposite": "reproduced"}
VALUES = st.dictionaries(st.integers(0, 6), st.integers(0, 64).map(lambda count: count / 64), max_size=7)
BETTER = st.sampled_from(["higher", "lower"])
QUESTIONS = st.builds(Question, ours=VALUES, theirs=VALUES, better=BETTER)


def judge(question: Question, alpha: float = 0.05) -> Verdict:
    return judge_family([question], "", alpha)[0]


def row(level: float, *wobble: float) -> dict[int, float]:
    return {seed: level + by for seed, by in enumerate(wobble or WOBBLE)}


CLEAR = Question(row(0.5), row(0.4, 0.001, 0.0, 0.001, 0.0, 0.002))
UNCLEAR = Question(row(0.5, 0.1, -0.1, 0.05, 0.0, -0.03), row(0.49))


@pytest.mark.parametrize(("better", "kind"), [("higher", "reproduced"), ("lower", "opposite")])
def test_a_clear_difference_speaks_for_one_side(better: str, kind: str) -> None:
    verdict = judge(replace(CLEAR, better=better))  # type: ignore[arg-type]
    assert verdict.kind == kind
    assert verdict.p_adjusted is not None
    assert verdict.p_adjusted <= 0.05
    assert verdict.reason == (
        "9.92 points above the reference over 5 seeds (95% CI +9.68 to +10.16); "
        "p below 0.0001, lowest possible p of a sign-flip test 0.0625."
    )


def test_an_unclear_one_says_how_many_seeds_would_do() -> None:
    verdict = judge(UNCLEAR)
    assert verdict.kind == "undecided"
    assert verdict.paired is not None
    assert verdict.seeds_needed == seeds_needed(verdict.paired, 0.05)
    assert verdict.seeds_needed is not None
    assert verdict.seeds_needed > 5
    assert f"about {verdict.seeds_needed} seeds would make it significant" in verdict.reason
    assert "lowest possible p of a sign-flip test 0.0625" in verdict.reason


def test_reason_is_one_sentence_with_the_familys_name() -> None:
    verdicts = judge_family([CLEAR, UNCLEAR], "temo/table1")
    assert "after Holm's correction over 2 claims of temo/table1" in verdicts[1].reason
    for verdict in verdicts:
        assert verdict.reason.endswith(".")
        assert ". " not in verdict.reason


def test_two_seeds_are_never_enough_for_a_verdict() -> None:
    two = Question({0: 0.9, 1: 0.901}, {0: 0.1, 1: 0.1})
    assert compare(two.ours, two.theirs).p == pytest.approx(0, abs=0.001)
    verdict = judge(two)
    assert (verdict.kind, verdict.p_adjusted) == ("undecided", None)
    assert "2 shared seeds; a verdict needs at least 3" in verdict.reason


def test_equal_rows_are_not_separable_and_no_seeds_would_help() -> None:
    verdict = judge(Question(row(0.5), row(0.5)))
    assert (verdict.kind, verdict.seeds_needed) == ("undecided", None)
    assert "both rows are equal on all 5 seeds" in verdict.reason
    assert "would" not in verdict.reason


def test_a_difference_without_spread_is_judged_by_signs() -> None:
    five, six = (Question(dict.fromkeys(range(n), 0.5), dict.fromkeys(range(n), 0.4)) for n in (5, 6))
    assert (judge(five).kind, judge(six).kind) == ("undecided", "reproduced")
    assert "its spread is unknown" in judge(five).reason
    assert judge(five).seeds_needed == 6


def test_not_run_says_why() -> None:
    assert judge(Question({}, row(0.5), not_run="no code is out")) == Verdict("not run", "no code is out")
    assert judge(Question({}, row(0.5))).reason == "Nothing is measured for the row."
    assert judge(Question(row(0.5), {})).reason == "Nothing is measured for its reference."
    assert judge(Question({}, {})).kind == "not run"


def test_not_comparable_names_the_fields() -> None:
    verdict = judge(replace(CLEAR, not_comparable=["optimizer.lr", "training.steps"]))
    assert verdict.kind == "not comparable"
    assert verdict.fields == ("optimizer.lr", "training.steps")
    assert verdict.reason == "The setups differ in optimizer.lr, training.steps."
    assert verdict.paired is None


def test_runs_that_may_not_be_paired_are_not_comparable() -> None:
    verdict = judge(replace(CLEAR, refusal="the batches differ (a against b)"))
    assert (verdict.kind, verdict.fields) == ("not comparable", ())
    assert "the batches differ" in verdict.reason
    assert judge(Question({0: 0.1}, {1: 0.1})).reason == "No shared seed: the row has 0, its reference 1."
    assert judge(Question({0: 0.1}, {1: 0.1})).kind == "not comparable"


def test_skipped_seeds_are_named() -> None:
    verdict = judge(Question({**row(0.5), 8: 0.1, 9: 0.1}, CLEAR.theirs))
    assert verdict.kind == "reproduced"
    assert "skipped seeds 8, 9: only one of the two rows has a run" in verdict.reason


def test_what_is_no_fraction_is_said_as_it_is() -> None:
    verdict = judge(Question({0: 5.0, 1: 7.0, 2: 6.5}, {0: 4.0, 1: 6.5, 2: 5.0}, unit=""))
    assert verdict.reason.startswith("1 above the reference over 3 seeds (95% CI -0.242")


def test_many_claims_ask_more_of_each() -> None:
    near = Question(row(0.5), row(0.4965, 0.001, 0.0, 0.001, 0.0, 0.002))
    assert judge(near).kind == "reproduced"
    among = judge_family([near, *[UNCLEAR] * 20], "t")[0]
    assert among.kind == "undecided"
    assert "over 21 claims of t" in among.reason
    assert among.seeds_needed is not None
    assert among.seeds_needed > 5


def test_claims_without_data_ask_nothing_of_the_others() -> None:
    empty = [Question({}, {}), replace(CLEAR, not_comparable=["data.name"]), Question({0: 0.1}, {0: 0.3})]
    alone = judge_family([CLEAR, UNCLEAR], "t")
    assert judge_family([*empty, CLEAR, UNCLEAR], "t")[3:] == alone


def test_alpha_reaches_interval_and_verdict() -> None:
    near = Question(row(0.5), row(0.4965, 0.001, 0.0, 0.001, 0.0, 0.002))
    assert judge(near, 0.001).kind == "undecided"
    assert "99.9% CI" in judge(near, 0.001).reason


@given(st.lists(QUESTIONS, max_size=5))
def test_swapping_the_sides_swaps_the_verdict(questions: list[Question]) -> None:
    swapped = [replace(one, ours=one.theirs, theirs=one.ours) for one in questions]
    for verdict, mirrored in zip(judge_family(questions, "t"), judge_family(swapped, "t"), strict=True):
        assert mirrored.kind == OPPOSITE.get(verdict.kind, verdict.kind)
        assert (mirrored.p_adjusted, mirrored.seeds_needed) == (verdict.p_adjusted, verdict.seeds_needed)


@given(st.lists(QUESTIONS, max_size=5))
def test_turning_the_direction_swaps_the_verdict(questions: list[Question]) -> None:
    turned = [replace(one, better="lower" if one.better == "higher" else "higher") for one in questions]
    kinds = [OPPOSITE.get(verdict.kind, verdict.kind) for verdict in judge_family(questions, "t")]
    assert [verdict.kind for verdict in judge_family(turned, "t")] == kinds


@given(st.lists(QUESTIONS, max_size=5))
def test_a_verdict_is_given_exactly_where_holm_rejects(questions: list[Question]) -> None:
    verdicts = judge_family(questions, "t")
    ps = adjusted_ps([verdict.paired for verdict in verdicts])
    for verdict, p in zip(verdicts, ps, strict=True):
        assert verdict.p_adjusted == p
        assert (verdict.kind in OPPOSITE) == (p is not None and p <= 0.05)
        if verdict.paired and verdict.kind == "undecided" and verdict.seeds_needed:
            assert verdict.seeds_needed > verdict.paired.n
