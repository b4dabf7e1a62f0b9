"""`benchsuite new-table`: a file that passes the checks of built-in ones, or a refusal; never over another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import exit_code
from support.own_tables import own_folder
from support.scales import check_scale

from benchsuite.folders import use_folders
from benchsuite.papers import read_table
from benchsuite.papers.claim import claims_of

PLUGIN = "from benchsuite import register_method\n\n@register_method('of-file')\nclass Mine: pass\n"
COLUMNS = ["--measure", "retrieval.t2i_r1", "--measure", "geometry.gap"]


@pytest.fixture(autouse=True)
def forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    use_folders(())


def new_table(*arguments: str, name: str = "mine/table1") -> int:
    return exit_code("new-table", name, *arguments, "--tables", "own")


def test_methods_and_measures_become_a_table_that_passes_the_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_table("infonce", "temo", *COLUMNS) == 0
    told = capsys.readouterr().out
    assert "2 rows, 2 columns" in told
    assert "then: benchsuite repro mine/table1 --scale smoke --tables own" in told
    use_folders([Path("own")])
    table = read_table("mine/table1")
    for scale in ("smoke", "small"):
        check_scale(table, scale)
    assert [(column.unit, column.better) for column in table.columns] == [("percent", "higher"), ("number", "neither")]
    assert [claim.name for claim in claims_of(table)] == ["RN50/TeMo beats RN50/InfoNCE on retrieval.t2i_r1"]


@pytest.mark.usefixtures("forgetful_registries")
def test_the_command_that_follows_names_the_plugin_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(PLUGIN)
    assert new_table("of-file", *COLUMNS) == 2
    assert 'method "of-file" does not exist' in (told := capsys.readouterr().err)
    assert told.endswith("If it is in a file of yours, add --plugin FILE.\n")
    assert new_table("of-file", *COLUMNS, "--plugin", "mine.py") == 0
    assert "repro mine/table1 --scale smoke --tables own --plugin mine.py\n" in capsys.readouterr().out


def test_a_recipe_of_the_folder_can_be_named() -> None:
    own_folder(Path("own"))
    assert new_table("infonce", *COLUMNS, "--recipe", "my scale=tiny") == 0
    use_folders([Path("own")])
    table = read_table("mine/table1")
    assert (table.recipes, [row.role for row in table.rows]) == ({"my scale": "tiny"}, ["baseline"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mine/first", 'table "mine/first" exists already, in own/papers/mine/first.toml'),
        ("temo/table1", 'table "temo/table1" exists already, in '),
        ("mine", '"mine": write PAPER/TABLE'),
        ("../mine/x", '"../mine/x": write PAPER/TABLE'),
        ("mine/..", '"mine/..": write PAPER/TABLE'),
    ],
)
def test_nothing_is_overwritten_or_written_elsewhere(
    tmp_path: Path, name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own_folder(Path("own"))
    before = {file: file.read_text() for file in tmp_path.rglob("*.toml")}
    assert new_table("infonce", *COLUMNS, name=name) == 2
    assert says in capsys.readouterr().err
    assert {file: file.read_text() for file in tmp_path.rglob("*.toml")} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["infonce", "tmeo", *COLUMNS], 'method "tmeo" does not exist'),
        (["infonce", "infonce", *COLUMNS], "twice"),
        (["infonce", "--measure", "retrieval/t2i.r1", *COLUMNS], 'column "retrieval_t2i_r1" appears twice'),
        (["infonce", "--measure", "geometry.gpa"], 'Did you mean "gap"'),
        (["infonce", *COLUMNS, "--recipe", "smoke"], '--recipe "smoke": write SCALE=RECIPE'),
        (["infonce", *COLUMNS, "--recipe", "smoke=scenes-smok"], 'Did you mean "scenes-smoke"'),
        (["infonce", "simclr", *COLUMNS, "--recipe", "smoke=scenes-smoke"], "simclr does not train pair towers"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_written(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new_table(*arguments) == 2
    assert says in capsys.readouterr().err
    assert not Path("own").exists()
