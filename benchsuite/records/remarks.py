"""What the people of a results folder say of verdicts, in `remarks.toml`: what they looked at before they published."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Len
from pydantic import model_validator

from benchsuite.errors import UsageError
from benchsuite.parts import Part
from benchsuite.records.record_file import FileError
from benchsuite.toml_files import read_toml

Name = Annotated[str, Len(1, 300)]


class Remark(Part):
    """What to know beside the verdict on a claim of a table at a scale."""

    table: Name
    scale: Name
    claim: Name
    """Its name, as `benchsuite claims` shows it."""
    text: Annotated[str, Len(1, 2000)]


class Remarks(Part):
    """The file."""

    remarks: Annotated[list[Remark], Len(max_length=100)]

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        about = [(one.table, one.scale, one.claim) for one in self.remarks]
        if again := next((one for one in about if about.count(one) > 1), None):
            raise ValueError(f"two remarks on {again[2]}, {again[0]} at scale {again[1]}")
        return self


def read_remarks(path: Path) -> list[Remark]:
    """Those of a file."""
    try:
        return read_toml(path, Remarks).remarks
    except UsageError as error:
        reason = str(error).removeprefix(str(path)).lstrip(":, ").removesuffix(".")
        raise FileError(path, reason, "") from error


def remarks_on(place: tuple[str, str], every: Sequence[Remark]) -> Mapping[str, str]:
    """Those on a table's claims at a scale, by the claim's name."""
    return {one.claim: one.text for one in every if (one.table, one.scale) == place}
