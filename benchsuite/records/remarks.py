"""What the people of a results folder say of verdicts, in `remarks.toml`: what they looked at before they published."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from benchsuite.errors import UsageError
from benchsuite.records.record_file import FileError
from benchsuite.setup import Part
from benchsuite.toml_files import read_toml


class Remark(Part):
    """What to know beside the verdict on a claim of a table at a scale."""

    table: str
    scale: str
    claim: str
    """Its name, as `benchsuite claims` shows it."""
    text: str = Field(min_length=1)


class Remarks(Part):
    """The file."""

    remarks: list[Remark]


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
