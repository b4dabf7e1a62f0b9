"""Runs and searches that come with benchsuite.

Beside the runs one's own method is compared without training the built-in ones; a table whose searches are there is
trained in minutes.

`baselines/shipped/<recipe>.jsonl.xz` has a record a line, `<recipe>.parquet` their trials. Ranks are left out: they
are twenty times as large. `tools/ship_runs.py` makes the files from a results folder.
"""

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.paths import baselines
from benchsuite.records.listing import PACK
from benchsuite.records.schema import Record

if TYPE_CHECKING:
    from benchsuite.records.trials import TrialsFile

SHIPPED = "shipped"


def shipped_records(recipe: str) -> Sequence[Record]:
    """Of runs under a recipe."""
    return _records(baselines() / SHIPPED).get(recipe, ())


def shipped_trials(recipe: str) -> "TrialsFile | None":
    """Of searches under a recipe."""
    return _trials(baselines() / SHIPPED / f"{recipe}.parquet")


def shipped_digests() -> frozenset[str]:
    """Of all records that come with benchsuite."""
    return _digests(baselines() / SHIPPED)


@cache
def _records(folder: Path) -> Mapping[str, Sequence[Record]]:
    texts = {file.name: lzma.decompress(file.read_bytes()) for file in folder.glob(f"*{PACK}")}
    return {
        name.removesuffix(PACK): [Record.unchecked(json.loads(line)) for line in text.splitlines()]
        for name, text in texts.items()
    }


@cache
def _trials(file: Path) -> "TrialsFile | None":
    from benchsuite.records.trials import read_trials  # with pyarrow

    return read_trials(file) if file.exists() else None


@cache
def _digests(folder: Path) -> frozenset[str]:
    return frozenset(record.digest for records in _records(folder).values() for record in records)
