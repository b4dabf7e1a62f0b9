"""What the shell completes: commands and their options, without importing what is heavy."""

import os
import subprocess
import sys

import pytest

HEAVY = {"torch", "numpy", "scipy", "pandas", "pyarrow", "transformers", "benchsuite.methods", "jinja2"}
CODE = "from benchsuite.cli import main\nimport sys\ntry: main([])\nfinally: print(*sys.modules, file=sys.stderr)"


def completions(*words: str) -> list[str]:
    """What bash offers for the last word; nothing heavy is imported."""
    asked = {"_BENCHSUITE_COMPLETE": "complete_bash", "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, **asked, "COMP_WORDS": " ".join(["benchsuite", *words])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not {*done.stderr.split()} & HEAVY
    return done.stdout.split()


@pytest.mark.parametrize(("words", "expected"), [(["ver"], ["verify"]), (["run", "infonce", "--rec"], ["--recipe"])])
def test_commands_and_options_are_offered(words: list[str], expected: list[str]) -> None:
    assert completions(*words) == expected
