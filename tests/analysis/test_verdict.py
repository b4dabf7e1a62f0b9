import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.analysis.stats import compare, half_width, power, seeds_for
from benchsuite.analysis.verdict import ClaimQuestion, Family, Verdict, explore, judge_family

WOBBLE = (0.001, -0.002, 0.0, 0.002, -0.001)
OPPOSITE = {"reproduced": "opposite", "opposite": "reproduced"}
VALUES = st.dictionaries(st.integers(0, 6), st.integers(0, 64).map(lambda count: count / 64), max_size=7)
BETTER = st.sampled_from(["higher", "lower"])
INTEREST = st.none() | st.floats(0.001, 0.5)
QUESTIONS = st.builds(ClaimQuestion, ours=VALUES, theirs=VALUES, better=BETTER, interest=INTEREST)
FIVE = Family("claims of t", 5)


def judge(question: ClaimQuestion, size: int = 1) -> Verdict:
    return judge_family([question], Family("claims of t", size))[0]


def row(level: float, *wobble: float) -> dict[int, float]:
    return {seed: level + by for seed, by in enumerate(wobble or WOBBLE)}


CLEAR = ClaimQuestion(row(0.5), row(0.4, 0.001, 0.0, 0.001, 0.0, 0.002))
UNCLEAR = ClaimQuestion(row(0.5, 0.1, -0.1, 0.05, 0.0, -0.03), row(0.49))
UNMET = Verdict("premise not met", "no gap")
NEAR = ClaimQuestion(row(0.5), row(0.4965, 0.001, 0.0, 0.001, 0.0, 0.002))


@pytest.mark.parametrize(("better", "kind"), [("higher", "reproduced"), ("lower", "opposite")])
def test_a_clear_difference_speaks_for_one_side(better: str, kind: str) -> None:
    verdict = judge(replace(CLEAR, better=better))  # type: ignore[arg-type]
    assert verdict.kind == kind
    assert verdict.p_adjusted is not None
    assert verdict.p_adjusted <= 0.05
    assert verdict.reason.startswith("9.92 points above the reference")


def test_every_verdict_says_what_could_have_been_confirmed() -> None:
    question = replace(UNCLEAR, interest=0.02, published=0.0164)
    for size in (1, 68):
        verdict = judge(question, size)
        sd = verdict.paired and verdict.paired.sd
        assert sd
        level = 0.05 / size
        assert verdict.confirmable == half_width(sd, 5, level)
        assert verdict.power == power(0.0164, sd, 5, level)
        assert verdict.seeds_for_interest == seeds_for(0.02, sd, level)
    assert judge(replace(question, published=None)).power is None


@pytest.mark.parametrize("others", [(), (CLEAR,), (UNCLEAR, CLEAR), (CLEAR, UNCLEAR, CLEAR)])
def test_a_difference_of_just_the_confirmable_size_is_confirmed(others: tuple[ClaimQuestion, ...]) -> None:
    def judged(question: ClaimQuestion) -> Verdict:
        return judge_family([*others, question], FIVE)[-1]

    found = judged(UNCLEAR)
    assert found.paired
    assert found.paired.sd
    assert found.confirmable == half_width(found.paired.sd, 5, 0.05 / (5 - others.count(CLEAR)))
    missing = found.confirmable - (found.paired.difference or 0)
    for more, kind in ((1e-9, "reproduced"), (-1e-9, "undecided")):
        moved = {seed: value + missing + more for seed, value in UNCLEAR.ours.items()}
        assert judged(replace(UNCLEAR, ours=moved)).kind == kind


@given(st.lists(QUESTIONS, max_size=5), st.integers(5, 9))
def test_what_is_confirmed_is_what_reaches_the_confirmable_difference(family: list[ClaimQuestion], size: int) -> None:
    for verdict in judge_family(family, Family("claims of t", size)):
        if verdict.confirmable and verdict.paired:
            short = verdict.confirmable - abs(verdict.paired.difference or 0)
            if abs(short) > 1e-9:
                assert (verdict.kind in ("undecided", "equivalent")) == (short > 0)


def test_a_published_gain_that_would_be_equivalent_has_no_power() -> None:
    """However sure: with its interval it lies within the smallest difference of interest."""
    tight = replace(NEAR, published=0.0045)
    assert (judge(tight).power or 0) > 0.9
    assert (judge(replace(tight, interest=0.01)).power or 0) < 0.1
    assert judge(replace(tight, interest=0.01, published=0.02)).power == pytest.approx(1)


