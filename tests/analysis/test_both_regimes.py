"""What became of a gain, from the verdicts in both regimes."""

from dataclasses import replace

import pytest
from support.claimed import HEADLINE, HIGH, LOW, TWO, MakeRecord, row, table, view

from benchsuite.analysis.both_regimes import MEANING, MISSED, InBothRegimes, Outcome, in_both_regimes
from benchsuite.planning.recipe import Primary

NEAR = (0.10, 0.13, 0.11, 0.13)
WIDE = (0.02, 0.36, 0.05, 0.38)
OTHER = {"initial_weights": "w", "batches": "others", "data": "d" * 64}
VALUES = {
    "better": (LOW, HIGH),
    "worse": (HIGH, LOW),
    "same": (LOW, NEAR),
    "unsure": (LOW, WIDE),
    "behind": (WIDE, LOW),
}
"""A row and its reference; behind is unsure, too, below zero."""


def judged(make: MakeRecord, printed: str, tuned: str, published: float = 12) -> list[InBothRegimes]:
    made = table(row("old", 10), row("ours", published, "proposed"), claims=[HEADLINE])
    views = [
        view(make, made, dict(zip(("old", "ours"), VALUES[which], strict=True)), regime=regime)
        for regime, which in (("printed", printed), ("tuned", tuned))
    ]
    return [*in_both_regimes(views)]


@pytest.mark.parametrize(
    ("printed", "tuned", "outcome"),
    [
        ("better", "better", "robust gain"),
        ("better", "same", "gain of tuning"),
        ("better", "worse", "gain of tuning"),
        ("better", "unsure", "open when tuned"),
        ("same", "better", "gain when tuned"),
        ("worse", "better", "gain when tuned"),
        ("same", "same", "no gain seen"),
        ("worse", "same", "loss of tuning"),
        ("better", "behind", "gain of tuning"),
        ("worse", "behind", "worse as printed"),
        ("worse", "unsure", "loss of tuning"),
        ("same", "worse", "worse"),
        ("worse", "worse", "worse"),
    ],
)
def test_the_pair_of_verdicts_has_a_name(make_record: MakeRecord, printed: str, tuned: str, outcome: str) -> None:
    assert [both.outcome for both in judged(make_record, printed, tuned)] == [outcome]
    assert MEANING[outcome]


@pytest.mark.parametrize(("printed", "outcome"), [("better", "open when tuned"), ("worse", "worse as printed")])
def test_without_an_interval_nothing_is_said_to_be_gone(make_record: MakeRecord, printed: str, outcome: str) -> None:
    made = table(*TWO, claims=[HEADLINE])
    old, ours = VALUES[printed]
    first = view(make_record, made, {"old": old, "ours": ours}, regime="printed")
    one = view(make_record, made, {"old": LOW[:1], "ours": (0.11,)}, regime="tuned")
    assert [both.outcome for both in in_both_regimes([first, one])] == [outcome]


@pytest.mark.parametrize(("claims", "outcome"), [(1, "gain of tuning"), (30, "open when tuned")])
def test_that_a_gain_is_gone_is_corrected_for_the_family(make_record: MakeRecord, claims: int, outcome: str) -> None:
    """As printed it is confirmed among 30 claims, too. The change has p .002, too much for one of 30."""
    made, *others = (table(*TWO, claims=[HEADLINE], table=f"t{number}") for number in range(claims))
    around = (0.08, 0.18, 0.14, 0.14)
    views = [
        view(make_record, made, {"old": LOW, "ours": ours}, regime=regime, siblings=others)
        for regime, ours in (("printed", HIGH), ("tuned", around))
    ]
    (both,) = in_both_regimes(views)
    assert (both.printed.verdict.kind, both.tuned.verdict.kind) == ("reproduced", "undecided")
    assert both.change.p == pytest.approx(0.0023, abs=0.0001)
    assert both.change_p == pytest.approx(0.0023 * claims, rel=0.05)
    assert both.outcome == outcome


@pytest.mark.parametrize(
    ("printed", "tuned", "outcome", "said"),
    [
        ("better", "worse", "gain of tuning", "; tuned, it is significantly worse"),
        ("better", "same", "gain of tuning", ""),
        ("worse", "better", "gain when tuned", "; as printed, it is significantly worse"),
        ("same", "better", "gain when tuned", ""),
        ("worse", "same", "loss of tuning", ""),
        ("better", "unsure", "open when tuned", ""),
    ],
)
def test_a_gain_in_one_comparison_that_is_a_loss_in_the_other_says_so(
    make_record: MakeRecord, printed: str, tuned: str, outcome: Outcome, said: str
) -> None:
    (both,) = judged(make_record, printed, tuned)
    assert (both.outcome, both.meaning) == (outcome, MEANING[outcome] + said)


