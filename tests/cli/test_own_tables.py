"""Tables of a user's folder: stored with their results, so that each command works where the folder is not."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import exit_code
from support.html_pages import Reading
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill
from support.own_tables import FILE, NAME, TABLE, own_folder
from support.planned import request_of

from benchsuite.analysis.building import same_paper
from benchsuite.analysis.results import load_table
from benchsuite.folders import use_folders
from benchsuite.papers import read_table
from benchsuite.papers.reader import read_table_file
from benchsuite.paths import baselines
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.contents import read_contents
from benchsuite.records.store import Store
from benchsuite.verify.stored_tables import keep

VALUES = {"TeMo": HIGH, "InfoNCE": LOW, "TS": LOW}


@pytest.fixture
def results(tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of the folder's table as `repro` leaves them; the folder `own` beside them is not in use."""
    monkeypatch.chdir(tmp_path)
    own = own_folder(tmp_path / "own")
    folder = fill(tmp_path / "runs", make_record, VALUES, table=NAME, scale="smoke", own=own)
    assert kept(folder) == []
    return folder


def kept(results: Path) -> list[str]:
    """What `repro --tables own` says of the files that it stores."""
    use_folders([results.parent / "own"])
    (request,) = read_contents(results).requests
    lines = list(keep(Store(results), request))
    use_folders(())
    return lines


def change(results: Path, old: str, new: str) -> None:
    file = results.parent / "own" / FILE
    file.write_text(file.read_text().replace(old, new))


