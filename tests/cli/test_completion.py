"""What the shell completes: the names that exist, without importing what they stand for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.own_tables import own_folder

from benchsuite.folders import recipe_files, table_files

HEAVY = {"torch", "numpy", "scipy", "pandas", "pyarrow", "transformers", "benchsuite.methods", "jinja2"}
CODE = "from benchsuite.cli import main\nimport sys\ntry: main([])\nfinally: print(*sys.modules, file=sys.stderr)"


def completions(*words: str, folder: Path | None = None) -> list[str]:
    """What bash offers for the last word; nothing heavy is imported."""
    asked = {"_BENCHSUITE_COMPLETE": "complete_bash", "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, **asked, "COMP_WORDS": " ".join(["benchsuite", *words])},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not {*done.stderr.split()} & HEAVY
    return done.stdout.split()


def starting(with_: str, names: object) -> list[str]:
    return sorted(name for name in names if name.startswith(with_))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ver"], ["verify"]),
        (["run", "infonce", "--recipe", "scenes-s"], starting("scenes-s", recipe_files())),
        (["repro", "al"], ["all"]),
        (["repro", "temo/table1", "--rows", "infonce,temo,sogc"], ["infonce,temo,sogclr"]),
        (["repro", "dystress/figure5", "--scale", "cif"], ["cifar"]),
        (["claims", "tem"], ["temo", *starting("temo/", table_files())]),
        (["evaluate", "towers", "--task", "mult"], ["multi-instance-retrieval"]),
        (["run", "nothing-of-that-name"], []),
    ],
)
def test_names_that_exist_are_offered(words: list[str], expected: list[str]) -> None:
    assert completions(*words) == expected


def test_names_of_own_files_are_offered_too_and_broken_files_have_none(tmp_path: Path) -> None:
    own_folder(tmp_path / "own")
    source = "from benchsuite import register_method\n\n@register_method('of-file')\nclass Mine: pass\n"
    (tmp_path / "mine.py").write_text(source)
    (tmp_path / "broken.py").write_text("class (")
    assert completions("run", "--plugin", "mine.py", "of-", folder=tmp_path) == ["of-file"]
    assert completions("run", "--plugin", "broken.py", "of-", folder=tmp_path) == []
    assert completions("repro", "--tables", "own", "mine/", folder=tmp_path) == ["mine/first"]
    assert completions("check-method", "mi", folder=tmp_path) == ["mine.py"]
