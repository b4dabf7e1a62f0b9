"""The release script: version, tag, changelog and citation agree, or it says what does not."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from benchsuite import __version__

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".ci" / "release"
FILES = ["benchsuite/__init__.py", "CHANGELOG.md", "CITATION.cff", "codemeta.json", ".ci/release"]

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="needs a checkout: a source distribution has no CI files")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that name a version."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changes = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    (tmp_path / "CHANGELOG.md").write_text(re.sub(r"## Unreleased\n.*?(?=## )", "", changes, flags=re.S), "utf-8")
    return tmp_path


def check_names(folder: Path, tag: str) -> "subprocess.CompletedProcess[str]":
    command = [folder / ".ci" / "release", "--names", tag]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_this_version_can_be_released(copy: Path) -> None:
    done = check_names(copy, f"v{__version__}")
    assert (done.returncode, done.stderr) == (0, "")
    changes = (copy / "CHANGELOG.md").read_text("utf-8")
    assert re.match(r"## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n", changes.removeprefix("# Changelog\n\n"))


@pytest.mark.parametrize(
    ("file", "pattern", "becomes", "says"),
    [
        ("benchsuite/__init__.py", '__version__ = ".*"', '__version__ = "9.9.9"', '__version__: "9.9.9"'),
        ("CHANGELOG.md", r"^## \d\S+ \(.*\)", "## 9.9.9 (2026-01-01)", 'first heading: "9.9.9 (2026-01-01)"'),
        ("CHANGELOG.md", r"^(## \S+) \(.*\)", r"\1 (unreleased)", "(unreleased)"),
        ("CITATION.cff", r"^version: .*", "version: 9.9.9", 'CITATION.cff, version: "9.9.9"'),
        ("codemeta.json", r'"version": ".*"', '"version": "9.9.9"', 'codemeta.json, version: "9.9.9"'),
        ("codemeta.json", r'"dateModified": ".*"', '"dateModified": ""', 'codemeta.json, dateModified: ""'),
        ("CITATION.cff", r"^date-released: .*", "date-released: soon", 'date-released: "soon"'),
    ],
)
def test_what_disagrees_is_named(copy: Path, file: str, pattern: str, becomes: str, says: str) -> None:
    text = (copy / file).read_text("utf-8")
    changed = re.sub(pattern, becomes, text, count=1, flags=re.M)
    assert changed != text
    (copy / file).write_text(changed, "utf-8")
    done = check_names(copy, f"v{__version__}")
    assert done.returncode == 1
    assert says in done.stderr


@pytest.mark.parametrize("tag", ["v9.9.9", "0.2.0", "v0.2", "v1.0.0rc1; true"])
def test_another_tag_is_refused(copy: Path, tag: str) -> None:
    assert check_names(copy, tag).returncode == 1


def test_no_output_of_ours_is_cut_by_a_pipe() -> None:
    """`benchsuite ... | head` ends the command by a broken pipe, and `pipefail` the script."""
    script = SCRIPT.read_text("utf-8")
    assert "pipefail" in script
    assert not re.search(r"^benchsuite .*\|", script, re.M)


def test_the_citation_is_of_the_format_and_of_this_license() -> None:
    """The required keys of the Citation File Format 1.2.0, and types of those that are used."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    keys = "cff-version message title type authors version date-released license keywords abstract"
    assert cited.keys() <= {*keys.split()}
    assert cited["type"] in ("software", "dataset")
    assert all({"name"} <= author.keys() or {"family-names"} <= author.keys() for author in cited["authors"])
    assert cited["license"] == "Apache-2.0"
    assert "Apache-2.0" in (ROOT / "pyproject.toml").read_text("utf-8")
