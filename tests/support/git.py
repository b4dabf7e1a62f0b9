"""A git repository of a test, in which `benchsuite` is that of this interpreter."""

import os
import subprocess
import sys
from pathlib import Path


def repository(folder: Path) -> Path:
    """An empty one in the folder, beside a folder of programs."""
    programs, place = folder / "bin", folder / "repository"
    programs.mkdir()
    place.mkdir()
    (programs / "benchsuite").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m benchsuite "$@"\n')
    (programs / "benchsuite").chmod(0o755)
    run(place, "git", "init", "-q")
    return place


def run(place: Path, *command: str | Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """A command in a repository."""
    who = {f"GIT_{role}_{what}": "x@y" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    path = f"{place.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **who, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, **settings}
    words = list(map(str, command))
    return subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)


def commit(place: Path, message: str = "Change") -> None:
    """Everything that is there."""
    run(place, "git", "add", "-A")
    done = run(place, "git", "commit", "--allow-empty", "-qm", message)
    assert done.returncode == 0, done.stderr
