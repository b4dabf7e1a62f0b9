"""A folder with a table and a recipe on vectors, whose trials and runs take a fraction of a second."""

from pathlib import Path

NAME = "mine/first"
TABLE = """
file_format = 1
paper = "mine"
table = "first"
locator = "Table 1"
title = "My method"
recipes = { latents = "vectors" }
parts.end = {}
parts.start = { variant = "untrained" }

[[columns]]
key = "ir1"
group = "Test"
label = "IR@1"
measure = "retrieval.t2i_r1"
part = "end"

[[columns]]
key = "start"
group = "Test"
label = "untrained"
measure = "retrieval.t2i_r1"
part = "start"

[[rows]]
label = "TS"
backbone = "mlp"
method = "ts"
hyperparameters = { tau_max = 0.3, periods = 5 }

[[rows]]
label = "TS, 9 periods"
backbone = "mlp"
method = "ts"
hyperparameters = { tau_max = 0.3, periods = 9 }
role = "proposed"
"""
RECIPE = """
title = "tiny vectors"
track = "latents"
description = "three steps"
seeds = 2
projection = { width = 16 }
data = { name = "latents", options = { train = 300, validation = 40, test = 60, galleries = 60 } }
optimizer = { lr = 1e-3 }
schedule = { final_lr = 1e-4 }
training = { batch = 32, steps = 3 }
text = { mlp = { layers = 1, hidden = 16 } }
backbones.mlp = { description = "an MLP", tower = { mlp = { layers = 1, hidden = 16 } }, step_seconds = 0.01 }
protocols.retrieval = { task = "retrieval" }
primary.retrieval = { metric = "t2i_r10", difference = 0.01 }
temperature_factor = 2

[variants.untrained]
description = "one step at a rate of almost nothing"
change = { training.steps = 1, optimizer.lr = 1e-9, schedule.final_lr = 1e-9 }

[tuning]
trials = 3
measure = "validation.t2i_r10"
protocols.validation = { task = "retrieval", options = { split = "validation" } }
longer = [2.0]
"""
PLUGIN = """
from benchsuite import Method, register_method
from benchsuite.fields import Share, Temperature
from benchsuite.objectives.softmax import info_nce


@register_method("mine", title="Mine")
class Mine(Method):
    "InfoNCE that diverges at low temperatures."

    tau: Temperature = 0.07
    part: Share = 0.5
    fault: bool = False

    def loss(self, batch, clock):
        total = info_nce(batch.image @ batch.text.T, self.tau)
        return total * (float("nan") if self.tau < LOW else 1)
"""


def own_folder(folder: Path) -> Path:
    """The folder, for --tables."""
    for name, text in ((f"papers/{NAME}.toml", TABLE), ("recipes/vectors.toml", RECIPE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
