"""benchmarks/bench.py: it measures, refuses other numbers, writes what it measured, and names missed aims."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from support.files_of import module_of

bench = module_of(Path(__file__).parents[1] / "benchmarks" / "bench.py")
CASES = """
import time
from cases import Case

def slow(seconds, numbers):
    def call():
        time.sleep(seconds)
        return numbers
    return call

def cases(size):
    yield Case("equal", f"Sleep, {size}", {"benchsuite": slow(OURS, {"x": 1.0}), "peer": slow(0.2, {"x": 1.0}),
               "product": slow(0, {})}, aims={"peer": 1.5})
    yield Case("other", "Other numbers", {"benchsuite": slow(0, {"x": 1.0}), "peer": slow(0, {"x": 1.1})}, apart=0.05)
"""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`measured(*options, ours)`: what it prints, with cases of the test's own in place of all others."""
    monkeypatch.chdir(tmp_path)

    def run(*options: str, ours: float = 0.05) -> str:
        made = ModuleType("made")
        exec(CASES.replace("OURS", str(ours)), made.__dict__)
        monkeypatch.setitem(sys.modules, "made", made)
        monkeypatch.setattr(bench, "MODULES", ("made",))
        monkeypatch.setattr(sys, "argv", ["bench.py", *options])
        bench.main()
        return capsys.readouterr().out

    return run


def test_it_writes_what_it_measured_and_names_missed_aims(measured: Callable[..., str]) -> None:
    options = ["--only", "equal", "--repeats", "2", "--out", "speed.json"]
    assert "aim missed" not in measured(*options)
    ours, peer, product = json.loads(Path("speed.json").read_text())["benchmarks"]["equal"]["timed"]
    assert (ours["by"], peer["by"], product["by"]) == ("benchsuite", "peer", "product")
    assert len(ours["seconds"]) == 2
    assert min(peer["seconds"]) >= 0.2
    assert "aim missed: equal: peer, at least 1.5 times" in measured(*options, ours=0.3)


def test_numbers_that_differ_are_refused_and_nothing_is_written(measured: Callable[..., str]) -> None:
    with pytest.raises(SystemExit, match=r"other: x is 1\.0, by peer 1\.1; at most 0\.05 apart is allowed"):
        measured("--only", "other", "--out", "speed.json")
    assert not Path("speed.json").exists()


def test_a_name_that_no_case_has_is_told(measured: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        measured("--only", "nothing")
    assert "no case is called nothing" in capsys.readouterr().err
