"""Folders of files: finding what a layout promises, reading text, and digests of what is in them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchsuite.canonical import short_digest
from benchsuite.errors import UsageError
from benchsuite.files import draft_of
from benchsuite.paths import cache

CHUNK = 1 << 20


def require_folder(dataset: str, folder: str, layout: str) -> Path:
    """The folder as a path, or an error that says how to give it and what must be in it."""
    if not folder:
        raise UsageError(f"{dataset}: no folder was given. Add --data {dataset}=FOLDER, which holds {layout}.")
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise UsageError(f"{dataset}: {folder} is no folder. Give one that holds {layout}.")
    return path


def require_file(path: Path, layout: str) -> Path:
    """The path, if it is a file."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file. The folder must hold {layout}.")
    return path


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The file's text, or an error that names the file."""
    try:
        return path.read_text(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not {encoding} text (byte {error.start}).") from error


def files_under(folder: Path) -> dict[str, Path]:
    """All files under a folder by relative name, hidden ones left out."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in found}
    return {name: path for name, path in named.items() if not any(part[0] == "." for part in name.split("/"))}


def stamp(files: Mapping[str, Path]) -> str:
    """Changes when a file's name, size or time of change does: the key under which digests are remembered."""
    return short_digest(
        [[name, str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for name, path in files.items()]
    )


def files_digest(files: Mapping[str, Path]) -> str:
    """SHA-256 (16 digits) over names and contents, wherever the files lie; remembered while no file changes."""
    return str(remembered(stamp(files), lambda: {"digest": _digest(files), "files": len(files)})["digest"])


def remembered(key: str, work_out: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """What was worked out under this key before, or now; kept as a note in the cache."""
    note = cache() / "digests" / f"{key}.json"
    if not note.is_file():
        found = work_out()
        note.parent.mkdir(exist_ok=True)
        with draft_of(note) as draft:
            draft.write_text(json.dumps(found), "utf-8")
    told: dict[str, Any] = json.loads(note.read_text("utf-8"))
    return told


def _digest(files: Mapping[str, Path]) -> str:
    sha = hashlib.sha256()
    for name, path in sorted(files.items()):
        sha.update(f"{name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                sha.update(chunk)
    return sha.hexdigest()[:16]
