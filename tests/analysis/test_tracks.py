"""A headline claim at several scales, and how far scales order methods alike."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from support.claimed import HIGH, LOW, TWO, MakeRecord, claimed, row, table, view

from benchsuite.analysis.both_regimes import InBothRegimes
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.tracks import across_scales, tau, track_agreements
from benchsuite.planning.recipe import Primary

FOUR = tuple(row(name, 1, hyperparameters={"tau": number}) for number, name in enumerate("abcd", 1))
PRIMARY = {"retrieval": Primary(metric="i2t_r1", difference=0.01)}


def test_a_headline_claim_has_a_place_for_each_scale(make_record: MakeRecord) -> None:
    both = [
        view(make_record, claimed(*TWO), {"ours": ours, "old": LOW}, scale="small", regime=regime)
        for regime, ours in (("printed", HIGH), ("tuned", LOW))
    ]
    alone = view(make_record, claimed(*TWO), {"ours": LOW, "old": HIGH}, scale="gpu")
    ((name, found),) = across_scales([*both, alone]).items()
    assert name.startswith("p/t: ")
    whole, one = found
    assert isinstance(whole, InBothRegimes)
    assert whole.outcome == "not known", "equal runs were not exercised"
    assert not isinstance(one, InBothRegimes)
    assert (one.scale, one.verdict.kind) == ("gpu", "opposite")
    assert across_scales([view(make_record, table(*TWO), {"ours": HIGH, "old": LOW})]) == {}


def ordered(make: MakeRecord, scale: str, means: Sequence[float], spread: float) -> TableView:
    """A table of four methods whose values vary by so much around these means."""
    wobble = np.random.default_rng(len(scale)).normal(0, spread, (4, 6))
    values = {name: [mean + by for by in line] for name, mean, line in zip("abcd", means, wobble, strict=True)}
    made = view(make, table(*FOUR), values, scale=scale, primary=PRIMARY)
    rows = []
    for one, number in zip(made.rows, range(1, 5), strict=True):
        records = [
            record.model_copy(update={"method": record.method.model_copy(update={"hyperparameters": {"tau": number}})})
            for record in one.records
        ]
        rows.append(replace(one, records=records))
    return replace(made, rows=rows)


@pytest.mark.parametrize(("second", "expected"), [((1, 2, 3, 4), 1.0), ((4, 3, 2, 1), -1.0), ((2, 1, 3, 4), 2 / 3)])
def test_agreement_is_kendalls_tau_of_the_methods_that_both_have(
    make_record: MakeRecord, second: Sequence[float], expected: float
) -> None:
    steady = [ordered(make_record, scale, [m / 10 for m in means], 1e-4) for scale, means in
              (("small", (1, 2, 3, 4)), ("gpu", second))]  # fmt: skip
    (found,) = track_agreements(steady)
    assert (found.first, found.second, found.measure, len(found.methods)) == ("gpu", "small", "retrieval.i2t_r1", 4)
    assert found.tau == found.low == found.high == pytest.approx(expected), "no replicate changes an order"


def test_the_interval_of_an_order_by_luck_is_wide(make_record: MakeRecord) -> None:
    lucky = [ordered(make_record, scale, (0.3, 0.3, 0.3, 0.3), 0.03) for scale in ("small", "gpu")]
    (found,) = track_agreements(lucky)
    assert found.low < found.tau < found.high
    assert found.high - found.low > 0.6


def test_a_method_that_trained_longer_is_another(make_record: MakeRecord) -> None:
    views = [ordered(make_record, scale, (0.1, 0.2, 0.3, 0.4), 0.01) for scale in ("small", "gpu")]
    rows = [
        replace(
            one,
            records=[r.model_copy(update={"method": r.method.model_copy(update={"longer": 2.0})}) for r in one.records],
        )
        for one in views[1].rows
    ]
    assert track_agreements([views[0], replace(views[1], rows=rows)]) == []


def test_fewer_than_four_configurations_have_no_order(make_record: MakeRecord) -> None:
    views = [ordered(make_record, scale, (0.1, 0.2, 0.3, 0.4), 0.01) for scale in ("small", "gpu")]
    assert track_agreements([replace(views[0], rows=views[0].rows[:3]), views[1]]) == []


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=7))
def test_tau_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, float)[None] for side in zip(*pairs, strict=True))
    expected = kendalltau(first[0], second[0]).statistic
    assert tau(first, second)[0] == pytest.approx(expected, nan_ok=True)


def test_rows_of_two_variants_are_not_in_one_order(make_record: MakeRecord) -> None:
    views = [ordered(make_record, scale, (0.1, 0.2, 0.3, 0.4), 1e-4) for scale in ("small", "gpu")]
    other = [replace(view, rows=[replace(row, variant="other") for row in view.rows]) for view in views]
    apart = [replace(one, rows=[*one.rows[:2], *two.rows[2:]]) for one, two in zip(views, other, strict=True)]
    assert track_agreements(apart) == []
    (found,) = track_agreements(other)
    assert found.towers == f"{views[0].rows[0].backbone}, other"


def test_an_order_is_of_seeds_that_all_rows_have(make_record: MakeRecord) -> None:
    views = [ordered(make_record, scale, (0.1, 0.2, 0.3, 0.4), 1e-4) for scale in ("small", "gpu")]
    (first, *others) = views[0].rows
    late = [replace(views[0], rows=[replace(first, records=first.records[-1:]), *others]), views[1]]
    (found,) = track_agreements(late)
    assert found.tau == found.low == found.high == 1.0
    none = [
        replace(
            views[0],
            rows=[
                replace(first, records=first.records[-1:]),
                replace(others[0], records=others[0].records[:1]),
                *others[1:],
            ],
        ),
        views[1],
    ]
    assert track_agreements(none) == []


def test_equal_means_have_no_order(make_record: MakeRecord) -> None:
    views = [
        ordered(make_record, "small", (0.2, 0.2, 0.2, 0.2), 0.0),
        ordered(make_record, "gpu", (0.1, 0.2, 0.3, 0.4), 0.0),
    ]
    assert track_agreements(views) == []