def test_the_table_and_its_recipe_are_stored_and_those_built_in_are_not(results: Path) -> None:
    assert (results / FILE).read_text() == TABLE
    assert (results / "recipes" / "tiny.toml").is_file()
    assert list(keep(Store(results), request_of("temo/table1", "smoke"))) == []
    assert not (results / "papers" / "temo").exists()


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (["report"], "1 table, 12 runs"),
        (["claims", NAME], "RN50/TeMo beats RN50/InfoNCE on Test images IR@1 (headline): reproduced"),
        (["claims", "mine"], "1 headline claim: 1 reproduced"),
        (["claims", "dystress/figure7"], "1 headline claim: 1 not run"),
        (["claims", "--all"], NAME),
        (["export", NAME, "--scale", "smoke"], "| timm test_resnet: TeMo | "),
        (["export", NAME, "--scale", "smoke", "--format", "csv"], ",percent,,31.5"),
        (
            ["export", NAME, "--scale", "smoke", "--format", "latex"],
            "TeMo & $",
        ),
        (["export", NAME, "--scale", "smoke", "--format", "json"], '"published":null'),
        (["export", "--all"], NAME),
        (["diff", "runs", "runs"], "mine/first at scale smoke: agrees"),
    ],
)
def test_results_are_shown_without_the_folder(
    results: Path, arguments: list[str], shows: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree("own")
    Path("empty").mkdir()
    assert exit_code(*arguments) == 0
    told = capsys.readouterr()
    assert shows in told.out
    assert told.err == ""
    assert load_table(NAME, "smoke", results).published.isna().all()


def test_a_page_says_what_the_towers_are_where_no_paper_named_them(results: Path) -> None:
    assert exit_code("report") == 0
    page = Path("reports/tables/mine-first-smoke.html").read_text()
    visible = re.sub(r"<(script|style|pre|svg).*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    assert "timm test_resnet: a ResNet of four blocks" in visible
    assert "RN50" not in visible.replace("RN50/", ""), "but for the names that --rows takes"


def test_the_file_of_each_recipe_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_folder(tmp_path / "own")
    assert exit_code("list", "recipes", "--verbose", "--tables", str(tmp_path / "own")) == 0
    lines = capsys.readouterr().out.splitlines()
    files = [Path(line.partition("file: ")[2]) for line in lines if line.startswith("    file: ")]
    assert {tmp_path / "own" / "recipes" / "tiny.toml", baselines() / "recipes" / "scenes-small.toml"} < {*files}


def test_an_added_row_is_judged_apart_from_the_papers_claims(
    tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH, "mine": HIGH})
    assert exit_code("claims", "temo/table1", "--json") == 0
    judged = json.loads(capsys.readouterr().out)["claims"]
    added = {(one["row"], one["reference"], one["column"]): one for one in judged if one["added"]}
    assert {row for row, _, _ in added} == {"RN50/mine"}
    assert {reference for _, reference, _ in added} == {"RN50/InfoNCE"}
    verdict = added["RN50/mine", "RN50/InfoNCE", "coco_ir1"]
    assert (verdict["verdict"], verdict["published_difference"]) == ("reproduced", None)
    assert "for 2 headline columns of RN50/mine, added to temo/table1 at scale small" in verdict["reason"]
    assert exit_code("report") == 0
    page = (tmp_path / "reports" / "tables" / "temo-table1-small.html").read_text()
    own = page.index('id="added-table">')
    assert "<td>" in page[own:]
    better = sum(one["verdict"] == "reproduced" for one in added.values())
    assert better == 1
    head = Reading(page[: page.index('id="legend">')]).text
    assert f"Added rows: ✓ {better} reproduced" in head
    home = Reading((tmp_path / "reports" / "index.html").read_text()).text
    others = sum(one["headline"] for one in added.values()) - better
    assert f"added rows: ✓{better}{better} reproduced ·{others}{others} not run \n" in home
    claims = (tmp_path / "reports" / "claims" / "temo-small.html").read_text()
    assert "RN50/mine" not in claims, "a page of the paper's claims has no others"


def test_of_a_table_that_changed_the_stored_one_is_shown_until_it_is_stored_again(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(results, "My method", "My better title")
    assert exit_code("report", "--tables", "own") == 0
    page = results.parent / "reports" / "tables" / "mine-first-smoke.html"
    assert "My method" in page.read_text()
    assert "benchsuite repro mine/first --scale smoke --tables FOLDER" in page.read_text()
    (line,) = kept(results)
    assert line.startswith(f"changed: {results / FILE} was another one, and is now as ")
    assert exit_code("report", "--tables", "own") == 0
    assert capsys.readouterr().err == ""
    assert "My better title" in page.read_text()
    assert kept(results) == []


def test_a_stored_table_cannot_replace_a_built_in_one(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake = results / "papers" / "temo" / "table1.toml"
    fake.parent.mkdir()
    fake.write_text(TABLE)
    assert exit_code("report") == 1
    assert 'papers/temo/table1.toml: table "temo/table1" is built in' in capsys.readouterr().err
    assert read_table("temo/table1", read_contents(results).tables).title != "My method"
    assert exit_code("verify", "runs") == 1
    assert 'table "temo/table1" is built in' in capsys.readouterr().out


@pytest.fixture
def sound(sound_folder: Callable[[int], Path], results: Path) -> Path:
    """Records that verify, with the table's files and request."""
    folder = sound_folder(1)
    for name in ("papers", "recipes", "tables"):
        shutil.copytree(results / name, folder / name)
    assert exit_code("verify", str(folder), "--update") == 0
    return folder


def verified(folder: Path, *arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    code = exit_code("verify", str(folder), "--json", *arguments)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if told["verified"] else 1)
    return told


def test_the_manifest_lists_tables_and_recipes(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads((sound / "MANIFEST.json").read_text())["files"]
    assert [name for name in listed if "/" in name] == [FILE, "recipes/tiny.toml", "tables/mine-first-smoke.json"]
    assert verified(sound, capsys=capsys)["verified"]
    shutil.copy(sound / "MANIFEST.json", "base.json")
    (sound / FILE).write_text(TABLE.replace('smoke = "tiny"', 'smoke = "tiny", other = "scenes-small"'))
    (unlisted,) = verified(sound, capsys=capsys)["problems"]
    assert unlisted["file"] == FILE, "a further scale changes nothing that was asked for"
    (sound / FILE).write_text(TABLE.replace("My method", "Mine"))
    changed, unlisted = verified(sound, capsys=capsys)["problems"]
    assert changed["message"] == "the table has changed since its runs were asked for"
    assert (unlisted["file"], unlisted["message"]) == (FILE, "not as listed in MANIFEST.json")
    assert exit_code("verify", str(sound), "--update", "--base", "base.json") == 1
    own = read_table_file(NAME, sound / FILE)
    asked = request_of(own, "smoke", recipe=read_recipe(str(sound / "recipes" / "tiny.toml")))
    Store(sound).add_request(asked)
    told = verified(sound, "--update", "--base", "base.json", capsys=capsys)
    assert told["verified"]
    assert any(f"{FILE} replaced" in note["message"] for note in told["notes"])
    assert any(note["message"] == "another one than that listed in base.json" for note in told["notes"])


def test_a_stored_table_that_is_gone_is_a_problem(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sound / FILE).unlink()
    told = [problem["message"] for problem in verified(sound, capsys=capsys)["problems"]]
    assert told[0].startswith('table "mine/first" does not exist')
    assert told[1:] == ["listed in MANIFEST.json, but gone"]
    (sound / "tables" / "mine-first-smoke.json").unlink()
    told = verified(sound, "--update", capsys=capsys)
    assert told["verified"]
    assert any(f"{FILE} removed" in note["message"] for note in told["notes"])


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        (FILE, TABLE.replace('key = "ir1"', 'kye = "ir1"'), 'line 10: columns.0: key "kye" does not exist'),
        (FILE, TABLE.replace('"first"', '"second"'), "but it lies where mine/first must be"),
        ("recipes/tiny.toml", "title = 3", "title: Input should be a valid string"),
        ("recipes/scenes-small.toml", "", 'recipe "scenes-small" is built in'),
    ],
)
def test_a_stored_file_that_is_not_valid_is_a_problem(
    sound: Path, file: str, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (sound / file).write_text(text)
    assert any(says in problem["message"] for problem in verified(sound, capsys=capsys)["problems"])


def test_families_are_the_same_with_and_without_the_folder(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = results.parent / "own"
    more = (("mine/second", "smoke"), ("mine/gpu-only", "gpu"), ("temo/mine", "smoke"))
    for name, scale in more:
        paper, _, table = name.partition("/")
        text = TABLE.replace('"mine"', f'"{paper}"').replace('"first"', f'"{table}"').replace("smoke =", f"{scale} =")
        own_folder(own, text, name)

    def size(*options: object) -> int:
        assert exit_code("claims", NAME, "--json", "--results", results, *options) == 0
        (size,) = {claim["family_size"] for claim in json.loads(capsys.readouterr().out)["claims"]} - {None}
        return int(size)

    alone = size()
    assert kept(results) == []
    assert {file.name for file in (results / "papers").rglob("*.toml")} == {"first.toml", "second.toml"}
    both = size()
    assert both == 2 * alone
    own_folder(own, TABLE.replace('"first"', '"third"'), "mine/third")
    assert size("--tables", own) == both, "those that were stored count"
    assert same_paper("temo/table1", {}) == same_paper("temo/table1", {"temo/mine": own}), "none of one's own"
