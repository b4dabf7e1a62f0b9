"""What files in a results folder are called."""

import re
from pathlib import Path

FAILED = ".failed.json"
MANIFEST = "MANIFEST.json"
RANKS = ".ranks.npz"
TABLES = "tables"
AWKWARD = re.compile(r"[^\w.+-]+")
"""What a method's name may hold and a file's better does not: slashes, spaces."""
RECORD = re.compile(r".+-s\d+-(?P<run>[0-9a-f]{16})\.json")


def stem(method: str, seed: int, run_id: str) -> str:
    """File name of a run without its ending; the words are for people, the id identifies."""
    harmless = AWKWARD.sub("-", method).strip(".-") or "method"
    return f"{harmless}-s{seed}-{run_id}"


def run_of(name: str) -> str:
    """The run_id in a record's file name; none in any other name."""
    named = RECORD.fullmatch(name)
    return named["run"] if named else ""


def json_files(folder: Path) -> list[Path]:
    """Files that may be records: JSON, and neither a draft nor the manifest nor the note of a failed run."""
    found = (file for file in folder.glob("*.json") if not file.name.startswith(".") and file.name != MANIFEST)
    return sorted(file for file in found if not file.name.endswith(FAILED))


def failure_files(folder: Path) -> list[Path]:
    """Notes of runs that failed."""
    return sorted(file for file in folder.glob(f"*{FAILED}") if not file.name.startswith("."))


def request_files(folder: Path) -> list[Path]:
    """What tables asked for."""
    return sorted(file for file in (folder / TABLES).glob("*.json") if not file.name.startswith("."))
