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