@pytest.mark.parametrize(("measures", "size"), [("aa", 4), ("ab", 5), (("", ""), 5)])
def test_what_two_tables_compare_alike_counts_once_in_the_correction(measures: tuple[str, str], size: int) -> None:
    alike = [replace(UNCLEAR, measure=measure) for measure in measures]
    found = judge_family([CLEAR, *alike, NEAR], FIVE)
    assert {verdict.family and verdict.family.size for verdict in found} == {size}
    assert found[1] == found[2]
    ps = [verdict.p_adjusted for verdict in found]
    plain = judge_family([CLEAR, UNCLEAR, NEAR], Family("claims of t", size)) if size == 4 else None
    assert plain is None or ps == [plain[0].p_adjusted, plain[1].p_adjusted, plain[1].p_adjusted, plain[2].p_adjusted]


@pytest.mark.parametrize(("size", "else_kind"), [(1, "reproduced"), (3, "undecided")])
def test_equivalent_is_within_the_smallest_difference_of_interest(size: int, else_kind: str) -> None:
    found = judge(NEAR, size)
    assert found.paired
    assert found.confirmable
    reach = abs(found.paired.difference or 0) + found.confirmable
    assert judge(replace(NEAR, interest=reach + 1e-9), size).kind == "equivalent"
    assert judge(replace(NEAR, interest=reach - 1e-9), size).kind == else_kind, "the interval reaches beyond it"


@pytest.mark.parametrize(("by", "kind"), [(0.0, "undecided"), (0.0625, "equivalent"), (0.125, "reproduced")])
def test_without_a_spread_the_difference_itself_is_within_or_beyond(by: float, kind: str) -> None:
    six = ClaimQuestion(dict.fromkeys(range(6), 0.5 + by), dict.fromkeys(range(6), 0.5), interest=0.1)
    assert judge(six).kind == kind
    nearly = replace(six, ours={seed: value + 1e-7 * seed for seed, value in six.ours.items()})
    assert not by or judge(nearly).kind == kind, "as with a spread that is next to none"


def test_without_a_stated_difference_or_with_two_seeds_nothing_is_equivalent() -> None:
    assert judge(ClaimQuestion(row(0.5), row(0.5))).kind == "undecided"
    two = ClaimQuestion({0: 0.5, 1: 0.501}, {0: 0.5, 1: 0.5}, interest=0.5)
    assert judge(two).kind == "undecided"


def test_rows_with_equal_numbers_in_all_protocols_were_not_exercised() -> None:
    same = ClaimQuestion(row(0.5), row(0.5), equal=range(5), interest=0.1)
    assert judge(same).kind == "not exercised"
    assert judge(replace(CLEAR, equal=[1, 3])).kind == "reproduced"
    extra = {**row(0.5), 7: 0.5}
    assert judge(ClaimQuestion(extra, row(0.5), equal=range(5))).kind == "not exercised", "seed 7 is not shared"


def test_two_seeds_are_never_enough_for_a_verdict() -> None:
    two = ClaimQuestion({0: 0.9, 1: 0.901}, {0: 0.1, 1: 0.1})
    assert compare(two.ours, two.theirs).p == pytest.approx(0, abs=0.001)
    verdict = judge(two)
    assert (verdict.kind, verdict.p_adjusted, verdict.confirmable) == ("undecided", None, None)


def test_a_difference_without_spread_is_judged_by_signs() -> None:
    five, six = (ClaimQuestion(dict.fromkeys(range(n), 0.5), dict.fromkeys(range(n), 0.4)) for n in (5, 6))
    assert (judge(five).kind, judge(six).kind, judge(six, 2).kind) == ("undecided", "reproduced", "undecided")
    assert judge(six).confirmable is None


def test_not_run_says_why() -> None:
    assert judge(ClaimQuestion({}, row(0.5))).reason == "Nothing is measured for the row."
    assert judge(ClaimQuestion(row(0.5), {})).reason == "Nothing is measured for its reference."
    assert judge(ClaimQuestion({}, {})).kind == "not run"


def test_rows_without_a_shared_seed_are_not_comparable() -> None:
    assert judge(ClaimQuestion({0: 0.1}, {1: 0.1})).kind == "not comparable"


