"""Runs and searches that come with benchsuite.

Beside the runs one's own method is compared without training the built-in ones; a table whose searches are there is
trained in minutes.

`baselines/shipped/<recipe>.jsonl.xz` has a record a line, `<recipe>.parquet` their trials. Ranks are left out: they
are twenty times as large. `tools/ship_runs.py` makes the files from a results folder.
"""

import json
import lzma
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.paths import baselines
from benchsuite.records.schema import Record

if TYPE_CHECKING:
    from benchsuite.records.trials import TrialsFile

SHIPPED = "shipped"
RECORDS = ".jsonl.xz"


def shipped_records(recipe: str) -> list[Record]:
    """Of runs under a recipe."""
    file = baselines() / SHIPPED / f"{recipe}{RECORDS}"
    if not file.exists():
        return []
    return [Record.unchecked(json.loads(line)) for line in lzma.decompress(file.read_bytes()).splitlines()]


def shipped_trials(recipe: str) -> "TrialsFile | None":
    """Of searches under a recipe."""
    file = baselines() / SHIPPED / f"{recipe}.parquet"
    if not file.exists():
        return None
    from benchsuite.records.trials import read_trials  # with pyarrow

    return read_trials(file)


def shipped_digests() -> frozenset[str]:
    """Of all records that come with benchsuite."""
    return _digests(baselines() / SHIPPED)


@cache
def _digests(folder: Path) -> frozenset[str]:
    recipes = (file.name.removesuffix(RECORDS) for file in folder.glob(f"*{RECORDS}"))
    return frozenset(record.digest for recipe in recipes for record in shipped_records(recipe))


def pack(records: Iterable[Record]) -> bytes:
    """The file of records."""
    lines = (json.dumps(record.as_json(), ensure_ascii=False, separators=(",", ":")) for record in records)
    return lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
