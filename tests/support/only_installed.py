"""Runs a command of the suite as if nothing were installed but some packages and what they need."""

import subprocess
import sys
from pathlib import Path

BLOCKED = """
import sys
from importlib.metadata import packages_distributions, requires
from importlib.abc import MetaPathFinder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as plain

installed, waiting = set(), sys.argv[1].split()
while waiting:
    name = plain(waiting.pop())
    if name not in installed:
        installed.add(name)
        needed = [Requirement(line) for line in requires(name) or ()]
        waiting += [one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
owners = {module: set(map(plain, names)) for module, names in packages_distributions().items()}

class OnlyInstalled(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != "benchsuite" and top in owners and not owners[top] & installed:
            raise ModuleNotFoundError(f"the job does not install {name}", name=name)

sys.meta_path.insert(0, OnlyInstalled())
from benchsuite.cli import main
main(sys.argv[2:])
"""


def run_with_only(packages: str, *arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """`benchsuite ARGUMENTS` in a folder; importing anything else ends it."""
    command = [sys.executable, "-c", BLOCKED, packages, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
