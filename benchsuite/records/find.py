"""Which stored run is meant: by a path, a run_id or its beginning, or the name of a file."""

from pathlib import Path

from benchsuite.errors import UsageError, unknown
from benchsuite.records.names import json_files


def find_run(folder: Path, run: str) -> Path:
    """The record's file, from a path, a run_id or its beginning, or the file's name without its ending."""
    if Path(run).is_file():
        return Path(run)
    if not folder.is_dir():
        raise UsageError(f"results folder {folder} does not exist. Name the right one with --results.")
    stems = [file.stem for file in json_files(folder)]
    found = [stem for stem in stems if run and run in (stem, _run_of(stem)[: len(run)])]
    if not found:
        raise unknown("run", run, map(_run_of, stems), f"{folder}: ")
    if len(found) > 1:
        raise UsageError(f'{folder}: run "{run}" may be {" or ".join(map(_run_of, found))}; write more of it.')
    return folder / f"{found[0]}.json"


def _run_of(stem: str) -> str:
    """The run_id in a record's file name."""
    return stem.rpartition("-")[2]
