import math
from typing import Any

import pytest

from benchsuite.analysis.regression import Expected, Found, check_collapsed, check_method, half_band
from benchsuite.report.gate import junit, summary

STORED = [0.10, 0.14, 0.12, 0.08, 0.11]
EXPECTED = Expected(
    track="pair",
    loss=[[4.0, 3.0], [4.1, 3.1]],
    gradient_norm=[[1.0, 0.9], [1.1, 1.0]],
    differences={"retrieval.r_mean": STORED},
    cost=2.0,
)


def found(**changes: Any) -> Found:
    same = {
        "loss": EXPECTED.loss,
        "gradient_norm": EXPECTED.gradient_norm,
        "differences": {"retrieval.r_mean": STORED[:2]},
        "cost": 2.0,
    }
    return Found(**{**same, **changes})


def kinds(**changes: Any) -> dict[str, str]:
    return {check.what: check.kind for check in check_method("m", EXPECTED, found(**changes), 2)}


def notable(**changes: Any) -> dict[str, str]:
    return {what: kind for what, kind in kinds(**changes).items() if kind != "unchanged"}


def test_what_is_as_expected_is_unchanged() -> None:
    assert len(kinds()) == 4
    assert notable() == {}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"loss": [[4.0, 3.0], [4.1, 3.101]]}, {"first values of loss": "regressed"}),
        ({"gradient_norm": [[1.0, 0.9], [1.01, 1.0]]}, {"first values of gradient norm": "regressed"}),
        ({"loss": [[4.0, math.nan], [4.1, 3.1]]}, {"first values of loss": "measured nothing"}),
        ({"loss": []}, {"first values of loss": "measured nothing"}),
        ({"cost": 3.3}, {"cost as a multiple of the reference's": "regressed"}),
        ({"cost": 1.2}, {"cost as a multiple of the reference's": "improved"}),
        ({"cost": math.nan}, {"cost": "measured nothing"}),
        ({"crash": "ValueError: no"}, {"run": "crashed"}),
    ],
)
def test_what_differs_is_named_by_kind(changes: dict[str, Any], told: dict[str, str]) -> None:
    assert notable(**changes) == told


@pytest.mark.parametrize(
    ("shift", "kind"),
    [(-0.2, "regressed"), (0.2, "improved"), (-0.05, None), (0.05, None), (math.nan, "measured nothing")],
)
def test_a_metric_is_judged_by_the_noise_of_the_stored_seeds(shift: float, kind: str | None) -> None:
    moved = {"retrieval.r_mean": [one + shift for one in STORED[:2]]}
    assert notable(differences=moved) == ({"retrieval.r_mean against the reference": kind} if kind else {})


def test_a_metric_that_is_gone_measured_nothing() -> None:
    assert notable(differences={}) == {"retrieval.r_mean against the reference": "measured nothing"}


def test_noisier_seeds_widen_the_band_and_none_closes_it() -> None:
    assert half_band([0.0, 0.2, 0.4], 2) > half_band([0.1, 0.2, 0.3], 2) > half_band([0.2, 0.2], 2) > 0


def test_last_digits_of_first_losses_may_differ_and_no_more() -> None:
    assert notable(loss=[[4.0 * (1 + 5e-5), 3.0], [4.1, 3.1]]) == {}
    assert notable(loss=[[4.0 * (1 + 2e-4), 3.0], [4.1, 3.1]]) != {}


def test_an_evaluation_that_is_kinder_to_collapsed_towers_is_named() -> None:
    (one,) = check_collapsed("pair", {"retrieval.i2t_r1": 0.0}, {"retrieval.i2t_r1": 1.0})
    assert one.line == "regressed: collapsed towers (pair), retrieval.i2t_r1: found 1, expected 0, band exactly"
    assert [c.kind for c in check_collapsed("pair", {"a.b": 0.5}, {"a.b": 0.5})] == ["unchanged"]
    assert [c.kind for c in check_collapsed("pair", {"a.b": 0.5}, {})] == ["measured nothing"]


def test_the_summary_names_method_metric_expected_found_and_band() -> None:
    moved = {"retrieval.r_mean": [one - 0.2 for one in STORED[:2]]}
    text = summary(list(check_method("temo", EXPECTED, found(differences=moved), 2)))
    assert "4 checks: 3 unchanged, 1 regressed." in text
    (line,) = [line for line in text.splitlines() if line.startswith("| regressed")]
    for told in ("temo", "retrieval.r_mean", "+0.1200", "-0.0800", "±0.0632"):
        assert told in line


def test_junit_counts_failures_and_errors_and_escapes() -> None:
    crash = list(check_method("<m>", EXPECTED, found(crash='said "no" & died'), 2))
    good = list(check_method("good", EXPECTED, found(), 2))
    text = junit([*crash, *good])
    assert 'tests="5" failures="0" errors="1"' in text
    assert 'classname="&lt;m&gt;"' in text
    assert "said &quot;no&quot; &amp; died" in text
