"""Tables that share rows: each shows every stored seed of them, whichever of the tables asked for it."""

from pathlib import Path

import pytest
from support.commands import exit_code
from support.own_tables import NAME, TABLE, own_folder
from support.tiny_recipes import VECTORS

from benchsuite.analysis.building import build_views
from benchsuite.records.store import Store

OTHER = "mine/second"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with two tables of the same three rows, under a recipe of seconds."""
    monkeypatch.chdir(tmp_path)
    folder = own_folder(own_folder(Path("own")), TABLE.replace('"first"', '"second"'), OTHER)
    (folder / "recipes" / "tiny.toml").write_text(VECTORS.replace("backbones.mlp", "backbones.RN50"))


def repro(table: str, rows: str, seeds: int) -> int:
    command = ("repro", table, "--scale", "smoke", "--tables", "own", "--jobs", "1")
    return exit_code(*command, "--rows", rows, "--seeds", str(seeds))


def seeds_of(table: str) -> dict[str, list[int]]:
    views, _ = build_views(Store(Path("runs")).read())
    (view,) = (view for view in views if view.table.name == table)
    return {row.label: sorted(record.seed for record in row.records) for row in view.rows}


@pytest.mark.usefixtures("own", "in_process", "forgetful_registries")
def test_a_table_lists_the_seeds_that_another_one_asked_for_before_and_after(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert repro(NAME, "infonce", 2) == 0
    assert repro(OTHER, "infonce,ts", 1) == 0, capsys.readouterr().err
    assert seeds_of(OTHER) == {"InfoNCE": [0, 1], "TS": [0]}
    assert repro(OTHER, "infonce", 3) == 0
    assert seeds_of(OTHER) == {"InfoNCE": [0, 1, 2], "TS": [0]}
    assert seeds_of(NAME) == {"InfoNCE": [0, 1, 2]}
