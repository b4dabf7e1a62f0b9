"""Our work beside that of other libraries, on one machine, in turns: time, memory and aims.

    tox -e bench                                   # the whole table; about ten minutes
    python benchmarks/bench.py --size small        # small inputs, seconds
    python benchmarks/bench.py --only retrieval --only knn

`--out FILE` writes what was measured as JSON. Ratios of turns in one process say more than seconds: keep the machine
quiet, and see the line about load.
"""

import argparse
import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import psutil
import torch
from cases import OURS, Case, Measured, Numbers, Timed

from benchsuite.records.environment import environment

MODULES = ("retrieval", "evaluation", "training", "startup", "reporting")
"""Each gives cases."""
LONG = 15.0
"""A peer whose call takes longer, in seconds, is called once."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("small", "full"), default="full")
    parser.add_argument("--only", action="append", metavar="NAME", help="a case, or a module's cases; may be repeated")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each case (5)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there, too")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    with Load() as load:
        found = []
        for case in cases(given.size, given.only):
            found.append(measure(case, given.repeats))
            print(lines(found[-1]), flush=True)
    if not found:
        parser.error(f"no case is called {' or '.join(given.only)}")
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "size": given.size,
        "environment": environment("cpu", given.threads, 1),
        "cores": os.cpu_count(),
        "load": round(load.busy, 2),
    }
    print(f"\n{about['environment']['processor']}; other work kept {load.busy:.2f} of {os.cpu_count()} processors busy")
    for each in found:
        for aim in each.missed():
            print(f"aim missed: {each.case.name}: {aim}")
    if given.out:
        benchmarks = {each.case.name: {"what": each.case.what, "timed": [*map(asdict, each.timed)]} for each in found}
        given.out.write_text(json.dumps({**about, "benchmarks": benchmarks}, indent=1) + "\n", "utf-8")


def cases(size: str, only: list[str] | None) -> Iterator[Case]:
    """Of all modules, or those that are named."""
    for module in MODULES:
        for case in import_module(module).cases(size):
            if not only or {module, case.name} & {*only}:
                yield case


def measure(case: Case, repeats: int) -> Measured:
    """All calls in turns, ours first. Refused if the numbers differ by more than the case allows."""
    turns: dict[str, list[tuple[Numbers, float, float | None]]] = {by: [] for by in case.calls}
    for _ in range(case.repeats or repeats):
        for by, call in case.calls.items():
            if by == OURS or not turns[by] or turns[by][0][1] < LONG:
                show(f"{case.name}: {by}")
                turns[by].append(timed(call))
    show("")
    agree(case, {by: found[0][0] for by, found in turns.items()})
    took = [Timed(by, [turn[1] for turn in each], highest(turn[2] for turn in each)) for by, each in turns.items()]
    return Measured(case, took)


def agree(case: Case, numbers: dict[str, Numbers]) -> None:
    """Whether all computed the same."""
    ours = numbers[OURS]
    for by, found in numbers.items():
        if not found:
            continue
        if found.keys() != ours.keys():
            sys.exit(f"{case.name}: {by} has {', '.join(found)}; ours are {', '.join(ours)}.")
        for key, value in found.items():
            if not abs(value - ours[key]) <= case.apart:
                sys.exit(f"{case.name}: {key} is {ours[key]}, by {by} {value}; at most {case.apart} apart is allowed.")


def timed(call: Callable[[], Numbers]) -> tuple[Numbers, float, float | None]:
    """What it returns, its seconds, and its memory over what was there before, in MB."""
    gc.collect()
    before = reset_peak()
    start = time.perf_counter()
    found = call()
    seconds = time.perf_counter() - start
    return found, seconds, None if before is None else peak() - before


def reset_peak() -> float | None:
    """Give back what earlier calls left, which would hide what this one takes; None where there is no /proc."""
    clear = Path("/proc/self/clear_refs")
    if not clear.exists():
        return None
    ctypes.CDLL(None).malloc_trim(0)
    clear.write_text("5")
    return peak()


def peak() -> float:
    """The highest resident size since the last reset, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


def highest(values: Iterator[float | None]) -> float | None:
    """The highest of those that were measured."""
    return max((value for value in values if value is not None), default=None)


class Load:
    """How many processors all other work of the machine kept busy, on average."""

    busy = 0.0

    def __enter__(self) -> "Load":
        self._start, self._machine, self._own = time.monotonic(), machine_seconds(), own_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        passed = time.monotonic() - self._start
        others = (machine_seconds() - self._machine) - (own_seconds() - self._own)
        self.busy = max(0.0, others / passed)


def machine_seconds() -> float:
    """Processor seconds of everything since the machine's start."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def own_seconds() -> float:
    """Processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def lines(measured: Measured) -> str:
    """A benchmark as the terminal shows it."""
    case = measured.case
    rows = [f"  {'':<28}{'seconds':>10}{'min':>9}{'max':>9}{'times ours':>12}{'aim':>7}{'MB':>8}"]
    for each in measured.timed:
        ratio = "" if each.by == OURS else f"{measured.ratio(each):.2f}"
        aim = f"{case.aims[each.by]:.2f}" if each.by in case.aims else ""
        memory = "" if each.megabytes is None else f"{each.megabytes:.0f}"
        spread = f"{min(each.seconds):>9.3g}{max(each.seconds):>9.3g}"
        rows.append(f"  {each.by:<28}{each.median:>10.3g}{spread}{ratio:>12}{aim:>7}{memory:>8}")
    return "\n".join([f"\n{case.name}: {case.what}", *rows])


def show(text: str) -> None:
    """What is being timed, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
