import json
from collections.abc import Callable
from pathlib import Path

import pytest

import benchsuite.conformance
from benchsuite.cli import main
from benchsuite.conformance import CHECKS, Cost, MethodReport, Outcome, Report
from benchsuite.registry import methods

MINE = """
    from benchsuite import Loss, Method, register_method

    @register_method("mine")
    class Mine(Method):
        "Ours."

        weight: float = 1.0

        def loss(self, batch, clock):
            return Loss(self.weight * (batch.image - batch.text).square().mean())
"""


def outcomes(**statuses: tuple[str, str]) -> tuple[Outcome, ...]:
    return tuple(Outcome(name, *statuses.get(name, ("passed", ""))) for name in CHECKS)  # type: ignore[arg-type]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kit is replaced: "temo" fails two checks for one reason, all others pass."""
    names: list[str] = []

    def check(given: list[str], with_cost: bool = False) -> Report:
        assert with_cost
        names.extend(given)
        failed = outcomes(state=("failed", "it forgets"), needs=("failed", "it forgets"))
        fine = outcomes(permutation=("excused", "it draws"))
        reports = [
            MethodReport(n, n, failed) if n == "temo" else MethodReport(n, n, fine, Cost(1.26, 8000, 1000))
            for n in given
        ]
        return Report(tuple(reports))

    monkeypatch.setattr(benchsuite.conformance, "check_methods", check)
    return names


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["check-method", *arguments])
    return int(stopped.value.code or 0)


def test_methods_stand_down_and_checks_across(checked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ts", "infonce") == 0
    head, first, second, *rest = capsys.readouterr().out.splitlines()
    assert checked == ["ts", "infonce"]
    assert head.split() == [*CHECKS, "time", "memory", "pairs"]
    assert first.split() == ["ts", "ok", "ok", "excused", *["ok"] * (len(CHECKS) - 3), "x1.3", "8.0", "kB", "0", "B"]
    assert second.split()[0] == "infonce"
    assert "ts, permutation: excused, it draws" in rest
    assert rest[-1] == "2 methods: all checks passed."
    assert head.index("state") == first.index("ok") or head.index("finite") == first.index("ok")


def test_a_warning_has_a_line_of_its_own_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report((MethodReport("ts", "TS", outcomes(), warnings=("tau decays",)),))
    monkeypatch.setattr(benchsuite.conformance, "check_methods", lambda names, with_cost: report)
    assert run("ts") == 0
    assert "ts, warning: tau decays" in capsys.readouterr().out.splitlines()
    assert report.as_json()[0]["warnings"] == ["tau decays"]


def test_a_failure_is_told_once_with_its_checks_and_the_exit_code(
    checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("temo", "ts") == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split().count("FAILED") == 2
    assert [line for line in shown if "it forgets" in line] == ["temo, state, needs: it forgets"]
    assert shown[-1] == "1 of 2 methods failed: temo."


@pytest.mark.parametrize(("others", "said"), [((), False), (("precision", "state"), True)])
def test_what_is_not_finite_is_to_be_mended_first(
    others: tuple[str, ...], said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = {check: ("failed", f"nan in {check}") for check in ("finite", *others)}
    report = Report((MethodReport("ts", "TS", outcomes(**failed)),))
    monkeypatch.setattr(benchsuite.conformance, "check_methods", lambda names, with_cost: report)
    assert run("ts") == 1
    assert ("Mend finite first" in capsys.readouterr().out) == said


def test_all_is_the_registry_and_json_is_the_report(checked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--all", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert checked == [one["name"] for one in found] == sorted(methods)
    assert {one["name"] for one in found if not one["passed"]} == {"temo"}


def test_a_name_given_twice_is_checked_once(checked: list[str]) -> None:
    run("ts", "ts")
    assert checked == ["ts"]


def test_a_file_stands_for_the_methods_it_registers(checked: list[str], plugin_file: Callable[..., Path]) -> None:
    run(str(plugin_file(MINE)))
    assert checked == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which method?"),
        (("tmeo",), 'Did you mean "temo"?'),
        (("absent.py",), "absent.py: no such file"),
    ],
)
def test_wrong_usage_is_one_message(
    arguments: tuple[str, ...], message: str, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err
    assert checked == []


def test_a_file_without_a_method_is_refused(
    checked: list[str], plugin_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(plugin_file("x = 1"))) == 2
    assert "registers no method" in capsys.readouterr().err


@pytest.mark.slow
def test_a_users_file_is_checked_for_real(plugin_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(plugin_file(MINE))) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["mine", *("FAILED" if name == "hyperparameters" else "ok" for name in CHECKS)]
    assert shown[3].startswith("mine, hyperparameters: the impossible weight = nan is accepted")
