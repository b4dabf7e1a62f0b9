import math
from typing import Any

import pytest

from benchsuite.gate.decision import (
    Check,
    Expectations,
    Expected,
    Observed,
    check_batches,
    check_collapsed,
    check_method,
    half_band,
    unraised,
)

STORED = [0.10, 0.14, 0.12, 0.08, 0.11]
CURVES = {
    "loss": [[4.0, 3.0], [4.1, 3.1]],
    "gradient_norm": [[1.0, 0.9], [1.1, 1.0]],
    "temperature": [[0.05, 0.04], [0.05, 0.04]],
}
FIXED = {"loss": [4.0, 3.9], "gradient_norm": [1.0, 0.9]}
EXPECTED = Expected(
    track="pair",
    version=1,
    arithmetic={"pair": FIXED},
    curves=CURVES,
    differences={"retrieval.r_mean": STORED},
)


def observed(**changes: Any) -> Observed:
    same = {
        "arithmetic": {"pair": FIXED},
        "curves": CURVES,
        "differences": {"retrieval.r_mean": STORED[:2]},
    }
    return Observed(**{**same, **changes})


def with_fixed(**curves: list[float]) -> dict[str, Any]:
    return {"arithmetic": {"pair": {**FIXED, **curves}}}


def with_curve(name: str, values: list[list[float]]) -> dict[str, Any]:
    return {"curves": {**CURVES, name: values}}


def kinds(**changes: Any) -> dict[str, str]:
    return {check.what: check.kind for check in check_method("m", EXPECTED, observed(**changes), 2)}


def notable(**changes: Any) -> dict[str, str]:
    """Without what it says of the version."""
    return {what: kind for what, kind in kinds(**changes).items() if kind != "unchanged" and what != "version"}


