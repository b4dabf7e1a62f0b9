"""A folder with a table and a recipe for two processes: methods in runs of a fraction of a second.

Nothing is learned: the optimizer's epsilon keeps the steps so even that rounding does not grow. Vectors: a process
that has neither images nor texts imports half as much.
"""

import json
from pathlib import Path
from typing import Any

from benchsuite.methods import method_class
from benchsuite.registry import methods

RECIPE = """
title = "two processes"
track = "latents"
description = "three steps"
seeds = 1
projection = { width = 8, hidden = 16 }
temperature_factor = 5
data = { name = "latents", options = { train = 64, validation = 8, test = 24, galleries = 8 } }
optimizer = { lr = 0.02, eps = 1.0, weight_decay = 0.02 }
training = { TRAINING }
clusters = { labels = "concept" }
experts = { image = { embedding = "given" }, text = { embedding = "given" } }
backbones.RN = { description = "an MLP", tower = { mlp = { layers = 2, hidden = 16 } }, step_seconds = 0.1 }
text = { mlp = { layers = 1, hidden = 16 } }
protocols.p = { task = "retrieval" }
"""
TRAINING = {"batch": 16, "steps": 3, "processes": 2}
TABLE = """
file_format = 1
paper = "two"
table = "pair"
locator = "Table 1"
title = "Two processes"
recipes = { tiny = "pair" }

[[columns]]
key = "score"
group = "Test"
label = "score"
measure = "p.t2i_r10"
"""
ROW = """
[[rows]]
label = "{name}"
backbone = "RN"
method = "{name}"
hyperparameters = {{ {values} }}
"""


def two_process_folder(folder: Path, names: list[str], **training: int) -> Path:
    """The folder, with a table of these methods."""
    values = ", ".join(f"{name} = {value}" for name, value in {**TRAINING, **training}.items())
    write(folder / "recipes" / "pair.toml", RECIPE.replace("TRAINING", values))
    write(folder / "papers" / "two" / "pair.toml", TABLE + "".join(map(row, names)))
    return folder


def row(name: str) -> str:
    values: dict[str, Any] = dict(method_class(name).miniature) if name in methods else {}
    return ROW.format(name=name, values=", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
