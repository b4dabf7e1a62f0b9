"""The commands of docs/own-data.md, by the command line itself on small folders, trained for two steps."""

import re
import shlex
from pathlib import Path

import pytest
from support.commands import exit_code
from support.own_data import as_csv, caption, colour, name, write_image_folder, write_pictures

from benchsuite.paths import baselines
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

PAGE = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text("utf-8")
COMMANDS = re.findall(r"^    benchsuite (run .+)$", PAGE, re.M)
IMAGE_TEXT = {"retrieval", "geometry"}
CLASSES = {"zero-shot", "knn", "linear-probe"}
PROTOCOLS = {"pairs=photos": IMAGE_TEXT | CLASSES, "pairs=shop": IMAGE_TEXT, "pairs=zoo": IMAGE_TEXT | CLASSES}
PROTOCOLS |= {"images=photos": {"geometry", "knn", "linear-probe"}}
FEW = 30


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None) -> Path:
    """The folders that the page names, and recipes with two steps; runs are measured in this process."""
    write_image_folder(tmp_path / "photos", FEW)
    for folder, columns in (("shop", "photo,title,details,reworded"), ("zoo", "image,caption,animal,place")):
        write_pictures(tmp_path / folder / "images", FEW)
        cells = [(name(i), caption(i), f"{colour(i)} again", f"so {colour(i)}") for i in range(FEW)]
        rows = [dict(zip(columns.split(","), row, strict=True)) for row in cells]
        (tmp_path / folder / "list.csv").write_text(as_csv(rows))
    for recipe in (baselines() / "recipes").glob("*-tiny.toml"):
        short = recipe.read_text("utf-8").replace("steps = 100", "steps = 2").replace("warmup_steps = 10\n", "")
        (tmp_path / "recipes").mkdir(exist_ok=True)
        (tmp_path / "recipes" / recipe.name).write_text(short, "utf-8")

    monkeypatch.setattr("benchsuite.folders.baselines", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_record(folder: Path) -> Record:
    (record,) = Store(folder / "runs").read().records.values()
    return record


def test_the_page_has_commands_for_each_folder() -> None:
    assert {shlex.split(command)[5] for command in COMMANDS} == set(PROTOCOLS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_command_trains_and_judges(command: str, folders: Path) -> None:
    arguments = shlex.split(command)
    assert exit_code(*arguments) == 0
    record = only_record(folders)
    assert set(record.results) == PROTOCOLS[arguments[5]]
    assert len(record.curves["loss"]) == 2
    assert str(folders) not in str(record.as_json())


def test_paraphrases_of_a_column_are_text_views(folders: Path) -> None:
    options = ("image=photo", "caption=title", "paraphrase=reworded")
    data = [argument for option in options for argument in ("--data", f"pairs.{option}")]
    assert exit_code("run", "amclr", "--recipe", "pairs-tiny", "--data", "pairs=shop", *data) == 0
    assert only_record(folders).digests["paraphrases"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["pairs=shop"],
            "which column has the pictures? Name the column: --data pairs.image=COLUMN; there are photo, title",
        ),
        (["pairs=photos", "pairs.captoin=x"], 'pairs: option "captoin" does not exist'),
        (["pairs=photos", "pears.caption=x"], 'dataset "pears" does not exist'),
        (["pairs=photos", "pairs.test_share=2"], "pairs: test_share = '2' is not possible"),
        (["pairs=photos", "pairs.test_share=0.7", "pairs.label=none"], "batch 16 is larger than split train with"),
        (["pairs.caption"], "write NAME=FOLDER, for example --data cifar10=data/cifar10, or NAME.OPTION=VALUE"),
        (["pairs=photos", "pairs.caption=a", "pairs.caption=b"], "--data pairs.caption is given twice: a and b"),
    ],
)
def test_what_cannot_be_run_is_said(
    arguments: list[str], message: str, folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = [argument for text in arguments for argument in ("--data", text)]
    assert exit_code("run", "infonce", "--recipe", "pairs-tiny", *data) == 2
    assert message in capsys.readouterr().err


def test_a_class_without_training_images_is_refused_before_training(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folders / "zoo" / "list.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *(f'{line[:-1]} {i}"' for i, line in enumerate(lines[1:]))]))
    arguments = ["run", "infonce", "--recipe", "pairs-tiny", "--data", "pairs=zoo", "--data"]
    assert exit_code(*arguments, "pairs.label=place") == 2
    assert (
        "is in split test but not in train. Add an image of it to train, cut with another seed, or leave"
        in capsys.readouterr().err
    )
    assert exit_code(*arguments, "pairs.label=none") == 0
    assert set(only_record(folders).results) == IMAGE_TEXT


def test_a_text_tower_on_images_alone_is_refused_in_the_plan(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = folders / "mine.toml"
    recipe.write_text(
        (folders / "recipes" / "pairs-tiny.toml").read_text().replace('name = "pairs"', 'name = "images"')
    )
    assert exit_code("run", "infonce", "--recipe", "mine.toml", "--data", "images=photos") == 2
    assert "dataset images has no captions, which a text tower needs. Remove [text]" in capsys.readouterr().err