def test_what_is_as_expected_is_unchanged() -> None:
    assert len(kinds()) == 8
    assert notable() == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (with_curve("loss", [[4.0, 3.0], [4.1, 3.102]]), {"first values of loss": "regressed"}),
        (with_curve("gradient_norm", [[1.0, 0.9], [1.101, 1.0]]), {"first values of gradient norm": "regressed"}),
        (with_curve("temperature", [[0.05, 0.04], [0.05, 0.05]]), {"first values of temperature": "regressed"}),
        (with_curve("loss", [[4.0, math.nan], [4.1, 3.1]]), {"first values of loss": "measured nothing"}),
        (with_curve("loss", [[4.0, 3.0], [4.1]]), {"first values of loss": "measured nothing"}),
        (with_fixed(loss=[4.0, 3.901]), {"loss on fixed embeddings (pair)": "regressed"}),
        (with_fixed(gradient_norm=[1.01, 0.9]), {"gradient norm on fixed embeddings (pair)": "regressed"}),
        (
            {"arithmetic": {"pair": {"gradient_norm": [1.0, 0.9]}}},
            {"loss on fixed embeddings (pair)": "measured nothing"},
        ),
        ({"arithmetic": {"pair": FIXED, "image": FIXED}}, {"towers it serves": "regressed"}),
        (with_curve("loss", []), {"first values of loss": "measured nothing"}),
        ({"crash": "ValueError: no"}, {"run": "crashed"}),
    ],
)
def test_what_differs_is_named_by_kind(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert notable(**changes) == expected


@pytest.mark.parametrize(
    ("shift", "kind"),
    [(-0.2, "regressed"), (0.2, "improved"), (-0.05, None), (0.05, None), (math.nan, "measured nothing")],
)
def test_a_metric_is_judged_by_the_noise_of_the_stored_seeds(shift: float, kind: str | None) -> None:
    moved = {"retrieval.r_mean": [value + shift for value in STORED[:2]]}
    assert notable(differences=moved) == ({"retrieval.r_mean against the reference": kind} if kind else {})


def test_a_metric_that_is_gone_measured_nothing() -> None:
    assert notable(differences={}) == {"retrieval.r_mean against the reference": "measured nothing"}


def test_noisier_seeds_widen_the_band_and_none_closes_it() -> None:
    assert half_band([0.0, 0.2, 0.4], 2) > half_band([0.1, 0.2, 0.3], 2) > half_band([0.2, 0.2], 2) > 0


def test_fixed_embeddings_allow_for_the_last_digits_and_no_more() -> None:
    assert notable(**with_fixed(loss=[4.0, 3.9 * (1 + 5e-7)])) == {}
    assert notable(**with_fixed(loss=[4.0, 3.9 * (1 + 5e-6)])) == {"loss on fixed embeddings (pair)": "regressed"}


@pytest.mark.parametrize(("step", "share"), [(0, 5e-6), (1, 1e-4)])
def test_a_loss_may_be_off_by_rounding_which_grows_with_the_steps_and_no_more(step: int, share: float) -> None:
    def off(times: float) -> dict[str, Any]:
        values = [list(by_step) for by_step in CURVES["loss"]]
        values[0][step] += times * share * 4.0
        return with_curve("loss", values)

    assert notable(**off(1)) == {}
    assert notable(**off(10)) == {"first values of loss": "regressed"}


def test_a_value_near_zero_is_judged_by_the_size_of_its_curve() -> None:
    stored = EXPECTED.model_copy(update={"curves": {"loss": [[0.5, 1e-9]]}})
    by_name = {check.what: check for check in check_method("m", stored, observed(curves={"loss": [[0.5, -2e-6]]}), 1)}
    assert by_name["first values of loss"].kind == "unchanged"


def test_the_worst_of_the_first_values_is_shown_with_seed_step_and_band() -> None:
    checks = check_method("m", EXPECTED, observed(**with_curve("loss", [[4.0, 3.3], [4.1, 3.2]])), 2)
    line = next(check.line for check in checks if check.kind == "regressed")
    assert line == "regressed: m, first values of loss: found 3.3 (seed 0, step 1), expected 3, band ±1.2e-03"


def test_other_batches_are_named_with_the_seed() -> None:
    same, other = check_batches("pair", ["abc", "def"], ["abc", "xyz"])
    assert same.kind == "unchanged"
    assert other.line == "regressed: batches (pair), first batches of seed 1: found xyz, expected def, band exactly"


def test_an_evaluation_that_is_kinder_to_collapsed_towers_is_named() -> None:
    (check,) = check_collapsed("pair", {"retrieval.i2t_r1": 0.0}, {"retrieval.i2t_r1": 1.0})
    assert check.line == "regressed: collapsed towers (pair), retrieval.i2t_r1: found 1, expected 0, band exactly"
    assert [c.kind for c in check_collapsed("pair", {"a.b": 0.5}, {"a.b": 0.5})] == ["unchanged"]
    assert [c.kind for c in check_collapsed("pair", {"a.b": 0.5}, {})] == ["measured nothing"]


def test_changed_values_ask_for_a_raised_version_and_a_raised_version_for_new_values() -> None:
    def version(observed: Observed) -> Check:
        (check,) = (check for check in check_method("m", EXPECTED, observed, 2) if check.what == "version")
        return check

    for changes in (with_fixed(loss=[4.0, 3.901]), with_curve("loss", [[4.0, 3.0], [4.1, 3.102]])):
        assert version(observed(**changes)).kind == "regressed"
        assert "raise the version of m" in version(observed(**changes)).line
    assert version(observed(differences={})).kind == "unchanged", "no value"
    (only,) = check_method("m", EXPECTED, observed(version=2, **with_fixed(loss=[4.0, 3.901])), 2)
    assert only.kind == "outdated"
    assert "values are stored for version 1, and m is at 2" in only.line


def test_new_values_are_stored_only_under_a_new_version() -> None:
    def stored(batches: str = "a", **changes: Any) -> Expectations:
        methods = {"m": EXPECTED.model_copy(update=changes)}
        return Expectations(seeds=2, setups={"pair": "s"}, batches={"pair": [batches]}, methods=methods, collapsed={})

    fixed, curve = with_fixed(loss=[4.0, 3.901]), with_curve("loss", [[4.0, 3.0], [4.1, 3.102]])
    assert unraised(stored(), stored()) == []
    assert unraised(stored(), stored(**fixed)) == unraised(stored(), stored(**curve)) == ["m"]
    assert unraised(stored(), stored(version=2, **fixed)) == []
    assert unraised(stored(), stored("other", **curve)) == [], "other batches change every training"
    assert unraised(stored(), stored("other", **fixed)) == ["m"]
