"""Golden values: an unintended change of any method's arithmetic fails here under its name."""

from pathlib import Path

import pytest

from benchsuite.conformance.golden import differences, golden_values, stored_file, stored_values, update
from benchsuite.methods import method_class
from benchsuite.registry import methods


@pytest.mark.parametrize("name", sorted(methods))
def test_arithmetic_is_as_it_was(name: str) -> None:
    assert name in stored_values(), f"run: benchsuite check-method {name} --update-golden"
    assert differences(stored_values()[name], golden_values(name)) == []


def test_values_of_methods_that_are_gone_are_gone() -> None:
    assert set(stored_values()) == set(methods)


def test_a_moved_method_is_named_and_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchsuite.conformance.golden.stored_file", lambda: tmp_path / "regression" / "golden.json")
    assert update(["infonce", "ts"]) == ["infonce", "ts"]
    assert update(["infonce", "ts"]) == []
    monkeypatch.setattr(method_class("infonce"), "tau", 0.011)
    assert update(["infonce", "ts"]) == ["infonce"]
    assert stored_file() != tmp_path


@pytest.mark.parametrize("change", [1e-5, -1e-5])
def test_a_small_move_is_seen_and_rounding_is_not(change: float) -> None:
    one = {"pair": {"loss": [2.0, 3.0], "gradient": [1.0, 1.0]}}
    other = {"pair": {"loss": [2.0, 3.0 + change], "gradient": [1.0, 1.0]}}
    assert differences(one, other) == [f"pair, loss: was [2.0, 3.0], is [2.0, {3.0 + change}]"]
    assert differences(one, {"pair": {"loss": [2.0, 3.0 + change / 100], "gradient": [1.0, 1.0]}}) == []
