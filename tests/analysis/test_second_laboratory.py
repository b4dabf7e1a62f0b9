"""Does a second laboratory say what the first one decided?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from support.claimed import HEADLINE, HIGH, LOW, TWO, MakeRecord, table, view

from benchsuite.analysis.judged_claims import judged_claims
from benchsuite.analysis.second_laboratory import agreement, replicated
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import RecordError

SECOND = 100


def made(make: MakeRecord, old: object, ours: object, first: int = 0, name: str = "t", **about: str) -> TableView:
    made = table(*TWO, claims=[HEADLINE], table=name)
    return view(make, made, {"old": old, "ours": ours}, first=first, **about)  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("decided", "there", "answer"),
    [
        ((LOW, HIGH), (LOW, HIGH), "agrees"),
        ((HIGH, LOW), (HIGH, LOW), "agrees"),
        ((LOW, HIGH), (HIGH, LOW), "contradicts"),
        ((HIGH, LOW), (LOW, HIGH), "contradicts"),
        ((LOW, HIGH), (LOW, (0.02, 0.36, 0.05, 0.38)), "open"),
        ((LOW, HIGH), (LOW, HIGH[:1]), "not run"),
        ((LOW, HIGH), (LOW, ()), "not run"),
    ],
)
def test_the_interval_of_the_second_answers(
    make_record: MakeRecord, decided: tuple[object, object], there: tuple[object, object], answer: str
) -> None:
    (again,) = replicated([made(make_record, *decided)], [made(make_record, *there, first=SECOND)])
    assert again.answer == answer


@pytest.mark.parametrize(
    ("printed", "tuned", "answer"),
    [
        ((LOW, HIGH), (LOW, LOW), "agrees"),
        ((LOW, HIGH), (LOW, HIGH), "open"),
        ((LOW, LOW), (LOW, HIGH), "contradicts"),
        ((LOW, HIGH), None, "not run"),
    ],
)
def test_that_a_gain_is_gone_once_tuned_is_asked_again(
    make_record: MakeRecord, printed: tuple[object, object], tuned: tuple[object, object] | None, answer: str
) -> None:
    """Beside the verdict as printed. What is asked is how much smaller the gain is, seed by seed."""
    nearly = (0.10, 0.13, 0.11, 0.13)
    first = [made(make_record, LOW, HIGH, regime="printed"), made(make_record, LOW, nearly, regime="tuned")]
    second = [made(make_record, *printed, SECOND, regime="printed")]
    second += [made(make_record, *tuned, SECOND, regime="tuned")] if tuned else []
    verdict, change = replicated(first, second)
    assert (verdict.asked, change.asked) == ("as printed", "tuned less as printed")
    assert change.found.difference == pytest.approx(sum(nearly) / 4 - sum(HIGH) / 4)
    assert change.answer == answer
    assert agreement([change])[:2] == (answer == "agrees", answer != "not run")


def test_how_many_agree_is_set_beside_how_many_would_on_average(make_record: MakeRecord) -> None:
    """By trying: second laboratories whose differences are drawn around the first's, as widely as those of both."""
    wide = (0.02, 0.36, 0.05, 0.38)
    again = [
        *replicated([made(make_record, LOW, HIGH)], [made(make_record, LOW, wide, first=SECOND)]),
        *replicated([made(make_record, LOW, HIGH, name="u")], []),
    ]
    agreed, asked, expected = agreement(again)
    assert (agreed, asked) == (0, 1)
    rng, (ours, theirs) = np.random.default_rng(0), (again[0].first.gains, again[0].second.gains)  # type: ignore[union-attr]
    sd = np.sqrt((ours.sd**2 + theirs.sd**2) / 2)  # type: ignore[union-attr]
    drawn = rng.normal(ours.difference, sd, (20_000, theirs.n))  # type: ignore[union-attr]
    found = ttest_1samp(drawn, 0, axis=1)
    assert expected == pytest.approx(((found.pvalue < 0.05) & (found.statistic > 0)).mean(), abs=0.02)
    assert 0.1 < expected < 0.9


@pytest.mark.parametrize(("replicates", "answer"), [(2, "open"), (6, "agrees")])
def test_equal_differences_agree_only_where_there_are_enough_of_them(
    make_record: MakeRecord, replicates: int, answer: str
) -> None:
    old = [0.1 + 0.03125 * n for n in range(replicates)]
    second = made(make_record, tuple(old), tuple(value + 0.0625 for value in old), first=SECOND)
    (again,) = replicated([made(make_record, LOW, HIGH)], [second])
    assert again.again is not None
    assert again.again.sd == 0
    assert again.answer == answer


def test_only_what_the_first_decided_is_asked_again(make_record: MakeRecord) -> None:
    second = [made(make_record, LOW, HIGH, SECOND)]
    assert replicated([made(make_record, LOW, (0.10, 0.13, 0.11, 0.13))], second) == []
    (again,) = replicated([made(make_record, LOW, HIGH)], [])
    assert again.answer == "not run"


def test_the_same_runs_in_two_tables_are_asked_once(make_record: MakeRecord) -> None:
    twice = [made(make_record, LOW, HIGH, name=name) for name in ("t", "u")]
    for name in ("t", "u"):
        (again,) = replicated(twice, [made(make_record, LOW, HIGH, SECOND, name)])
        assert (again.answer, again.first.claim.table) == ("agrees", f"p/{name}")


def test_replicates_of_the_first_confirm_nothing(make_record: MakeRecord) -> None:
    with pytest.raises(RecordError, match="p/t: replicates 2, 3 of the second laboratory"):
        replicated([made(make_record, LOW, HIGH)], [made(make_record, LOW, HIGH, first=2)])
    other = made(make_record, LOW, HIGH)
    asked = other.asked.model_copy(update={"replicates": [SECOND]})
    with pytest.raises(RecordError, match="replicates 0, 1, 2, 3 of the second laboratory"):
        replicated([made(make_record, LOW, HIGH)], [replace(other, asked=asked)])


def test_a_comparison_is_the_same_in_tables_of_one_paper_alone(make_record: MakeRecord) -> None:
    one = next(each for each in judged_claims(made(make_record, LOW, HIGH)) if each.claim.headline)
    claim, other = one.claim, one.claim.column.model_copy(update={"key": "other", "label": "other"})
    assert replace(one, claim=replace(claim, table="p/u")).comparison == one.comparison
    assert replace(one, claim=replace(claim, column=other)).comparison == one.comparison, "measured alike"
    for apart in (
        replace(one, claim=replace(claim, table="q/t")),
        replace(one, measured="retrieval.i2t_r5"),
        replace(one, scale="other"),
        replace(one, regime="tuned" if one.regime == "printed" else "printed"),
        replace(one, verdict=replace(one.verdict, paired=None)),
    ):
        assert apart.comparison != one.comparison
    nothing = replace(one, verdict=replace(one.verdict, paired=None))
    assert replace(nothing, claim=replace(claim, table="p/u")).comparison != nothing.comparison
    assert replace(nothing, scale="other").comparison != nothing.comparison, "not known at each"
