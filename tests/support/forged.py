"""A results folder with a table of one's own whose records verify, for those who change it afterwards."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchsuite.papers.reader import read_table_file
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from support.made_records import RANKS, sound_record
from support.own_tables import FILE, NAME, TABLE
from support.planned import method_of, request_of, setup_of

RECIPE = """
title = "tiny"
track = "scenes"
description = "Tiny."
seeds = 4
data = { name = "scenes", options = { train = 64 } }
text = { transformer = "distilbert", vocabulary = 100 }
projection = { width = 8 }
optimizer = { lr = 1e-3 }
training = { batch = 4, steps = 2 }
temperature_factor = 2
primary.retrieval = { metric = "t2i_r1", difference = 0.01 }
protocols.retrieval = { task = "retrieval" }
protocols.geometry = { task = "geometry" }
backbones.RN50 = { tower = { timm = "test_resnet" }, description = "a tiny ResNet" }
"""
REQUEST = "tables/mine-first-smoke.json"
ROWS = ("InfoNCE", "TS", "TeMo")
SEEDS = range(4)


def honest(folder: Path, rows: Sequence[str] = ROWS, seeds: Sequence[int] = SEEDS, table: str = TABLE) -> Path:
    """The folder, with a run of each row and seed."""
    for name, text in ((FILE, table), ("recipes/tiny.toml", RECIPE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for label in rows:
        for seed in seeds:
            add(folder, label, seed)
    read, recipe = read_table_file(NAME, folder / FILE), read_recipe(str(folder / "recipes" / "tiny.toml"))
    Store(folder).add_request(request_of(read, "smoke", [f"RN50/{label}" for label in rows], seeds, recipe))
    return folder


def add(folder: Path, label: str, seed: int, method: Mapping[str, Any] | None = None, **changes: Any) -> Record:
    """A run of a row that was measured as everybody measures it, but for what is changed of its method or content."""
    recipe = read_recipe(str(folder / "recipes" / "tiny.toml"))
    row = read_table_file(NAME, folder / FILE).row(f"RN50/{label}")
    whole = {"method": method_of(row, recipe, **(method or {})), "setup": setup_of(recipe, "RN50"), **changes}
    record, ranks = measured(seed, **whole)
    Store(folder).write(record, ranks)
    return record


def measured(seed: int, **content: Any) -> tuple[Record, bytes]:
    """Other ranks for each method and seed."""
    own = np.random.default_rng([seed, *content["method"].name.encode()])
    ranks = {way: own.integers(1, 40, len(values) * 8).astype(np.int32) for way, values in RANKS.items()}
    first = sound_record(seed, ranks)[0].results["retrieval"]
    gap = {"task": "geometry", "version": 1, "metrics": {}, "counts": {"pairs": 4}, "measures": {"gap": 0.5}}
    results = {"retrieval": first, "geometry": type(first).model_validate(gap)}
    return sound_record(seed, ranks, **{"results": results, **content})


def edited(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A JSON file after a change."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
