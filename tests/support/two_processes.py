"""A folder with tables and recipes for two processes: methods in runs of a fraction of a second.

Nothing is learned: the optimizer's epsilon keeps the steps so even that rounding does not grow.
"""

import json
from pathlib import Path
from typing import Any

from benchsuite.methods import method_class
from benchsuite.registry import methods

RECIPE = """
title = "two processes"
track = "scenes"
description = "three steps"
seeds = 1
projection = { width = 8, hidden = 16 }
temperature_factor = 5
data = { name = "scenes", options = { train = 64, validation = 8, test = 24, gallery = 8 } }
optimizer = { lr = 0.02, eps = 1.0, weight_decay = 0.02 }
training = { TRAINING }
clusters = { embedding = "tfidf-svd", options = { dimensions = 8 }, k = 4 }
experts.image = { embedding = "pixel-svd", options = { dimensions = 8 } }
experts.text = { embedding = "tfidf-svd", options = { dimensions = 8 } }
backbones.RN = { description = "a ResNet", tower = { timm = "test_resnet" }, step_seconds = 0.1 }
"""
TRAINING = {"batch": 16, "steps": 3, "processes": 2}
TEXT = """
[text]
transformer = "distilbert"
vocabulary = 120
config = { dim = 16, n_layers = 1, n_heads = 2, hidden_dim = 32, dropout = 0.1, attention_dropout = 0.1 }
"""
PROTOCOL = {
    "pair": 'protocols.p = { task = "retrieval" }\n',
    "image": 'protocols.p = { task = "knn", options = { classes = "colour" } }\n',
}
MEASURE = {"pair": "p.t2i_r10", "image": "p.top1"}
TABLE = """
file_format = 1
paper = "two"
table = "{towers}"
locator = "Table 1"
title = "Two processes, {towers}"
recipes = {{ tiny = "{towers}" }}

[[columns]]
key = "score"
group = "Test"
label = "score"
measure = "{measure}"
"""
ROW = """
[[rows]]
label = "{name}"
backbone = "RN"
method = "{name}"
hyperparameters = {{ {values} }}
"""


def two_process_folder(folder: Path, rows: dict[str, list[str]], **training: int) -> Path:
    """The folder, with a table of methods for pairs and one for images."""
    values = ", ".join(f"{name} = {value}" for name, value in {**TRAINING, **training}.items())
    for towers, names in rows.items():
        recipe = RECIPE.replace("TRAINING", values) + PROTOCOL[towers]
        write(folder / "recipes" / f"{towers}.toml", recipe + TEXT * (towers == "pair"))
        table = TABLE.format(towers=towers, measure=MEASURE[towers])
        write(folder / "papers" / "two" / f"{towers}.toml", table + "".join(map(row, names)))
    return folder


def row(name: str) -> str:
    values: dict[str, Any] = dict(method_class(name).miniature) if name in methods else {}
    return ROW.format(name=name, values=", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
