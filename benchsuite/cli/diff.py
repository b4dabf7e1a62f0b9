"""`benchsuite diff`: what differs between two runs, or between two results folders?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Plugins, Results, load_plugins, require_results
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.records.listing import find_run
from benchsuite.records.method_version import stale
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import Record

if TYPE_CHECKING:
    from benchsuite.analysis.run_diff import RunDiff


def diff(
    a: Annotated[str, typer.Argument(help="A run_id or its first characters, a record's file, or a results folder.")],
    b: Annotated[str, typer.Argument(help="What to compare it with.")],
    as_json: AsJson = False,
    plugin: Plugins = None,
    results: Results = RESULTS,
) -> None:
    """Show what differs between two runs, or between the tables of two results folders.

    Exit code 1 if the runs are not comparable, or if the folders have no table in common, one of these does not agree
    within what another training may move, or files were skipped.
    """
    load_plugins(plugin)
    if Path(a).is_dir() or Path(b).is_dir():
        diff_folders(Path(a), Path(b), as_json)
    else:
        from benchsuite.analysis.run_diff import RunDiff

        files = [find_run(results, run) for run in (a, b)]
        comparison = RunDiff(*map(read_record, files))
        say_json(run_data(comparison)) if as_json else say(*run_lines(comparison, files))
        if comparison.not_comparable:
            raise typer.Exit(1)


def diff_folders(a: Path, b: Path, as_json: bool) -> None:
    """Compare two results folders; an empty one has no results yet."""
    from benchsuite.analysis.results import ResultsFolder
    from benchsuite.verify.agreement import FolderDiff, as_data, lines

    for folder in (a, b):
        require_results(folder, "Give two results folders (one may be empty) or two runs.")
    comparison = FolderDiff(ResultsFolder.read(a), ResultsFolder.read(b))
    say_json(as_data(comparison)) if as_json else say(*lines(comparison))
    if comparison.before.left_out or comparison.after.left_out or not comparison.agrees:
        raise typer.Exit(1)


def run_lines(comparison: "RunDiff", files: list[Path]) -> Iterator[str]:
    """Both runs, the fields that differ in each part of the records, and what that means."""
    for letter, record, file in zip("AB", (comparison.left, comparison.right), files, strict=True):
        yield f"{letter}  {record.run_id}  {record.method.title}, seed {record.seed}  {file}"
    for part, fields in comparison.fields.items():
        yield f"{part}:" if fields else f"{part}: equal"
        for name, values in fields.items():
            left, right = ("absent" if value is None else json.dumps(value, ensure_ascii=False) for value in values)
            yield f"  {name}: {left} -> {right}"
    yield from comparison.verdicts()


def run_data(comparison: "RunDiff") -> dict[str, Any]:
    """For --json."""
    return {
        "a": identity(comparison.left),
        "b": identity(comparison.right),
        "fields": comparison.fields,
        "comparable": not comparison.not_comparable,
        "why_not_comparable": comparison.not_comparable,
        "pairable": not comparison.not_paired,
        "why_not_pairable": comparison.not_paired,
        "repeated": comparison.repeated,
    }


def identity(record: Record) -> dict[str, Any]:
    """The ids of a record, and why its method's version is not the current one, if so."""
    ids = {name: getattr(record, name) for name in ("run_id", "setup_id", "method_id", "seed", "digest")}
    return {**ids, "method": record.method.name, "stale": stale(record)}
