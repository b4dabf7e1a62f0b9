"""benchmarks/bench.py: it measures, refuses other numbers, writes what it measured, and names missed aims."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[1] / "benchmarks" / "bench.py"
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


def bench(folder: Path, *options: str, ours: float = 0.05) -> "subprocess.CompletedProcess[str]":
    """The command with cases of the test's own in place of all others."""
    module = CASES.replace("OURS", str(ours))
    script = (
        f"import sys, types; sys.path.insert(0, {str(BENCH.parent)!r}); import bench; "
        f"made = types.ModuleType('made'); exec({module!r}, made.__dict__); sys.modules['made'] = made; "
        f"bench.MODULES = ('made',); sys.argv = ['bench.py', *{list(options)!r}]; bench.main()"
    )
    return subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)


def test_it_writes_what_it_measured_and_names_missed_aims(tmp_path: Path) -> None:
    options = ["--only", "equal", "--repeats", "2", "--out", "speed.json"]
    first = bench(tmp_path, *options)
    assert first.returncode == 0, first.stderr
    assert "aim missed" not in first.stdout
    ours, peer, product = json.loads((tmp_path / "speed.json").read_text())["benchmarks"]["equal"]["timed"]
    assert (ours["by"], peer["by"], product["by"]) == ("benchsuite", "peer", "product")
    assert len(ours["seconds"]) == 2
    assert min(peer["seconds"]) >= 0.2
    assert "aim missed: equal: peer, at least 1.5 times" in bench(tmp_path, *options, ours=0.3).stdout


def test_numbers_that_differ_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "other", "--out", "speed.json")
    assert done.returncode == 1
    assert "other: x is 1.0, by peer 1.1; at most 0.05 apart is allowed" in done.stderr
    assert not (tmp_path / "speed.json").exists()


@pytest.mark.parametrize("only", ["nothing"])
def test_a_name_that_no_case_has_is_told(tmp_path: Path, only: str) -> None:
    done = bench(tmp_path, "--only", only)
    assert done.returncode == 2
    assert "no case is called nothing" in done.stderr
