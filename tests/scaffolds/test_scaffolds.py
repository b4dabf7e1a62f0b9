"""What the `new-` commands write passes its own checks as it is, by the commands that they print."""

import errno
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import exit_code
from support.places import LONG, Place

from benchsuite import scaffolds

OWN = ("--tables", "own")


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful_registries: None, in_process: None
) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    yield Place(tmp_path)
    for module in [name for name in sys.modules if name.startswith("benchsuite_plugin_")]:
        del sys.modules[module]


def next_commands(told: str) -> list[list[str]]:
    return [line.split() for line in told.partition("then:\n")[2].splitlines()]


@pytest.mark.slow
def test_a_new_method_conforms_and_trains_by_the_commands_shown(place: Place) -> None:
    check, tests, (*repro, rows) = next_commands(place.suite("new-method", "my-loss"))
    assert "all checks passed" in place.suite(*check[1:])
    assert tests == ["python", "-m", "pytest", "test_my_loss.py"]
    assert "5 passed" in place.tests(*tests[3:])
    assert rows == "infonce,my-loss"
    told = place.suite(*repro[1:], "my-loss", "--seeds", "1", "--jobs", "1")
    assert re.search(r"My loss +published +–.*\n +ours +\d", told), told


@pytest.mark.slow
def test_a_new_dataset_can_be_trained_on(place: Place) -> None:
    tests, run = next_commands(place.suite("new-dataset", "my-data"))
    assert "6 passed" in place.tests(*tests[3:])
    assert "retrieval.t2i_r1" in place.suite(*run[1:])
    (record,) = (place.folder / "runs").glob("*.json")
    assert json.loads(record.read_text())["setup"]["data"]["name"] == "my-data"


@pytest.mark.slow
def test_a_new_task_scores_runs_that_verify_computes_again(place: Place) -> None:
    tests, run, verify = next_commands(place.suite("new-task", "my-task"))
    assert "5 passed" in place.tests(*tests[3:])
    assert "my-task.mrr" in place.suite(*run[1:])
    assert json.loads(place.suite(*verify[1:], "--json"))["not_recomputable"] == []


@pytest.mark.slow
def test_a_new_recipe_can_be_run_as_it_is_and_after_another(place: Place) -> None:
    dry, _ = next_commands(place.suite("new-recipe", "my-setup"))
    assert re.search(r"to do +\w+ +ResNet infonce seed 0; about", place.suite(*dry[1:]))
    place.suite("new-recipe", "cooler", "--like", "latents-pairs", "--into", "own/recipes")
    made = {item["name"]: item["summary"] for item in json.loads(place.suite("list", "recipes", "--json", *OWN))}
    assert made["cooler"] == made["latents-pairs"].replace("latents, pairs", "Cooler")
    assert "to do" in place.suite("run", "infonce", "--recipe", "cooler", *OWN, "--dry-run")


@pytest.mark.parametrize("name", ["x", "my-own2", LONG])
@pytest.mark.parametrize("kind", ["method", "dataset", "task"])
def test_new_files_are_styled_whatever_the_name(place: Place, kind: str, name: str) -> None:
    assert exit_code(f"new-{kind}", name) == 0
    place.styled()


@pytest.mark.parametrize(
    ("command", "name", "says"),
    [
        ("new-method", "infonce", 'method "infonce" exists already, in benchsuite.methods.infonce. Choose another'),
        ("new-task", "retrieval", 'task "retrieval" exists already'),
        ("new-dataset", "scenes", 'dataset "scenes" exists already'),
        ("new-recipe", "scenes-small", 'recipe "scenes-small" exists already, in '),
        ("new-method", "MyLoss", 'Did you mean "my-loss"?'),
        ("new-method", "My own (2)", 'Did you mean "my-own-2"?'),
        ("new-method", "../x", 'Did you mean "x"?'),
        ("new-method", "x" * 31, "at most 30 characters"),
        ("new-method", "class", '"class" is a word of Python'),
        ("new-method", "none", '"None" is a word of Python'),
        ("new-method", "pair-batch", "the template imports PairBatch"),
        ("new-task", "scores", "the template imports Scores"),
        ("new-method", "torch", "torch.py would hide the installed module torch"),
        ("new-method", "json", "json.py would hide the installed module json"),
        ("new-leaderboard", "numpy", "would hide the installed module numpy"),
        ("new-leaderboard", "temo", 'paper "temo" exists already'),
        ("new-metod", "x", "Did you mean 'new-method'"),
    ],
)
def test_names_that_cannot_be_are_refused_and_nothing_is_written(
    place: Place, command: str, name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(command, name) == 2
    assert says in capsys.readouterr().err
    assert list(place.folder.iterdir()) == []


@pytest.mark.parametrize("there", ["my_loss.py", "test_my_loss.py"])
def test_nothing_is_overwritten_not_even_half(place: Place, there: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(there).write_text("mine")
    assert exit_code("new-method", "my-loss") == 2
    assert f"{there} exists already, and nothing is overwritten" in capsys.readouterr().err
    assert [(file.name, file.read_text()) for file in place.folder.iterdir()] == [(there, "mine")]


def test_a_link_to_nowhere_is_not_followed(place: Place) -> None:
    Path("my_loss.py").symlink_to(place.folder / "elsewhere")
    assert exit_code("new-method", "my-loss") == 2
    assert not Path("elsewhere").exists()


def test_a_disk_that_fills_up_leaves_no_half(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scaffolds.write_whole

    def full(path: Path, content: bytes, overwrite: bool) -> None:
        if path.name.startswith("test_"):
            raise OSError(errno.ENOSPC, "no space", str(path))
        whole(path, content, overwrite)

    monkeypatch.setattr(scaffolds, "write_whole", full)
    assert exit_code("new-method", "my-loss") == 2
    assert list(place.folder.iterdir()) == []


def test_a_board_s_first_method_is_no_word_of_python(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("new-leaderboard", "board", "--method", "lambda") == 2
    assert '"lambda" is a word of Python' in capsys.readouterr().err
    assert list(place.folder.iterdir()) == []


def test_the_run_that_a_new_recipe_suggests_is_of_a_method_that_it_trains(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("new-recipe", "my-images", "--like", "scenes-image-smoke") == 0
    assert "benchsuite run simclr --recipe my-images.toml --dry-run" in capsys.readouterr().out
