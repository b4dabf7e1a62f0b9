"""Which records a results folder has: a file each, or a line each in a pack, as published ones.

A pack, `<recipe>.jsonl.xz`, takes a sixth of the room: most of what two records of a recipe say is the same. A packed
record is addressed as if it lay in the folder under its own name. Of both, the file counts.
"""

import json
import lzma
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import MEGABYTE, read_stored, reason_of, unpacked
from benchsuite.records.names import FAILED, MANIFEST, clean, files_like, run_of, stem

PACK = ".jsonl.xz"
PACKS = f"*{PACK}"
LARGEST_PACK = 64 * MEGABYTE
"""Unpacked; a thousand records have 12."""
HEAD = re.compile(
    rb'\{"schema":\d+,"run_id":"([0-9a-f]{16})","setup_id":"[0-9a-f]{16}","method_id":"[0-9a-f]{16}",'
    rb'"seed":(\d{1,12}),"method":\{"name":"([^"\\]{1,100})"'
)
"""How a packed record begins."""


class Packed(NamedTuple):
    """A record in a pack."""

    pack: Path
    line: bytes


def packed_in(folder: Path) -> dict[str, Packed]:
    """Packed records by name, of several the first; packs that cannot be read are left out."""
    found: dict[str, Packed] = {}
    for pack in files_like(folder, PACKS):
        try:
            lines = read_pack(pack)
        except ValueError:  # what reads the folder names it
            continue
        found = {name: Packed(pack, line) for name, line in lines.items()} | found
    return found


def packed(file: Path) -> Packed | None:
    """The packed record of that name; None if there is such a file, or none at all."""
    return None if file.exists() else packed_in(file.parent).get(file.name)


def is_stored(file: Path) -> bool:
    """Whether there is such a record, packed or not."""
    return file.exists() or packed(file) is not None


def read_pack(pack: Path) -> Mapping[str, bytes]:
    """The lines of a pack by the names of their records; a ValueError says why it cannot be read."""
    try:
        status = pack.stat()
        return _read(pack, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ValueError(f"it cannot be read ({reason_of(error)})") from error


@lru_cache(maxsize=16)
def _read(pack: Path, changed: int, size: int) -> Mapping[str, bytes]:
    """As it was at that time."""
    lines: dict[str, bytes] = {}
    for number, line in enumerate(unpacked(read_stored(pack, LARGEST_PACK), LARGEST_PACK).splitlines(), 1):
        head = HEAD.match(line)
        if not head:
            raise ValueError(f"line {number} is no record, or not as it was packed")
        run, seed, method = (part.decode() for part in head.groups())
        if (name := f"{stem(method, int(seed), run)}.json") in lines:
            raise ValueError(f"line {number} is a second record of run {run}")
        lines[name] = line
    return lines


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a pack has it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def pack(lines: Iterable[bytes]) -> bytes:
    """The file of these records."""
    return lzma.compress(b"\n".join(lines), preset=9 | lzma.PRESET_EXTREME)


def pack_of(folder: Path, recipe: str) -> Path:
    """The pack of a recipe's records."""
    return folder / f"{clean(recipe) or 'records'}{PACK}"


def json_files(folder: Path) -> list[Path]:
    """Records by the names of their files, packed ones, too, and other JSON files that may be some.

    Drafts, the manifest and notes of failed runs are none.
    """
    files = {*folder.glob("*.json"), *(folder / name for name in packed_in(folder))}
    return sorted(
        file for file in files
        if not file.name.startswith(".") and file.name != MANIFEST and not file.name.endswith(FAILED)
    )  # fmt: skip


def find_run(folder: Path, run: str) -> Path:
    """The record's file, from a path, a run_id or its beginning, or the file's name without its ending."""
    if run.endswith(PACK):
        raise UsageError(f"{run}: a pack of records. Name its folder, or a run in it.")
    if (path := Path(run)).is_file() or packed(path):
        return path
    if not folder.is_dir():
        raise UsageError(f"{run}: no such file, and results folder {folder} does not exist. Use --results FOLDER.")
    files = {file: run_of(file.name) for file in json_files(folder) if run_of(file.name)}
    asked = path.name.removesuffix(".json")
    names = {file: (file.stem, run_id[: len(asked)]) for file, run_id in files.items()}
    matches = {file: files[file] for file, each in names.items() if asked and asked in each}
    if not matches:
        raise UnknownError("run", run, files.values(), f"{folder}: ")
    if len(matches) > 1:
        raise UsageError(f'{folder}: run "{run}" may be {" or ".join(matches.values())}; write more of it.')
    return next(iter(matches))
