"""`benchsuite doctor`: what this machine can do."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Results
from benchsuite.cli.shared.terminal import say, say_json

if TYPE_CHECKING:
    from benchsuite.doctor.machine import Fact


def doctor(results: Results = RESULTS, as_json: AsJson = False) -> None:
    """Say what this machine and cluster can do: libraries, devices, memory, disks, SLURM, the hub.

    Every line is ok, a note or a problem, with what to do. Exit code 1 if there is a problem. Nothing is trained.
    What runs would need says `--dry-run` of the command that does them.
    """
    from benchsuite.doctor.machine import examined

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
