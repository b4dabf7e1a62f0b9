"""`benchsuite diff`: in what do two runs differ?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.options import RESULTS, Plugins, Results, load_plugins
from benchsuite.records.find import find_run
from benchsuite.records.schema import Record
from benchsuite.records.stale import stale
from benchsuite.records.store import read_record

if TYPE_CHECKING:
    from benchsuite.analysis.difference import Difference

SAME = "the same"


def diff(
    a: Annotated[str, typer.Argument(help="A run_id or its beginning, or a record's file.")],
    b: Annotated[str, typer.Argument(help="Another.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plugin: Plugins = None,
    results: Results = RESULTS,
) -> None:
    """Name the fields in which two runs differ, and whether they may share a board. Exit code 1 if they may not."""
    from benchsuite.analysis.difference import Difference

    load_plugins(plugin)
    files = [find_run(results, run) for run in (a, b)]
    found = Difference(*map(read_record, files))
    print(json.dumps(as_data(found), indent=2, ensure_ascii=False) if as_json else "\n".join(lines(found, files)))
    if found.not_comparable:
        raise typer.Exit(1)


def lines(found: "Difference", files: list[Path]) -> Iterator[str]:
    """Both runs, what differs part by part, and what it means."""
    for letter, record, file in zip("AB", (found.left, found.right), files, strict=True):
        yield f"{letter}  {record.run_id}  {record.method.title}, seed {record.seed}  {file}"
    for part, fields in found.fields.items():
        yield f"{part}: {SAME if not fields else ''}".rstrip()
        yield from (f"  {name}: {told(left)} against {told(right)}" for name, (left, right) in fields.items())
    yield from found.verdicts()


def told(value: Any) -> str:
    """A value as it stands in the record; a field that one of them lacks is nothing."""
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def as_data(found: "Difference") -> dict[str, Any]:
    """For --json."""
    return {
        "a": identity(found.left),
        "b": identity(found.right),
        "fields": {part: {name: list(pair) for name, pair in some.items()} for part, some in found.fields.items()},
        "comparable": not found.not_comparable,
        "why_not_comparable": found.not_comparable,
        "pairable": not found.not_paired,
        "why_not_pairable": found.not_paired,
        "repeated": found.repeated,
    }


def identity(record: Record) -> dict[str, Any]:
    """Who a record is, and whether its code is of today."""
    ids = {name: getattr(record, name) for name in ("run_id", "setup_id", "method_id", "seed", "digest")}
    return {**ids, "method": record.method.name, "stale": stale(record)}
