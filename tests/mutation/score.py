"""Change a module in many small ways and count the changes that its tests notice.

    tox -e mutation -- benchsuite/analysis/rerun.py tests/analysis/test_rerun.py
    tox -e mutation -- benchsuite/objectives tests/objectives --sample 200 --seed 3

The first is a module or a folder of them, the others are the tests. It works on a copy of the tracked files. A change
that no test notices, though it changes what the code does, asks for a test. One that changes nothing belongs, with the
reason, into survivors.toml; it does not count. Exit code 1 below 90 %.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random, randrange
from typing import Any

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkItem

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("survivors.toml")
IN_ANNOTATIONS = "ReplaceBinaryOperator_BitOr_"
"""Operators that would mostly break `X | None`, which fails when the module is imported and shows nothing."""
GOAL = 0.9
SLOWER = 10
"""Times the tests of the unchanged code after which a change that makes them hang counts as noticed."""


@dataclass(frozen=True)
class Change:
    """A small change of a module."""

    module: str
    line: int
    was: str
    becomes: str

    @classmethod
    def of(cls, item: WorkItem, diff: str) -> "Change":
        """From the difference that was tested."""
        (mutation,) = item.mutations
        lines = diff.splitlines()
        was, becomes = (" ".join(each[1:].strip() for each in lines if each[:1] == sign != each[1:2]) for sign in "-+")
        return cls(str(mutation.module_path), mutation.start_pos[0], was, becomes)

    def is_known(self, entry: dict[str, Any]) -> bool:
        """Whether survivors.toml has it."""
        return (entry["module"], entry["was"], entry["becomes"]) == (self.module, self.was, self.becomes)

    def __str__(self) -> str:
        return f"{self.module}:{self.line}\n    was      {self.was}\n    becomes  {self.becomes}"


def main() -> None:
    """Print the changes that no test noticed, and the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", help="module, or folder of modules")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--sample", type=int, help="try so many changes, drawn at random (default: all)")
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    given = parser.parse_args()
    known = tomllib.loads(KNOWN.read_text("utf-8"))["survivor"]
    with tempfile.TemporaryDirectory() as folder:
        copy_tracked(Path(folder))
        os.chdir(folder)
        os.environ["PYTHONPATH"] = folder
        items = drawn(given.what, given.sample, given.seed)
        command = shlex.join([sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *given.tests])
        limit = SLOWER * seconds(command)
        print(f"{len(items)} changes, seed {given.seed}, at most {limit:.0f} s each", flush=True)
        noticed, unnoticed, equal = 0, 0, 0
        for number, item in enumerate(items, 1):
            result = mutate_and_test(item.mutations, command, limit)
            if result.test_outcome is None:
                raise SystemExit(f"cannot be tried: {result.output}")
            change = Change.of(item, result.diff or "")
            if result.is_killed:
                noticed += 1
            elif any(change.is_known(entry) for entry in known):
                equal += 1
            else:
                unnoticed += 1
                print(change, flush=True)
            if number % 50 == 0:
                print(f"{number} of {len(items)}: {unnoticed} not noticed", flush=True)
    score = noticed / max(1, noticed + unnoticed)
    print(f"{noticed} of {noticed + unnoticed} noticed: {score:.1%}; {equal} known to change nothing")
    sys.exit(0 if score >= GOAL else 1)


def copy_tracked(folder: Path) -> None:
    """The files that git knows, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def drawn(what: str, sample: int | None, seed: int) -> list[WorkItem]:
    """The changes to try."""
    with tempfile.TemporaryDirectory() as place, use_db(f"{place}/session.sqlite") as session:
        init(sorted(modules(Path(what))), session, {})
        items = [item for item in session.work_items if IN_ANNOTATIONS not in item.mutations[0].operator_name]
    if not items:
        raise SystemExit(f"{what}: nothing in it can be changed. Name a module, or a folder of them.")
    return items if sample is None else Random(seed).sample(items, min(sample, len(items)))


def modules(what: Path) -> Iterator[Path]:
    """The module itself, or all of a folder."""
    yield from what.rglob("*.py") if what.is_dir() else [what]


def seconds(command: str) -> float:
    """Of the tests of the unchanged code, which must pass."""
    start = time.monotonic()
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the tests fail without any change:\n{done.stdout[-2000:]}")
    return max(1.0, time.monotonic() - start)


if __name__ == "__main__":
    main()
