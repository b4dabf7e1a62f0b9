"""File names in a results folder."""

import re
from pathlib import Path
from typing import Any

from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import MEGABYTE

FAILED = ".failed.json"
MANIFEST = "MANIFEST.json"
PACKED = ".xz"
"""Behind the name of a record that somebody packed, as published ones are."""
RANKS = (f".ranks.npz{PACKED}", ".ranks.npz")
"""As they are written, and as they were."""
LARGEST_RANKS = 32 * MEGABYTE
"""Bytes of a file of ranks."""
TABLES, TRIALS = "tables", "trials"
REMARKS = "remarks.toml"
"""What people say of verdicts."""
SECOND = "second"
"""The results folder of a second laboratory, in that of the first."""
WEIGHTS = "weights"
"""The folder of kept weights."""
LARGEST_TRIALS = 16 * MEGABYTE
"""Bytes of a file of trials; 500 trials have 33 thousand."""
LARGEST_WEIGHTS = 16 * 1024 * MEGABYTE
"""Bytes of a file of weights."""
WEIGHTS_FILE = "kept.safetensors"
"""In a run's own folder, until its record is stored."""
AWKWARD = re.compile(r"[^\w.+-]+")
"""Characters to replace in file names: slashes, spaces."""
RECORD = re.compile(rf".+-s\d+-(?P<run>[0-9a-f]{{16}})\.json({re.escape(PACKED)})?")


def stem(method: str, seed: int, run_id: str) -> str:
    """File name of a run without its ending. The run_id identifies the run."""
    clean = AWKWARD.sub("-", method).strip(".-") or "method"
    return f"{clean}-s{seed}-{run_id}"


def record_name(run: Any) -> str:
    """File name of the record of a run, done or to be done."""
    return f"{stem(run.method.name, run.seed, run.run_id)}.json"


def run_of(name: str) -> str:
    """The run_id in a record's file name; empty for any other name."""
    match = RECORD.fullmatch(name)
    return match["run"] if match else ""


def stored_record(folder: Path, run: Any) -> Path:
    """Where the record of a run is, packed or not, or where it will be."""
    plain = folder / record_name(run)
    packed = plain.with_name(f"{plain.name}{PACKED}")
    return packed if packed.exists() and not plain.exists() else plain


def plain_name(file: Path) -> str:
    """Of a record's file, as if it were not packed."""
    return file.name.removesuffix(PACKED)


def json_files(folder: Path) -> list[Path]:
    """Files that may be records: JSON files except drafts, the manifest and notes of failed runs.

    Of a record and its packed copy the record.
    """
    files = (file for kind in (".json", f".json{PACKED}") for file in folder.glob(f"*{kind}"))
    plain = {plain_name(file): file for file in sorted(files, reverse=True)}
    kept = (file for name, file in plain.items() if not name.startswith(".") and name != MANIFEST)
    return sorted(file for file in kept if not plain_name(file).endswith(FAILED))


REQUEST_FILES, TRIAL_FILES, FAILURE_FILES = f"{TABLES}/*.json", f"{TRIALS}/*.parquet", f"*{FAILED}"


def files_like(folder: Path, pattern: str) -> list[Path]:
    """In order, without drafts."""
    return sorted(file for file in folder.glob(pattern) if not file.name.startswith("."))


def find_run(folder: Path, run: str) -> Path:
    """The record's file, from a path, a run_id or its beginning, or the file's name without its ending."""
    for path in (Path(run), Path(f"{run}{PACKED}")):
        if path.is_file():
            return path
    if not folder.is_dir():
        raise UsageError(f"{run}: no such file, and results folder {folder} does not exist. Use --results FOLDER.")
    files = {file: run_of(file.name) for file in json_files(folder) if run_of(file.name)}
    asked = plain_name(Path(run)).removesuffix(".json")
    names = {file: (plain_name(file).removesuffix(".json"), run_id[: len(asked)]) for file, run_id in files.items()}
    matches = {file: files[file] for file, each in names.items() if asked and asked in each}
    if not matches:
        raise UnknownError("run", run, files.values(), f"{folder}: ")
    if len(matches) > 1:
        raise UsageError(f'{folder}: run "{run}" may be {" or ".join(matches.values())}; write more of it.')
    return next(iter(matches))
