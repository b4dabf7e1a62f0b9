"""MANIFEST.json: the list of a results folder's files, so that `verify` notices removed and replaced ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import ValidationError

from benchsuite.canonical import digest
from benchsuite.files import write_whole
from benchsuite.records.json_text import parse
from benchsuite.records.record_file import FileError
from benchsuite.records.schema import Record
from benchsuite.setup import Part

FORMAT = 2
NO_FILES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Changes:
    """Differences between two manifests, by path."""

    added: list[str]
    removed: list[str]
    replaced: list[str]


class FolderManifest(Part):
    """What a folder must hold."""

    file_format: Literal[2] = 2
    files: dict[str, str]
    """By path: the digest of a record, which covers its ranks, and the SHA-256 of a request, a stored table or recipe,
    trials or an evaluation."""

    @classmethod
    def of(cls, records: Mapping[str, Record], files: Mapping[str, str] = NO_FILES) -> Self:
        """The manifest of these records, by file name, and of these other files, by path."""
        listed = {name: record.digest for name, record in records.items()} | dict(files)
        return cls(files=dict(sorted(listed.items())))

    @property
    def digest(self) -> str:
        """Of all that it lists: equal for equal folders."""
        return digest(self.files)

    def changes_since(self, before: "FolderManifest") -> Changes:
        """What was added, removed and replaced since an earlier manifest."""
        old, new = before.files, self.files
        return Changes(
            added=sorted(new.keys() - old.keys()),
            removed=sorted(old.keys() - new.keys()),
            replaced=sorted(name for name in old.keys() & new.keys() if old[name] != new[name]),
        )


def is_record(name: str) -> bool:
    """Whether a path of a manifest is that of a record: all other files lie in folders."""
    return "/" not in name


def read_manifest(file: Path) -> FolderManifest:
    """A manifest from its file, checked."""
    try:
        content = parse(file)
        version = content.get("file_format") if isinstance(content, dict) else None
        if version != FORMAT:
            reason = f"file_format {version!r}; this benchsuite reads manifests of file_format {FORMAT}"
            raise FileError(file, reason, "")
        return FolderManifest.model_validate(content)
    except ValidationError as error:
        raise FileError(file, f"not a manifest ({error.errors()[0]['msg']})", "") from error
    except ValueError as error:
        raise FileError(file, str(error), "") from error


def write_manifest(file: Path, manifest: FolderManifest) -> None:
    """Write the manifest atomically, with one sorted line for each file, for readable diffs."""
    write_whole(file, f"{json.dumps(manifest.model_dump(), indent=1, ensure_ascii=False)}\n".encode())