def test_a_gain_that_is_open_says_so_where_it_is_a_loss_once_tuned(make_record: MakeRecord) -> None:
    """As with replicates that are not shared, of which no change is known."""
    (both,) = judged(make_record, "better", "worse")
    alone = replace(both, tuned=replace(both.tuned, verdict=replace(both.tuned.verdict, family=None)))
    assert (alone.outcome, alone.meaning) == (
        "open when tuned", MEANING["open when tuned"] + "; tuned, it is significantly worse"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "tuned", "published", "missed"),
    [
        ("unsure", "unsure", 12, True),
        ("unsure", "unsure", 90, False),
        ("unsure", "same", 40, False),
        ("same", "unsure", 40, False),
        ("same", "same", 10.1, True),
        ("better", "unsure", 12, False),
    ],
)
def test_no_gain_is_seen_where_one_as_published_could_be_missed(
    make_record: MakeRecord, printed: str, tuned: str, published: float, missed: bool
) -> None:
    """One comparison that would have confirmed it is enough."""
    (both,) = judged(make_record, printed, tuned, published)
    chances = [one.verdict.power for one in (both.printed, both.tuned)]
    assert (both.missed, both.meaning.endswith(f"; {MISSED}")) == (missed, missed)
    assert both.outcome == ("open when tuned" if printed == "better" else "no gain seen")
    assert missed or printed == "better" or max(filter(None, chances)) >= 0.8


def test_of_a_gain_that_the_paper_does_not_print_nothing_is_missed(make_record: MakeRecord) -> None:
    unprinted = {**row("ours", 12, "proposed"), "published": {}}
    made = table(row("old", 10), unprinted, claims=[HEADLINE])
    told = {"old": LOW, "ours": WIDE}
    (both,) = in_both_regimes([view(make_record, made, told, regime=regime) for regime in ("printed", "tuned")])
    assert (both.outcome, both.missed) == ("no gain seen", False)


def test_a_gain_too_small_to_matter_is_no_gain_but_is_told(make_record: MakeRecord) -> None:
    """Significant, and its interval within the smallest difference of interest: not "neither confirms one"."""
    made = table(*TWO, claims=[HEADLINE])
    small = Primary(metric="t2i_r10", difference=0.9)
    views = [
        view(make_record, made, {"old": LOW, "ours": ours}, regime=regime, primary={"retrieval": small})
        for regime, ours in (("printed", NEAR), ("tuned", HIGH))
    ]
    (both,) = in_both_regimes(views)
    assert (both.printed.verdict.kind, both.tuned.verdict.kind) == ("equivalent", "equivalent")
    assert (both.printed.small, both.tuned.small) == (False, True)
    assert both.outcome == "no gain seen"
    below = "tuned, it is better by less than the smallest difference of interest"
    assert both.meaning == f"{MEANING['no gain seen']}; {below}", "a small one was seen"


@pytest.mark.parametrize(("better", "sign"), [("higher", 1), ("lower", -1)])
def test_the_row_as_printed_is_set_beside_the_reference_tuned(make_record: MakeRecord, better: str, sign: int) -> None:
    made = table(*TWO, claims=[HEADLINE], column={"better": better})
    values = {"printed": {"old": LOW, "ours": HIGH}, "tuned": {"old": NEAR, "ours": WIDE}}
    views = [view(make_record, made, told, regime=regime) for regime, told in values.items()]
    (both,) = in_both_regimes(views)
    assert both.across is not None
    assert both.across.difference == pytest.approx(sign * (sum(HIGH) - sum(NEAR)) / 4)
    apart = view(
        make_record, made, values["tuned"], {name: {"digests": OTHER} for name in values["tuned"]}, regime="tuned"
    )
    (both,) = in_both_regimes([views[0], apart])
    assert both.across is not None
    assert both.across.n == 0, "other batches"


def test_a_regime_that_is_missing_or_says_nothing_is_not_known(make_record: MakeRecord) -> None:
    made = table(*TWO, claims=[HEADLINE])
    printed = view(make_record, made, {"old": LOW, "ours": HIGH}, regime="printed")
    assert list(in_both_regimes([printed])) == []
    nothing = view(make_record, made, {"old": LOW}, regime="tuned")
    (both,) = in_both_regimes([printed, nothing])
    assert (both.outcome, both.meaning, both.across) == ("not known", "tuned: not run", None)


def test_claims_that_are_no_headline_are_left_out(make_record: MakeRecord) -> None:
    made = table(*TWO)
    views = [view(make_record, made, {"old": LOW, "ours": HIGH}, regime=regime) for regime in ("printed", "tuned")]
    assert list(in_both_regimes(views)) == []
