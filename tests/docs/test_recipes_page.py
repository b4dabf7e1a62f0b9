"""The numbers of runs in docs/recipes.md are those of --dry-run. Times are estimates, which a machine moves."""

import re
import shlex
from pathlib import Path

import pytest
from support.commands import exit_code

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text("utf-8")
COUNTED = re.findall(r"^\| .* \| `benchsuite ([^`]*)` \| (\d+) \| \d+ \w+ \|$", PAGE, re.M)


def test_every_command_with_a_number_is_compared() -> None:
    assert len(COUNTED) == 4


@pytest.mark.parametrize(("command", "runs"), COUNTED)
def test_the_runs_are_those_of_a_dry_run(
    command: str, runs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(*shlex.split(command), "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f": {runs} runs, {runs} to do" in shown or (runs == "1" and shown.startswith("to do "))
