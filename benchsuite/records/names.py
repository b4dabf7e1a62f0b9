"""File names in a results folder."""

import re
from pathlib import Path
from typing import Any

from benchsuite.files import MEGABYTE

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
    return f"{clean(method) or 'method'}-s{seed}-{run_id}"


def clean(name: str) -> str:
    """Of a name what a file's may have."""
    return AWKWARD.sub("-", name).strip(".-")


def record_name(run: Any) -> str:
    """File name of the record of a run, done or to be done."""
    return f"{stem(run.method.name, run.seed, run.run_id)}.json"


def run_of(name: str) -> str:
    """The run_id in a record's file name; empty for any other name."""
    match = RECORD.fullmatch(name)
    return match["run"] if match else ""


REQUEST_FILES, TRIAL_FILES, FAILURE_FILES = f"{TABLES}/*.json", f"{TRIALS}/*.parquet", f"*{FAILED}"


def files_like(folder: Path, pattern: str) -> list[Path]:
    """In order, without drafts."""
    return sorted(file for file in folder.glob(pattern) if not file.name.startswith("."))
