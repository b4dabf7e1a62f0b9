"""`benchsuite new-table`: a file that is complete, or a list of what is not; never over another one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import exit_code
from support.own_tables import own_folder
from support.scales import check_scale

from benchsuite.folders import use_folders
from benchsuite.papers import read_table
from benchsuite.papers.claim import claims_of
from benchsuite.planning.columns import measured_columns
from benchsuite.planning.recipe import read_recipe

CSV = "name,retrieval.t2i_r1,Gap,method,role\nInfoNCE,21.6,0.4,,\nMine,–,,temo,proposed\n"
PLUGIN = "from benchsuite import register_method\n\n@register_method('of-file')\nclass Mine: pass\n"
GAP = ["--measure", "Gap=geometry.gap"]


@pytest.fixture(autouse=True)
def forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    use_folders(())


def new_table(text: str, *arguments: str, name: str = "mine/table1") -> int:
    Path("t.csv").write_text(text)
    return exit_code("new-table", "t.csv", name, "--tables", "own", *arguments)


def test_a_complete_csv_becomes_a_table_that_passes_the_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_table(CSV, *GAP) == 0
    told = capsys.readouterr().out
    assert "2 rows, 2 columns, 2 published numbers" in told
    assert 'row "InfoNCE": method infonce, by its label' in told
    assert re.search(r'line \d+, "Gap": better, "higher" or "lower"', told)
    assert "then: benchsuite repro mine/table1 --scale smoke --tables own" in told
    use_folders([Path("own")])
    table = read_table("mine/table1")
    for scale in ("smoke", "small"):
        check_scale(table, scale)
    assert [(column.unit, column.better) for column in table.columns] == [("percent", "higher"), ("number", "neither")]
    assert [claim.name for claim in claims_of(table)] == ["RN50/Mine beats RN50/InfoNCE on retrieval.t2i_r1"]
    stand_ins = measured_columns(table, read_recipe("scenes-smoke")).stand_ins
    assert stand_ins[table.columns[0].key] == "all test images of scenes", "measured by the recipe's own protocol"


@pytest.mark.usefixtures("forgetful_registries")
def test_the_command_that_follows_names_the_plugin_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(PLUGIN)
    text = "name,retrieval.t2i_r1,method\nMine,,of-file\n"
    assert new_table(text) == 2
    assert 'method "of-file" does not exist' in (told := capsys.readouterr().err)
    assert told.endswith("If it is in a file of yours, add --plugin FILE.\n")
    assert new_table(text, "--plugin", "mine.py") == 0
    assert "repro mine/table1 --scale smoke --tables own --plugin mine.py\n" in capsys.readouterr().out


def test_no_numbers_at_all_are_no_obstacle() -> None:
    assert new_table("name,retrieval.r_mean\nInfoNCE,\nTS,\n") == 0
    use_folders([Path("own")])
    assert [row.published for row in read_table("mine/table1").rows] == [{}, {}]


def test_what_is_missing_is_listed_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_table(CSV.replace("InfoNCE", "Somebody")) == 0
    told = capsys.readouterr().out
    lines = Path("own/papers/mine/table1.toml").read_text().splitlines()
    missing = re.findall(r'line (\d+), "(.*?)": (measure|method), one of', told)
    assert [name for _, name, _ in missing] == ["Gap", "Somebody"]
    assert [lines[int(line) - 1] for line, *_ in missing] == ['measure = "FILL IN"', 'method = "FILL IN"']
    assert "geometry.METRIC, METRIC one of gap" in told
    assert exit_code("repro", "mine/table1", "--scale", "smoke", "--tables", "own", "--dry-run") == 2
    assert 'column gap: measure "FILL IN": write protocol.metric' in capsys.readouterr().err


def test_numbers_that_look_like_fractions_are_to_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_table(CSV.replace("21.6", "0.216"), *GAP) == 0
    assert 'column "retrieval.t2i_r1": no number is above 1; if these are fractions' in capsys.readouterr().out


def test_a_recipe_of_the_folder_can_be_named() -> None:
    own_folder(Path("own"))
    assert new_table(CSV, *GAP, "--recipe", "smoke=tiny", "--backbone", "ViT-B/16", "--title", "Mine") == 0
    use_folders([Path("own")])
    table = read_table("mine/table1")
    assert (table.recipes, table.title, table.rows[0].backbone) == ({"smoke": "tiny"}, "Mine", "ViT-B/16")


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
    assert new_table(CSV, *GAP, name=name) == 2
    assert says in capsys.readouterr().err
    assert {file: file.read_text() for file in tmp_path.rglob("*.toml")} == before


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (CSV.replace("temo", "tmeo"), GAP, 't.csv, row "Mine": method "tmeo" does not exist'),
        (CSV.replace("proposed", "propsed"), GAP, "t.csv: rows.1.role: Input should be 'proposed', 'baseline' or"),
        (CSV.replace("21.6", "216"), GAP, 'row "InfoNCE", column retrieval_t2i_r1: 216.0 is not a percentage'),
        (CSV.replace("21.6", "nan"), GAP, 'row "InfoNCE", column "retrieval.t2i_r1": "nan" is not a number'),
        (CSV.replace("21.6", "x" * 200_000), GAP, "t.csv, line 2: field larger than field limit"),
        (CSV.replace(",,\n", ",\n"), GAP, "t.csv, line 2: 4 cells, but 5 headers"),
        (CSV.replace("Gap", "retrieval/t2i.r1"), [], 'column "retrieval_t2i_r1" appears twice'),
        (CSV, ["--measure", "Gap=geometry.gpa"], 'Did you mean "gap"'),
        (CSV, ["--measure", "Gp=geometry.gap"], 'column "Gp" does not exist'),
        (CSV, ["--measure", "Gap"], '--measure "Gap": write COLUMN=PROTOCOL.METRIC'),
        (CSV, [*GAP, "--backbone", "RN51"], 'backbone "RN51" does not exist'),
        (CSV, [*GAP, "--recipe", "smoke=scenes-smok"], 'Did you mean "scenes-smoke"'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_and_nothing_is_written(
    text: str, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new_table(text, *arguments) == 2
    assert says in capsys.readouterr().err
    assert not Path("own").exists()
