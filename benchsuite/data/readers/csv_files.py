"""Reading a CSV file with a header, with errors that name file and column. No types are guessed: cells stay text."""

import csv
from collections.abc import Sequence
from pathlib import Path

from benchsuite.errors import UsageError, did_you_mean


def read_csv(file: Path, fields: Sequence[str], rows_are: str = "rows") -> list[dict[str, str]]:
    """The rows under the header, which must have these fields; an empty or unreadable file is refused."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            names = list(reader.fieldnames or ())
            rows = list(reader)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as CSV: {error}.") from error
    if missing := [field for field in fields if field not in names]:
        has = ", ".join(names) or "none"
        raise UsageError(f'{file}: there is no column "{missing[0]}" (it has {has}).{did_you_mean(missing[0], names)}')
    if not rows:
        raise UsageError(f"{file}: there are no {rows_are} below the header.")
    return rows
