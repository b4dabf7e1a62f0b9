"""Thousands of damaged results folders: `tox -e fuzz`, or `tox -e fuzz -- --cases 20000 --seed 3`.

Every fault is kept once, with the damaged files and what was printed. Exit code 1 if there is any.
"""

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path

from damages import Case, cases
from hunt import hunting
from hypothesis import HealthCheck, Phase, given, seed, settings


def main() -> None:
    """Hunt, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"), help="folder for cases with a fault")
    given_ = parser.parse_args()
    print(f"seed {given_.seed}, {given_.cases} cases", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        faults = hunt(Path(folder), given_.cases, given_.seed, given_.keep)
    print(f"{len(faults)} different faults" + f", kept in {given_.keep}" * bool(faults))
    sys.exit(1 if faults else 0)


def hunt(folder: Path, count: int, number: int, keep: Path) -> dict[str, int]:
    """How often each fault was found."""
    faults: dict[str, int] = {}
    tried, start = 0, time.monotonic()
    with hunting(folder) as one:

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases(one.sound, one.sigstore))
        def each(case: Case) -> None:
            nonlocal tried
            tried += 1
            if fault := one.fault(case):
                kind = kind_of(fault)
                faults[kind] = faults.get(kind, 0) + 1
                if faults[kind] == 1:
                    print(f"{case.what}: {kind}", flush=True)
                    store(keep / f"{number}-{tried}", case, fault)
            if tried % 100 == 0:
                print(f"{tried} of {count}, {time.monotonic() - start:.0f} s, {len(faults)} faults", flush=True)

        each()
    print(f"{tried} cases in {time.monotonic() - start:.0f} s")
    return faults


def kind_of(fault: str) -> str:
    """Faults of one kind end in the same line of code with the same type of error."""
    lines = fault.strip().splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ") and "benchsuite" in line]
    errors = [line for line in lines if not line.startswith((" ", "benchsuite:")) and ": " in line]
    return (
        f"{lines[0].partition('[')[0]} {places[-1] if places else ''} {errors[-1].partition(':')[0] if errors else ''}"
    )


def store(place: Path, case: Case, fault: str) -> None:
    """The damaged files, and what was printed."""
    for name, content in case.files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (place / "fault.txt").write_text(fault)


if __name__ == "__main__":
    main()
