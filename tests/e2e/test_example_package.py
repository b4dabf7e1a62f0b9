"""The example package of the docs: built, installed beside benchsuite, and used by the real commands."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import benchsuite

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "docs" / "example-package"


@dataclass(frozen=True)
class Place:
    """A folder to work in, and where the package is installed."""

    folder: Path
    packages: Path

    def run(self, *arguments: str, installed: bool = True, block: str = "") -> "subprocess.CompletedProcess[str]":
        """`benchsuite ARGUMENTS`; a blocked module cannot be imported."""
        paths = [str(self.packages)] * installed + [str(Path(benchsuite.__file__).parents[1])]
        code = f"import sys\nif {block!r}: sys.modules[{block!r}] = None\nfrom benchsuite.cli import main\nmain()"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The package installed, and its table measured with one seed."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(SOURCE, folder / "source")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", "packages"]
    command = [sys.executable, "-m", "pip", "install", *options, "./source"]
    subprocess.run(command, cwd=folder, check=True)
    place = Place(folder, folder / "packages")
    done = place.run("repro", "example/table1", "--scale", "smoke", "--seeds", "1", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert re.search(r"Smoothed +published +– +–\n +ours +\d", done.stdout), done.stdout
    return place


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("methods", "example-smoothed"),
        ("datasets", "example-tiles"),
        ("tasks", "example-mrr"),
        ("tables", "example/table1"),
        ("recipes", "example-smoke"),
    ],
)
def test_what_the_package_adds_is_listed_without_torch(place: Place, what: str, name: str) -> None:
    done = place.run("list", what, "--json", block="torch")
    assert name in {item["name"] for item in json.loads(done.stdout)}, done.stderr


def test_the_page_has_its_row_and_claim_and_titles(place: Place) -> None:
    page = (place.folder / "reports" / "tables" / "example-table1-smoke.html").read_text()
    assert "Smoothed targets on coloured tiles" in page
    assert "fewer than three" not in page
    (board,) = (place.folder / "reports" / "compare").glob("*.html")
    assert "Mean reciprocal rank" in board.read_text()
    assert "<math" in (place.folder / "reports" / "methods" / "example-smoothed.html").read_text()
    claims = json.loads(place.run("claims", "example", "--json", block="torch").stdout)["claims"]
    assert [(c["row"], c["reference"], c["column"], c["verdict"]) for c in claims] == [
        ("ResNet/Smoothed", "ResNet/InfoNCE", column, verdict)
        for column, verdict in (("ir1", "undecided"), ("mrr", "exploratory"))
    ]


def test_its_rule_verifies_its_numbers(place: Place) -> None:
    told = json.loads(place.run("verify", "runs", "--json").stdout)
    assert told["verified"]
    assert "example-mrr" not in {one["task"] for one in told["not_recomputable"]}
    without = json.loads(place.run("verify", "runs", "--json", block="torch").stdout)
    assert {one["task"] for one in without["not_recomputable"]} == {"example-mrr"}
    assert any(
        "benchsuite_example.task, of task example-mrr, failed to import" in note["message"] for note in without["notes"]
    )


def test_its_results_are_shown_where_it_is_not_installed_nor_torch(place: Place) -> None:
    done = place.run("report", "--report", "elsewhere", installed=False, block="torch")
    assert (done.returncode, done.stderr) == (0, "")
    page = (place.folder / "elsewhere" / "tables" / "example-table1-smoke.html").read_text()
    assert "Smoothed targets on coloured tiles" in page
    method = (place.folder / "elsewhere" / "methods" / "example-smoothed.html").read_text()
    assert "Smoothed InfoNCE" in method
    assert "This method is not registered here" in method
    exported = place.run("export", "example/table1", "--scale", "smoke", installed=False, block="torch")
    assert "| timm test_resnet: Smoothed | " in exported.stdout
