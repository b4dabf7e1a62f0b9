"""Runs done again: `reruns/<run_id>-<digits>.json` in a results folder, what a second training of a record gave.

Its numbers are stored, not a verdict on them: whoever reads one compares it with the record again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ValidationError, model_validator

from benchsuite.files import write_whole
from benchsuite.records.json_text import parse
from benchsuite.records.kinds import wrong_kinds
from benchsuite.records.names import RERUNS, rerun_files
from benchsuite.records.record_file import FileError
from benchsuite.records.schema import Record, content_digest, require_sealed
from benchsuite.setup import Part

PUT_BACK = "Put it back as it was written, or delete it."


class Rerun(Part):
    """A second training. Written once; `digest` covers everything else in it."""

    rerun_format: Literal[1] = 1
    run_id: str
    record: str
    """The digest of the record that it was compared with."""
    created: str
    numbers: dict[str, float]
    """By "protocol.metric"."""
    digests: dict[str, str]
    environment: dict[str, Any]
    digest: str

    @classmethod
    def of(cls, record: Record, again: Record) -> Self:
        """From the stored record and that of the second training."""
        plain = {
            "rerun_format": 1,
            "run_id": record.run_id,
            "record": record.digest,
            "created": again.created,
            "numbers": again.values(),
            "digests": dict(again.digests),
            "environment": dict(again.environment),
        }
        return cls.model_validate({**plain, "digest": content_digest(plain)})

    def values(self) -> dict[str, float]:
        """All numbers, as a record gives them."""
        return self.numbers

    @property
    def file_name(self) -> str:
        """With its ending."""
        return f"{self.run_id}-{self.digest[:8]}.json"

    @model_validator(mode="before")
    @classmethod
    def _is_as_sealed(cls, content: Any) -> Any:
        return require_sealed(content)

    @model_validator(mode="after")
    def _is_of_its_kinds(self) -> Self:
        if problem := next(wrong_kinds({}, self.environment), None):
            raise ValueError(problem)
        return self


def write_rerun(results: Path, rerun: Rerun) -> Path:
    """Store it beside the records."""
    path = results / RERUNS / rerun.file_name
    text = json.dumps(rerun.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())
    return path


def read_reruns(results: Path) -> tuple[Mapping[str, Rerun], list[FileError]]:
    """All of a folder by path within it, and the files that are not valid."""
    reruns: dict[str, Rerun] = {}
    errors: list[FileError] = []
    for file in rerun_files(results):
        try:
            reruns[f"{RERUNS}/{file.name}"] = Rerun.model_validate(parse(file))
        except ValidationError as error:
            errors.append(FileError(file, f"not a valid second training: {error.errors()[0]['msg']}", PUT_BACK))
        except ValueError as error:
            errors.append(FileError(file, str(error), PUT_BACK))
    return reruns, errors
