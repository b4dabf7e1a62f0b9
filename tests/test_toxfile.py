import subprocess
import sys
from pathlib import Path

import pytest
from support.files_of import module_of

from benchsuite.papers import paper_names, table_names

TOXFILE = Path(__file__).parents[1] / "toxfile.py"


@pytest.fixture
def environments() -> dict[str, str]:
    names: dict[str, str] = module_of(TOXFILE).environments()
    return names


def test_every_table_and_paper_has_its_environment(environments: dict[str, str]) -> None:
    tables = {f"repro-{name.replace('/', '-')}": name for name in table_names()}
    papers = {f"repro-{name}": name for name in paper_names()}
    assert environments == {**tables, **papers, "repro-table1": "temo/table1", "repro-all": "all"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ((), ("--regime", "tuned")),
        (("--tune", "--replicates=3"), ("--regime", "tuned", "--tune", "--replicates=3")),
        (("--scale", "smoke"), ("--scale", "smoke")),
        (("--regime=printed",), ("--regime=printed",)),
        (("--regime", "both"), ("--regime", "both")),
    ],
)
def test_table1_is_tuned_unless_options_say_what_to_do(given: tuple[str, ...], asked: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "tox", "config", "-e", "repro-table1", "-k", "commands", "--", *given]
    told = subprocess.run(command, cwd=TOXFILE.parent, capture_output=True, text=True, check=True).stdout
    assert f"commands = benchsuite repro temo/table1 {' '.join(asked)}\n" in told
