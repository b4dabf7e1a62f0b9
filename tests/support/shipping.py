"""Runs and searches of a results folder, as if they came with benchsuite."""

from pathlib import Path

import pytest

from benchsuite.records import shipped
from benchsuite.records.contents import read_contents
from benchsuite.records.listing import PACK, line_of, pack
from benchsuite.records.trials import write_trials


def ship(results: Path, recipe: str, built_in: Path, monkeypatch: pytest.MonkeyPatch, records: bool = True) -> None:
    """Those of one recipe; `records`: its runs too, not only its searches."""
    contents = read_contents(results)
    folder = built_in / shipped.SHIPPED
    folder.mkdir(parents=True)
    if records:
        (folder / f"{recipe}{PACK}").write_bytes(pack(line_of(one.as_json()) for one in contents.records.values()))
    write_trials(folder / f"{recipe}.parquet", contents.trials[recipe])
    monkeypatch.setattr(shipped, "baselines", lambda: built_in)
