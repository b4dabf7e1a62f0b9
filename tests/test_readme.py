"""The README says what is so."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from support.commands import exit_code

from benchsuite import Clock, PairBatch
from benchsuite.cli import COMMANDS
from benchsuite.conformance import check_methods
from benchsuite.data import create_dataset
from benchsuite.papers import read_table, table_names
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.shipped import shipped_records
from benchsuite.registry import load_plugin, methods, tasks

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_seeds_of_each_scale_are_those_of_its_recipes() -> None:
    recipes: dict[str, set[str]] = {}
    for name in table_names():
        for scale, recipe in read_table(name).recipes.items():
            recipes.setdefault(scale, set()).add(recipe)
    page = (ROOT / "docs" / "choose-a-track.md").read_text("utf-8")
    shown = re.findall(r"^\| (`[\w-]+`[^|]*) \|[^|]*\| ([\d or]+) \|", page, re.M)
    by_scale = {scale: seeds.split(" or ") for cell, seeds in shown for scale in re.findall(r"`([\w-]+)`", cell)}
    assert by_scale.keys() == recipes.keys()
    for scale, names in recipes.items():
        seeds = {str(read_recipe(name).seeds) for name in names if "first-steps" not in name}
        assert set(by_scale[scale]) == seeds, scale


def test_the_runs_that_come_with_the_package_are_those_that_the_texts_name() -> None:
    shipped = {record.method.title: record.method.name for record in shipped_records("emoji-features-pairs")}
    alone = {record.method.title for record in shipped_records("emoji-features-images")}
    start = (ROOT / "docs" / "get-started.md").read_text("utf-8")
    (named,) = re.findall(
        r"those of ([\w, -]+) on images alone", (ROOT / "docs" / "emoji-features.md").read_text("utf-8")
    )
    assert set(re.split(", | and ", named)) == alone
    for text in (README, (ROOT / "docs" / "emoji-features.md").read_text("utf-8")):
        (named,) = re.findall(r"The runs of ([\w, -]+) (?:on these data|with the linear head) come with", text)
        assert set(re.split(", | and ", named)) == set(shipped)
    others = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"][len(shipped) - 1]
    assert f"InfoNCE and of {others} other methods come with the package" in start
    trained = re.findall(r"^benchsuite compare infonce (\w+) ", start, re.M)
    assert trained
    assert not set(trained) & set(shipped.values()), "a tutorial trains something"


def test_the_gate_runs_the_readmes_own_test_command() -> None:
    command = "python3 -m venv .venv && .venv/bin/pip install -q tox && .venv/bin/tox -e py"
    assert f"```\n{command}\n```" in README
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_command_shown_exists() -> None:
    shown = set(re.findall(r"^benchsuite ([a-z-]+)", README, re.M))
    assert shown <= {*COMMANDS}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.usefixtures("forgetful_registries")
def test_the_method_shown_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = re.search(r"```python\n(.*?)```", README, re.S)
    assert source is not None
    (tmp_path / "mine.py").write_text(source[1])
    assert exit_code("list", "methods", "--plugin", "mine.py") == 0
    assert re.search(r"^mine +InfoNCE that cools its temperature down\.$", capsys.readouterr().out, re.M)


def test_the_method_of_the_guide_reads_what_it_declares(forgetful_registries: None, tmp_path: Path) -> None:
    source = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "add-a-method.md").read_text("utf-8"), re.S)
    assert source is not None
    (tmp_path / "shown.py").write_text(source[1])
    load_plugin(tmp_path / "shown.py")
    method = methods.get("mine-views")()
    rows = torch.eye(4)
    loss = method(PairBatch(image=rows, text=rows, image_view=rows), Clock(0, 1))
    assert loss.total == sum(loss.terms.values())
    assert method.needs == {"image_view"}


@pytest.mark.slow
def test_the_method_with_a_teacher_of_the_guide_conforms(forgetful_registries: None, tmp_path: Path) -> None:
    (source,) = re.findall(
        r"```python\n(?=from collections)(.*?)```", (ROOT / "docs" / "add-a-method.md").read_text("utf-8"), re.S
    )
    (tmp_path / "predicts.py").write_text(source)
    load_plugin(tmp_path / "predicts.py")
    report = check_methods(["mine-predicts"])
    assert report["mine-predicts"].failed == {}
    assert methods.get("mine-predicts")().head["predictor"].head.hidden == 1024


def test_every_paper_a_method_names_is_in_the_bibliography() -> None:
    keys = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "bibliography.md").read_text("utf-8"), re.M)
    assert {card.about["paper"] for card in methods.cards().values() if "paper" in card.about} <= set(keys)
    assert keys == sorted(keys)


def test_the_task_shown_can_be_registered(tmp_path: Path, forgetful_registries: None) -> None:
    source = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "add-the-rest.md").read_text("utf-8"), re.S)
    assert source is not None
    (tmp_path / "shown.py").write_text(source[1])
    load_plugin(tmp_path / "shown.py")
    assert tasks.card("mean-cosine").fields[0].name == "split"


def test_the_dataset_shown_can_be_read(tmp_path: Path, forgetful_registries: None) -> None:
    _, source = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "add-the-rest.md").read_text("utf-8"), re.S)
    (tmp_path / "greys.py").write_text(source)
    load_plugin(tmp_path / "greys.py")
    split = create_dataset("greys", count=3).split("test")
    assert (split.images[2] == 2).all()
    assert split.captions[2] == ["a grey of 2"]


def test_the_folder_of_pages_says_what_it_is_for_and_a_report_keeps_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert ignored.index("/reports/*") < ignored.index("!/reports/README.md")
    shutil.copytree(ROOT / "reports", tmp_path / "reports", ignore=lambda folder, names: set(names) - {"README.md"})
    before = (tmp_path / "reports" / "README.md").read_text("utf-8")
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert exit_code("report") == 0
    assert (tmp_path / "reports" / "index.html").exists()
    assert (tmp_path / "reports" / "README.md").read_text("utf-8") == before
