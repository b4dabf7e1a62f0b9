"""File names in a results folder."""

import re
from pathlib import Path
from typing import Any

from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import MEGABYTE
from benchsuite.records.packs import is_stored, packed_in

FAILED = ".failed.json"
MANIFEST = "MANIFEST.json"
RANKS = (".ranks.npz.xz", ".ranks.npz")
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
RECORD = re.compile(r".+-s\d+-(?P<run>[0-9a-f]{16})\.json")


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


def json_files(folder: Path) -> list[Path]:
    """Files that may be records: JSON files except drafts, the manifest and notes of failed runs; also packed ones."""
    packed = (folder / name for name in packed_in(folder) if run_of(name))
    files = {*folder.glob("*.json"), *packed}
    return sorted(
        file for file in files
        if not file.name.startswith(".") and file.name != MANIFEST and not file.name.endswith(FAILED)
    )  # fmt: skip


REQUEST_FILES, TRIAL_FILES, FAILURE_FILES = f"{TABLES}/*.json", f"{TRIALS}/*.parquet", f"*{FAILED}"


def files_like(folder: Path, pattern: str) -> list[Path]:
    """In order, without drafts."""
    return sorted(file for file in folder.glob(pattern) if not file.name.startswith("."))


def find_run(folder: Path, run: str) -> Path:
    """The record's file, from a path, a run_id or its beginning, or the file's name without its ending."""
    if (path := Path(run)).is_file() or (run_of(path.name) and is_stored(path)):
        return path
    if not folder.is_dir():
        raise UsageError(f"{run}: no such file, and results folder {folder} does not exist. Use --results FOLDER.")
    files = {file: run_of(file.name) for file in json_files(folder) if run_of(file.name)}
    asked = Path(run).name.removesuffix(".json")
    names = {file: (file.stem, run_id[: len(asked)]) for file, run_id in files.items()}
    matches = {file: files[file] for file, each in names.items() if asked and asked in each}
    if not matches:
        raise UnknownError("run", run, files.values(), f"{folder}: ")
    if len(matches) > 1:
        raise UsageError(f'{folder}: run "{run}" may be {" or ".join(matches.values())}; write more of it.')
    return next(iter(matches))
