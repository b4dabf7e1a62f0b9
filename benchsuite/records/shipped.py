"""Runs that come with benchsuite: beside them one's own method is compared without training the built-in ones.

`baselines/shipped/<recipe>.jsonl.xz` has a record a line, `<recipe>.parquet` their trials. Ranks are left out: they
are twenty times as large. `tools/ship_runs.py` makes the files from a results folder.
"""

import json
import lzma
from collections.abc import Collection, Iterable
from functools import cache
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


def shipped_trials(recipe: str, methods: Collection[str]) -> "TrialsFile | None":
    """Of methods under a recipe."""
    file = baselines() / SHIPPED / f"{recipe}.parquet"
    if not file.exists():
        return None
    from benchsuite.records.trials import read_trials  # with pyarrow

    content = read_trials(file)
    return content.model_copy(update={"trials": [one for one in content.trials if one.method.name in methods]})


@cache
def shipped_digests() -> frozenset[str]:
    """Of all records that come with benchsuite."""
    files = (baselines() / SHIPPED).glob(f"*{RECORDS}")
    recipes = (file.name.removesuffix(RECORDS) for file in files)
    return frozenset(record.digest for recipe in recipes for record in shipped_records(recipe))


def pack(records: Iterable[Record]) -> bytes:
    """The file of records."""
    lines = (json.dumps(record.as_json(), ensure_ascii=False, separators=(",", ":")) for record in records)
    return lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
