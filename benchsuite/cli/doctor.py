"""`benchsuite doctor`: what this machine can do, and what recipes would need."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchsuite.cli.shared.options import (
    RESULTS,
    AsJson,
    Folders,
    Results,
    Tables,
    load_own,
    parse_folders,
)
from benchsuite.cli.shared.terminal import say, say_json

if TYPE_CHECKING:
    from benchsuite.doctor.libraries import Fact


def doctor(
    recipe: Annotated[
        list[str] | None,
        typer.Option(help="A recipe's name or file, to look at closely. May be repeated (default: a line for each)."),
    ] = None,
    data: Folders = None,
    results: Results = RESULTS,
    tables: Tables = None,
    as_json: AsJson = False,
) -> None:
    """Say what this machine and cluster can do, and what recipes would need: data, weights, time, processes.

    Every line is ok, a note or a problem, with what to do. Exit code 1 if there is a problem. Nothing is trained.
    """
    from benchsuite.doctor.libraries import Fact

    load_own(tables)
    lines: list[Fact] = []
    for line in examined(recipe or [], parse_folders(data), results):
        lines.append(line)
        if not as_json:
            say(str(line))
    problems = sum(line.status == "problem" for line in lines)
    if as_json:
        say_json([line.as_data() for line in lines])
    else:
        say(f"{problems} problem{'s' * (problems != 1)}." if problems else "no problem.")
    if problems:
        raise typer.Exit(1)


def examined(recipes: list[str], folders: dict[str, str], results: Path) -> "Iterator[Fact]":
    """All lines, the quick ones first: libraries are imported meanwhile, in another process."""
    from benchsuite.doctor import libraries as looking
    from benchsuite.doctor import system as machine
    from benchsuite.doctor.recipes import Here, recipe_lines
    from benchsuite.planning.recipe import recipe_names
    from benchsuite.records.store import Store

    probe = looking.start_probe()
    try:
        yield from looking.system(results)
        yield from machine.surroundings()
        yield looking.slurm()
        hub = looking.hub()
        yield hub
        told = looking.probed(probe)
    finally:
        probe.kill()
        probe.wait()
    yield from looking.libraries(told)
    yield from machine.driver(told["torch"])
    records = Store(results).read().records if results.is_dir() else {}
    devices = len(told["torch"].get("devices", ()))
    here = Here(folders, records, hub.status == "ok", devices)
    for name in recipes or recipe_names():
        yield from recipe_lines(name, here, named=bool(recipes))
