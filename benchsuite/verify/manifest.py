"""MANIFEST.json: the list of a results folder's records, so that `verify` notices removed and replaced ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ValidationError, model_validator

from benchsuite.canonical import digest
from benchsuite.files import write_whole
from benchsuite.records.json_text import parse
from benchsuite.records.record_file import FileError
from benchsuite.records.schema import Record
from benchsuite.setup import Part

FORMAT = 1
NO_FILES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Changes:
    """Differences between two manifests, by file name: of records, or of tables and recipes."""

    added: list[str]
    removed: list[str]
    replaced: list[str]

    @property
    def lost(self) -> list[str]:
        """Records of the earlier manifest that the later one lacks."""
        return sorted([*self.removed, *self.replaced])


class Entry(Part):
    """One record: the run it is of, its own digest, and the SHA-256 of its ranks."""

    run_id: str
    digest: str
    ranks: str


class FolderManifest(Part):
    """Records by file name. `digest` is that of everything else in it."""

    file_format: Literal[1]
    records: dict[str, Entry]
    files: dict[str, str] = {}
    """Stored tables and recipes: SHA-256 by path. Absent from the file, and from the digest, if there are none."""
    digest: str

    @classmethod
    def of(cls, records: Mapping[str, Record], files: Mapping[str, str] = NO_FILES) -> Self:
        """The manifest of these records, by file name, and of these tables and recipes, by path."""
        entries = {
            name: {"run_id": record.run_id, "digest": record.digest, "ranks": record.ranks.sha256}
            for name, record in sorted(records.items())
        }
        content = {
            "file_format": FORMAT,
            "records": entries,
            **({"files": dict(sorted(files.items()))} if files else {}),
        }
        return cls.model_validate({**content, "digest": digest(content)})

    @model_validator(mode="before")
    @classmethod
    def _digest_is_its_own(cls, content: Any) -> Any:
        if isinstance(content, Mapping):
            right = digest({key: value for key, value in content.items() if key != "digest"})
            if right != content.get("digest"):
                raise ValueError(f"its digest is {content.get('digest')}, but its content gives {right}")
        return content

    def changes_since(self, before: "FolderManifest") -> Changes:
        """Records added, removed and replaced since an earlier manifest."""
        return _changes(before.records, self.records)

    def files_since(self, before: "FolderManifest") -> Changes:
        """Tables and recipes added, removed and replaced since an earlier manifest."""
        return _changes(before.files, self.files)

    def text(self) -> str:
        """As stored: one sorted line for each record, for readable diffs."""
        lines = [f"  {json.dumps(name)}: {entry.model_dump_json()}" for name, entry in sorted(self.records.items())]
        records = _block(lines)
        digests = [f"  {json.dumps(name)}: {json.dumps(sha)}" for name, sha in sorted(self.files.items())]
        files = f'\n "files": {_block(digests)},' if digests else ""
        head = f'{{\n "file_format": {self.file_format},\n "records": {records},{files}\n'
        return f'{head} "digest": "{self.digest}"\n}}\n'


def _block(lines: list[str]) -> str:
    return "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"


def _changes(old: Mapping[str, object], new: Mapping[str, object]) -> Changes:
    return Changes(
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
        replaced=sorted(name for name in old.keys() & new.keys() if old[name] != new[name]),
    )


def read_manifest(file: Path) -> FolderManifest:
    """A manifest from its file, checked."""
    try:
        content = parse(file)
    except ValueError as error:
        raise FileError(file, str(error), "") from error
    version = content.get("file_format") if isinstance(content, dict) else None
    if version != FORMAT:
        raise FileError(file, f"file_format {version!r}; this benchsuite reads manifests of file_format {FORMAT}", "")
    try:
        return FolderManifest.model_validate(content)
    except (ValidationError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise FileError(file, f"{reason}: it was edited, or two were merged by hand", "") from error


def write_manifest(file: Path, manifest: FolderManifest) -> None:
    """Write the manifest atomically."""
    write_whole(file, manifest.text().encode())
