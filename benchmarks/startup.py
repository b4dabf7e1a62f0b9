"""How long short commands take from the shell, and how large everything is that `pip install benchsuite` installs.

python benchmarks/startup.py             # seconds, medians of commands in turns
python benchmarks/startup.py --sizes     # megabytes
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from cases import OURS, Case, Numbers

LIMIT = 0.3
"""Seconds."""
NOTHING = "python -c pass"
COMMANDS = {
    "import benchsuite": ("-c", "import benchsuite"),
    "--help": ("-m", "benchsuite", "--help"),
    "list methods": ("-m", "benchsuite", "list", "methods"),
    "list tables": ("-m", "benchsuite", "list", "tables"),
    "repro --dry-run": ("-m", "benchsuite", "repro", "temo/table1", "--scale", "smoke", "--dry-run"),
}
LARGEST = 15


def cases(size: str) -> Iterator[Case]:
    """Each command, beside an interpreter that does nothing. Sizes are all the same."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, words in COMMANDS.items():
            calls = {OURS: process(scratch, *words), NOTHING: process(scratch, "-c", "pass")}
            yield Case(f"start: {name}", "From the shell to the end of the process", calls, seconds=LIMIT)


def process(folder: str, *words: str) -> Callable[[], Numbers]:
    """Runs Python in a folder without records."""

    def run() -> Numbers:
        subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=True)
        return {}

    return run


def installed(name: str, known: dict[str, int] | None = None) -> dict[str, int]:
    """Bytes of a package and of all that it requires, without extras, by name."""
    known = {} if known is None else known
    try:
        package = distribution(name)
    except PackageNotFoundError:  # of another platform
        return known
    name = package.metadata["Name"].lower().replace("_", "-")
    if name not in known:
        files = (Path(package.locate_file(file)) for file in package.files or ())
        known[name] = sum(file.stat().st_size for file in files if file.is_file())
        for requirement in package.requires or ():
            if "extra ==" not in requirement and (found := re.match(r"[\w.-]+", requirement)):
                installed(found[0], known)
    return known


def main() -> None:
    """Print a line for each command, or for each package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--repeats", type=int, default=11)
    given = parser.parse_args()
    if given.sizes:
        sizes = installed("benchsuite")
        print(f"{sum(sizes.values()) / 1e6:,.0f} MB in {len(sizes)} packages")
        for name in sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]:
            print(f"{sizes[name] / 1e6:8,.0f}  {name}")
        return
    for case in cases("full"):
        seconds: dict[str, list[float]] = {}
        for _ in range(given.repeats):
            for by, call in case.calls.items():
                start = time.perf_counter()
                call()
                seconds.setdefault(by, []).append(time.perf_counter() - start)
        medians = ", ".join(f"{by} {statistics.median(times):.3f} s" for by, times in seconds.items())
        print(f"{case.name}: {medians}", flush=True)


if __name__ == "__main__":
    main()
