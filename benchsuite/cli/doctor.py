"""`benchsuite doctor`: what this machine can do."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Results
from benchsuite.cli.shared.terminal import say, say_json

if TYPE_CHECKING:
    from benchsuite.doctor.libraries import Fact


def doctor(results: Results = RESULTS, as_json: AsJson = False) -> None:
    """Say what this machine and cluster can do: libraries, devices, memory, disks, SLURM, the hub.

    Every line is ok, a note or a problem, with what to do. Exit code 1 if there is a problem. Nothing is trained.
    What runs would need says `--dry-run` of the command that does them.
    """
    lines: list[Fact] = []
    for line in examined(results):
        lines.append(line)
        if not as_json:
            say(str(line))
    problems = sum(line.status == "problem" for line in lines)
    if as_json:
        say_json([asdict(line) for line in lines])
    else:
        say(f"{problems} problem{'s' * (problems != 1)}." if problems else "no problem.")
    if problems:
        raise typer.Exit(1)


def examined(results: Path) -> "Iterator[Fact]":
    """All lines, the quick ones first: libraries are imported meanwhile, in another process."""
    from benchsuite.doctor import libraries as looking
    from benchsuite.doctor import system as machine

    probe = looking.start_probe()
    try:
        yield from looking.system(results)
        yield machine.operating_system()
        yield machine.shared_memory()
        yield looking.slurm()
        yield looking.hub()
        told = looking.probed(probe)
    finally:
        probe.kill()
        probe.wait()
    yield from looking.libraries(told)
    yield from machine.driver(told["torch"])
