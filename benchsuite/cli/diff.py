"""`benchsuite diff`: in what do two runs differ, or what two results folders show?"""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.options import RESULTS, Plugins, Results, load_plugins
from benchsuite.errors import BenchsuiteError, RecordError, UsageError
from benchsuite.records.code_version import stale
from benchsuite.records.contents import FileError, read_record
from benchsuite.records.names import find_run
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.diff import Side
    from benchsuite.analysis.pairing import Difference

SAME = "the same"


class Format(StrEnum):
    """What differences can be written as."""

    text = "text"
    md = "md"
    json = "json"


def diff(
    a: Annotated[str, typer.Argument(help="A run_id or its beginning, a record's file, or a results folder.")],
    b: Annotated[str, typer.Argument(help="Another.")],
    as_: Annotated[
        Format, typer.Option("--format", help="What to print; md, of folders only, fits into a pull request's comment.")
    ] = Format.text,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    plugin: Plugins = None,
    results: Results = RESULTS,
) -> None:
    """Name what differs between two runs, or between the tables of two results folders.

    Exit code 1 if the runs may not share a board, or if anything in the folders could not be used.
    """
    load_plugins(plugin)
    if as_json and as_ is Format.md:
        raise UsageError("--json and --format md: give one of them.")
    format_ = Format.json if as_json else as_
    if Path(a).is_dir() or Path(b).is_dir():
        diff_folders(Path(a), Path(b), format_)
    else:
        diff_runs([find_run(results, run) for run in (a, b)], format_)


def diff_runs(files: list[Path], format_: Format) -> None:
    """Two records."""
    from benchsuite.analysis.pairing import Difference

    if format_ is Format.md:
        raise UsageError("--format md compares results folders, and these are runs: give text or json.")
    found = Difference(*map(read_record, files))
    as_json = format_ is Format.json
    print(json.dumps(as_data(found), indent=2, ensure_ascii=False) if as_json else "\n".join(lines(found, files)))
    if found.not_comparable:
        raise typer.Exit(1)


def diff_folders(a: Path, b: Path, format_: Format) -> None:
    """Two results folders; an empty one is one into which nothing has been measured yet."""
    from benchsuite.analysis.diff import changes
    from benchsuite.report.diff import as_json, as_text
    from benchsuite.report.diff_comment import as_markdown

    for folder in (a, b):
        if not folder.is_dir():
            what = "is a file: a run is compared with a run" if folder.exists() else "does not exist"
            raise UsageError(f"results folder {folder} {what}. Give two folders; one without results may be empty.")
    found = changes(read_side(a), read_side(b))
    match format_:
        case Format.text:
            print(as_text(found, [str(a), str(b)]), end="")
        case Format.md:
            print(as_markdown(found), end="")
        case Format.json:
            print(as_json(found), end="")
    if found.before.left_out or found.after.left_out:
        raise typer.Exit(1)


def read_side(folder: Path) -> "Side":
    """What a results folder shows, and what of it cannot be shown, with the reason."""
    from benchsuite.analysis.diff import Side
    from benchsuite.analysis.tables import build_views

    contents = Store(folder).read()
    views, left_out = build_views(contents)
    names = [(view.request.table, view.request.scale) for view in views]
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    left_out += [
        RecordError(f"{table} at scale {scale} is asked for by two files of tables/.") for table, scale in twice
    ]
    return Side(
        views,
        contents.records,
        left_out=[reason(error, folder) for error in left_out],
        foreign=[str(file.relative_to(folder)) for file in contents.foreign],
    )


def reason(error: BenchsuiteError, folder: Path) -> str:
    """Why a file cannot be used, by its name inside of the folder."""
    return f"{error.file.relative_to(folder)}: {error.reason}" if isinstance(error, FileError) else str(error)


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