@given(QUESTIONS, st.lists(QUESTIONS, max_size=4), st.integers(0, 4))
def test_what_else_was_run_only_makes_a_claim_easier_to_confirm(
    question: ClaimQuestion, others: list[ClaimQuestion], at: int
) -> None:
    family = [*others[:at], question, *others[at:]]
    among, alone = judge_family(family, FIVE)[min(at, len(others))], judge_family([question], FIVE)[0]
    assert (among.p_adjusted is None) == (alone.p_adjusted is None)
    assert among.p_adjusted is None or among.p_adjusted <= (alone.p_adjusted or 0)
    assert (among.confirmable or 0) <= (alone.confirmable or 0)


def test_a_claim_whose_premise_does_not_hold_leaves_the_family() -> None:
    left, judged = judge_family([replace(CLEAR, barred=UNMET), UNCLEAR], Family("claims of t", 2))
    assert left == UNMET
    assert judged == judge(UNCLEAR)


@given(st.lists(QUESTIONS, min_size=1, max_size=6))
def test_a_familys_p_is_holms(questions: list[ClaimQuestion]) -> None:
    judged = judge_family(questions, Family("claims of t", 6))
    ps = sorted(
        (one.paired.p, one.p_adjusted) for one in judged if one.paired and one.paired.p and one.p_adjusted is not None
    )
    worst = 0.0
    for step, (p, adjusted) in enumerate(ps):
        worst = max(worst, min(1.0, (6 - step) * (p or 0)))
        assert adjusted == pytest.approx(worst)


@given(st.lists(QUESTIONS, min_size=1, max_size=6))
def test_exploration_has_false_discovery_rates_and_no_verdict(questions: list[ClaimQuestion]) -> None:
    explored = explore(questions)
    ps = sorted(one.paired.p for one in explored if one.false_discovery_rate is not None and one.paired)
    for one in explored:
        assert one.kind not in (*OPPOSITE, "equivalent", "undecided")
        if one.false_discovery_rate is not None and one.paired and one.paired.p:
            larger = [(rank, p) for rank, p in enumerate(ps, 1) if p >= one.paired.p]
            assert one.false_discovery_rate == pytest.approx(min(len(ps) * p / rank for rank, p in larger))


def test_a_family_has_no_more_claims_than_were_declared() -> None:
    with pytest.raises(ValueError, match="2 questions, but claims of t are 1"):
        judge_family([CLEAR, UNCLEAR], Family("claims of t", 1))


@given(st.lists(QUESTIONS, max_size=5))
def test_swapping_the_sides_swaps_the_verdict(questions: list[ClaimQuestion]) -> None:
    swapped = [replace(one, ours=one.theirs, theirs=one.ours) for one in questions]
    for verdict, mirrored in zip(judge_family(questions, FIVE), judge_family(swapped, FIVE), strict=True):
        assert mirrored.kind == OPPOSITE.get(verdict.kind, verdict.kind)
        assert (mirrored.p_adjusted, mirrored.confirmable) == (verdict.p_adjusted, verdict.confirmable)


@given(st.lists(QUESTIONS, max_size=5))
def test_turning_the_direction_swaps_the_verdict(questions: list[ClaimQuestion]) -> None:
    turned = [replace(one, better="lower" if one.better == "higher" else "higher") for one in questions]
    kinds = [OPPOSITE.get(verdict.kind, verdict.kind) for verdict in judge_family(questions, FIVE)]
    assert [verdict.kind for verdict in judge_family(turned, FIVE)] == kinds


@given(QUESTIONS, st.integers(1, 9))
def test_a_lone_claim_is_confirmed_exactly_where_the_declared_size_rejects(question: ClaimQuestion, size: int) -> None:
    verdict = judge(question, size)
    pair = compare(question.ours, question.theirs)
    if pair.p is None or pair.too_small:
        assert verdict.p_adjusted is None
        assert verdict.kind not in (*OPPOSITE, "equivalent")
    else:
        assert verdict.p_adjusted == min(1.0, pair.p * size)
        rejected = pair.p * size <= 0.05
        assert (verdict.kind in OPPOSITE) == (rejected and verdict.kind != "equivalent")
    if verdict.kind == "equivalent":
        assert pair.sd
        half = half_width(pair.sd, pair.n, 0.05 / size)
        assert abs(pair.difference or 0) + half <= (question.interest or -math.inf)
