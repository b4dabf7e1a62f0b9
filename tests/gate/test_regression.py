import math
from typing import Any

import pytest

from benchsuite.gate.regress import Expected, check_method

CURVES = {
    "loss": [[4.0, 3.0], [4.1, 3.1]],
    "gradient_norm": [[1.0, 0.9], [1.1, 1.0]],
    "temperature": [[0.05, 0.04], [0.05, 0.04]],
}
FIXED = {"loss": [4.0, 3.9], "gradient_norm": [1.0, 0.9]}
EXPECTED = Expected(version=1, runs=["a", "b"], arithmetic={"pair": FIXED}, curves=CURVES)


def with_fixed(**curves: list[float]) -> dict[str, Any]:
    return {"arithmetic": {"pair": {**FIXED, **curves}}}


def with_curve(name: str, values: list[list[float]]) -> dict[str, Any]:
    return {"curves": {**CURVES, name: values}}


def kinds(**changes: Any) -> dict[str, str]:
    """What is not as expected, without what it says of the version."""
    checks = check_method("m", EXPECTED, EXPECTED.model_copy(update=changes))
    return {check.what: check.kind for check in checks if check.kind != "unchanged" and check.what != "version"}


def test_what_is_as_expected_is_unchanged() -> None:
    assert len([*check_method("m", EXPECTED, EXPECTED)]) == 6
    assert kinds() == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (with_curve("loss", [[4.0, 3.0], [4.1, 3.102]]), {"first values of loss": "regressed"}),
        (with_curve("gradient_norm", [[1.0, 0.9], [1.101, 1.0]]), {"first values of gradient norm": "regressed"}),
        (with_curve("temperature", [[0.05, 0.04], [0.05, 0.05]]), {"first values of temperature": "regressed"}),
        (with_curve("loss", [[4.0, math.nan], [4.1, 3.1]]), {"first values of loss": "regressed"}),
        (with_curve("loss", [[4.0, 3.0], [4.1]]), {"first values of loss": "regressed"}),
        (with_fixed(loss=[4.0, 3.901]), {"loss on fixed embeddings (pair)": "regressed"}),
        (with_fixed(gradient_norm=[1.01, 0.9]), {"gradient norm on fixed embeddings (pair)": "regressed"}),
        (
            {"arithmetic": {"pair": {"gradient_norm": [1.0, 0.9]}}},
            {"loss on fixed embeddings (pair)": "regressed"},
        ),
        ({"arithmetic": {"pair": FIXED, "image": FIXED}}, {"towers it serves": "regressed"}),
        (with_curve("loss", []), {"first values of loss": "regressed"}),
        ({"runs": ["a", "c"], **with_curve("loss", [[9.0, 9.0], [9.0, 9.0]])}, {"setup and first batches": "outdated"}),
    ],
)
def test_what_differs_is_named_by_kind(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert kinds(**changes) == expected


def test_fixed_embeddings_allow_for_the_last_digits_and_no_more() -> None:
    assert kinds(**with_fixed(loss=[4.0, 3.9 * (1 + 5e-7)])) == {}
    assert kinds(**with_fixed(loss=[4.0, 3.9 * (1 + 5e-6)])) == {"loss on fixed embeddings (pair)": "regressed"}


@pytest.mark.parametrize(("step", "share"), [(0, 5e-6), (1, 1e-4)])
def test_a_loss_may_be_off_by_rounding_which_grows_with_the_steps_and_no_more(step: int, share: float) -> None:
    def off(times: float) -> dict[str, Any]:
        values = [list(by_step) for by_step in CURVES["loss"]]
        values[0][step] += times * share * 4.0
        return with_curve("loss", values)

    assert kinds(**off(1)) == {}
    assert kinds(**off(10)) == {"first values of loss": "regressed"}


def test_a_value_near_zero_is_judged_by_the_size_of_its_curve() -> None:
    stored, now = (EXPECTED.model_copy(update={"curves": {"loss": [[0.5, end]]}}) for end in (1e-9, -2e-6))
    assert {check.kind for check in check_method("m", stored, now)} == {"unchanged"}


def test_the_worst_of_the_first_values_is_shown_with_seed_step_and_band() -> None:
    now = EXPECTED.model_copy(update=with_curve("loss", [[4.0, 3.3], [4.1, 3.2]]))
    line = next(check.line for check in check_method("m", EXPECTED, now) if check.kind == "regressed")
    assert line == "regressed: m, first values of loss: found 3.3 (seed 0, step 1), expected 3, band ±1.2e-03"


@pytest.mark.parametrize("changes", [with_fixed(loss=[4.0, 3.901]), with_curve("loss", [[4.0, 3.0], [4.1, 3.102]])])
def test_changed_values_ask_for_a_raised_version_and_a_raised_version_for_new_values(changes: dict[str, Any]) -> None:
    *_, last = check_method("m", EXPECTED, EXPECTED.model_copy(update=changes))
    assert last.what == "version"
    assert "raise the version of m" in last.line
    (only,) = check_method("m", EXPECTED, EXPECTED.model_copy(update={"version": 2, **changes}))
    assert only.kind == "outdated"
    assert "values are stored for version 1, and m is at 2" in only.line
