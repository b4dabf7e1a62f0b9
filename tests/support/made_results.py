"""A small results folder out of sound records, in which everything odd is there once; nothing here needs torch.

Four tables, four boards; a row that is unfinished with its reason, one of another version, one of another setup, one
that cannot be run; a seed that did not mean the same to all; trials of tuning. And names that would do harm if a page
took them for HTML.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchsuite.papers import Row, read_table
from benchsuite.papers.reader import read_table_file
from benchsuite.paths import baselines
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import MethodPart, Record, Result, TunedBy
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, TrialsFile, trials_digest, write_trials
from benchsuite.setup import Setup
from support import planned
from support.made_trials import trials_file, trials_of

NAME = "<script>alert(1)</script>"
TITLE = '"><img src=x onerror=alert(2)>'
LABEL = "'\"><svg onload=alert(3)> & friends"
SAYS = "</p></script><script>alert(4)</script> [here](javascript:alert(4)) {{ 7 * 7 }} ${alert(4)}"
REASON = "</td><iframe src=javascript:alert(5)></iframe> `quoted` \"twice\" and 'once'"
VALUE = "</code></dd><script>alert(6)</script>"
MACHINE = "javascript:alert(7)"
DOC = "</p><script>alert(8)</script> is what this docstring says."
EQUATION = r"\href{javascript:alert(9)}{x} </math><script>alert(9)</script>"
HOSTILE = (NAME, TITLE, LABEL, SAYS, REASON, VALUE, MACHINE, DOC, EQUATION)
"""Each stands on some page."""
PLUGIN = f'''
"""A method of another package."""
from benchsuite import Method, register_method

@register_method("guest", title="Guest", paper={MACHINE!r}, equation={EQUATION!r})
class Guest(Method):
    {DOC!r}

    tau: float = 0.5
    {VALUE!r}
'''
SEEDS = (0, 1, 2, 3)
TUNED = (("infonce", 1), ("infonce", 2), ("temo", 1), ("sogclr", 1), ("ts", 1))
"""Rows of a tuned table: each method, and how many times the steps."""
COSTS = {"infonce": 1, "temo": 1.9, "sogclr": 2.5, "ts": 1}
BACKBONES = {"RN50": "test_resnet", "ViT-B/16": "test_vit"}
OWN = """
file_format = 1
paper = "own"
table = "hostile"
locator = "Table 1"
title = "A table of one's own"
recipes = {{ small = "hostile" }}

[[columns]]
key = "ir1"
group = "Own images"
label = "IR@1"
measure = "retrieval.t2i_r1"

[[columns]]
key = "tr1"
group = "Own images"
label = "TR@1"
measure = "retrieval.i2t_r1"

[[columns]]
key = "top1"
group = "Colours"
label = "Top-1"
measure = "zero-shot-cifar10.top1"

[[rows]]
label = "InfoNCE"
backbone = "RN50"
method = "infonce"
published = {{ ir1 = 20, tr1 = 21, top1 = 20 }}

[[rows]]
label = {label}
backbone = "RN50"
method = {name}
role = "proposed"
published = {{ ir1 = 21, tr1 = 20, top1 = 21 }}

[[rows]]
label = "InfoNCE"
backbone = "ViT-B/16"
method = "infonce"
published = {{ ir1 = 20 }}

[[rows]]
label = "TS"
backbone = "ViT-B/16"
not_run = {reason}

[[rows]]
label = "TeMo"
backbone = "ViT-B/16"
method = "temo"
hyperparameters = {{ {temo} }}
role = "proposed"
published = {{ ir1 = 21 }}

[[claims]]
statement = {says}
locator = {value}
note = {reason}
row = {label}
reference = "RN50/InfoNCE"
columns = ["ir1"]
headline = "ir1"

[[claims]]
statement = "The baseline is better the other way"
locator = "section 1"
row = "RN50/InfoNCE"
reference = {label}
columns = ["tr1"]
headline = "tr1"

[[claims]]
statement = "TeMo is better on ViT-B/16"
locator = "section 1"
row = "ViT-B/16/TeMo"
reference = "ViT-B/16/InfoNCE"
columns = ["ir1"]
headline = "ir1"
"""
"""Headline claims with both verdicts, others that are explored or not run; recalls are not measured on stand-ins."""


def write_results(folder: Path) -> None:
    """The folder, with temo/table1, modality-gap/table2 and a table of one's own at scale small, and a tuned one."""
    made = _Maker(Store(folder))
    made.row("temo/table1", "InfoNCE", "RN50", 0.20)
    made.row("temo/table1", "TS", "RN50", 0.22, older=True)
    made.row("temo/table1", "DySTreSS", "RN50", 0.17, elsewhere=3)
    made.row("temo/table1", "CWCL", "RN50", 0.21, failed=3)
    made.row("temo/table1", "TeMo", "RN50", 0.40)
    made.added("temo/table1", NAME, 0.19, title=TITLE, hyperparameters={"tau": 0.03, VALUE: VALUE})
    made.added("temo/table1", "guest", 0.18, title="Guest", hyperparameters={"tau": 0.5})
    made.row("temo/table1", "InfoNCE", "ViT-B/16", 0.30)
    made.row("temo/table1", "TeMo", "ViT-B/16", 0.12)
    made.row("temo/table1", "CWCL", "ViT-B/16", 0.25, lr=2e-3)
    made.asked("temo/table1", ["ViT-B/16/TS"])
    for label, level in (("Baseline", 0.24), ("FLT", 0.23), ("TS", 0.26)):
        made.row("modality-gap/table2", label, "RN50", level)
    made.own_table()
    hostile = trials_of(NAME, 0.4, fixed={VALUE: VALUE}, title=TITLE)
    broken = [trial.model_copy(update={"score": None, "error": REASON}) for trial in trials_of("guest", count=3)]
    trials = trials_file(backbones=BACKBONES, more=[*hostile, *broken])
    write_trials(folder / TRIALS / "latents-pairs.parquet", trials)
    for name, longer in TUNED:
        made.tuned(name, trials, longer)


def write_plugin(folder: Path) -> None:
    """A package that adds a method by an entry point, as if it were installed in the folder."""
    about = folder / "guest-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "guest_method.py").write_text(PLUGIN, "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[benchsuite.methods]\nguest = guest_method\n")


def setup_of(backbone: str, lr: float | None = None, recipe: str = "scenes-small") -> Setup:
    """One setup a backbone."""
    setup = planned.setup_of(read_recipe(recipe), backbone)
    return (
        setup if lr is None else setup.model_copy(update={"optimizer": setup.optimizer.model_copy(update={"lr": lr})})
    )


class _Maker:
    """Writes records of rows, and asks for them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.require_writable()

    def asked(self, table: str, rows: Sequence[str] = (), scale: str = "small", **more: Any) -> None:
        self.store.add_request(planned.request_of(table, scale, rows, SEEDS, **more))

    def row(
        self,
        table: str,
        label: str,
        backbone: str,
        level: float,
        *,
        older: bool = False,
        elsewhere: int | None = None,
        failed: int | None = None,
        lr: float | None = None,
    ) -> None:
        """A row with a run for each seed; at seed `elsewhere` it began from other weights, and `failed` has none."""
        row = read_table(table).row(f"{backbone}/{label}")
        part = planned.method_of(row, read_recipe("scenes-small"), owner=MACHINE)
        part = part.model_copy(update={"version": part.version + older})
        for seed in SEEDS:
            record, ranks = _record(part, setup_of(backbone, lr), seed, level, seed == elsewhere)
            if seed == failed:
                self.store.add_failure(record, REASON)
            else:
                self.store.write(record, ranks)
        self.asked(table, [row.name])

    def added(self, table: str, method: str, level: float, *, title: str, hyperparameters: Mapping[str, Any]) -> None:
        """A row of a method that is not registered here."""
        part = MethodPart(
            name=method, title=title, hyperparameters=dict(hyperparameters), version=1, code="c0de", owner=MACHINE
        )
        for seed in SEEDS:
            self.store.write(*_record(part, setup_of("RN50"), seed, level, False))
        self.asked(table, added=[{"method": method, "backbone": "RN50"}])

    def own_table(self) -> None:
        """A table and a recipe as somebody stored them, whose rows are those of runs that are there."""
        folder = self.store.folder
        texts = {"label": LABEL, "name": NAME, "reason": REASON, "says": SAYS, "value": VALUE}
        printed = read_table("temo/table1").row("ViT-B/16/TeMo").hyperparameters
        temo = ", ".join(f"{key} = {value}" for key, value in printed.items())
        table, recipe = folder / "papers" / "own" / "hostile.toml", folder / "recipes" / "hostile.toml"
        for file in (table, recipe):
            file.parent.mkdir(parents=True)
        table.write_text(OWN.format(temo=temo, **{key: _quoted(text) for key, text in texts.items()}), "utf-8")
        text = (baselines() / "recipes" / "scenes-small.toml").read_text("utf-8")
        lines = re.sub(r'\[stand_ins\..+\]\nprotocol = "retrieval"\n.+\n', "", text).splitlines()
        own = [f"description = {_quoted(SAYS)}", f"assumptions = [{_quoted(REASON)}]"]
        chosen = ["[tuned.everything_here]", f"chosen = {_quoted(VALUE)}", "trials = 1", 'rule = "none"']
        start = lines.index("[tuned.temperature]")
        head = [line for line in lines[:start] if not line.startswith(("description =", "assumptions ="))]
        recipe.write_text("\n".join([*head, *own, *chosen, *lines[start:]]), "utf-8")
        read = read_table_file("own/hostile", table)
        asked = [row.name for row in read.rows]
        self.store.add_request(planned.request_of(read, "small", asked, SEEDS, read_recipe(str(recipe))))

    def tuned(self, method: str, trials: TrialsFile, longer: float) -> None:
        """A row as tuned on RN50; a longer one has the same hyper-parameters."""
        table, recipe = read_table("mm-ts/table1"), read_recipe("latents-pairs")
        own = [trial for trial in trials.trials if trial.method.name == method and trial.label == "RN50"]
        best = max(own, key=lambda trial: trial.score or 0)
        row = Row(label=best.method.title, backbone="RN50", method=method)
        about = {"trials": len(own), "trial": best.number, "score": best.score, "digest": trials_digest(own)}
        by = planned.tuned_of(table, row, recipe, **about)
        part = planned.method_of(row, recipe)
        drawn = {name: best.method.hyperparameters[name] for name in by.searched}
        values = {**part.hyperparameters, **drawn}
        rate = {"hyperparameters": values, "learning_rate": best.method.learning_rate, "longer": longer}
        part = part.model_copy(update=rate)
        for seed in SEEDS:
            setup, level = setup_of("RN50", recipe="latents-pairs"), (best.score or 0) / 2
            self.store.write(*_record(part, setup, seed, level, False, by, COSTS[method] * longer))
        added = [{"method": method, "backbone": "RN50", "longer": longer}]
        self.asked("mm-ts/table1", scale="latents", regime="tuned", trials=len(own), added=added)


def _quoted(text: str) -> str:
    """As TOML and JSON write it."""
    return json.dumps(text).replace("\\u007f", "\\u007F")


def _record(
    method: MethodPart,
    setup: Setup,
    seed: int,
    level: float,
    elsewhere: bool,
    tuned: TunedBy | None = None,
    cost: float = 1,
) -> tuple[Record, bytes]:
    """What a seed does, it does to all methods alike; the rest is a method's own, from digits of its name."""
    own = np.random.default_rng([seed, *method.name.encode()]).normal(0, 0.002, 5)
    a, b, c, d, e = level + 0.03 * (seed - 1.5) + own
    recalls = {f"{way}_r{k}": _share(x * f) for way, x in (("i2t", b), ("t2i", a)) for k, f in ((1, 1), (5, 1.6))}
    content, sidecar = pack_ranks(f"run-s{seed}-{method.method_id}", [("retrieval.t2i", np.arange(1, 9))])
    ramp = [float(x) for x in np.linspace(2, 1 + a, 12)]
    record = Record.seal(
        seed=seed,
        method=method,
        setup=setup,
        results=planned.results_of(setup, {
            "retrieval": Result(
                task="retrieval", version=1, metrics={**recalls, "r_mean": _share(a + b)}, counts={"t2i": 8, "i2t": 8}
            ),
            "zero-shot-colour": Result(
                task="zero-shot", version=1, metrics={"top1": _share(c), "top3": _share(2 * c)}, counts={"pictures": 8}
            ),
            "geometry": Result(
                task="geometry", version=1, metrics={}, counts={"pairs": 8},
                measures={"gap": 1 - d, "uniformity_w2": -1 - e, "alignment": 1 - b},
            ),
        }),
        curves={"step": [float(x) for x in range(12)], "loss": ramp, "temperature": ramp[::-1],
                "temperature_positive": [1.2 * x for x in ramp[::-1]]},
        cost={"seconds": 30 + 10 * a, "cpu_seconds": (30 + 9 * a) * cost, "peak_memory_bytes": 9e8,
              "trainable_parameters": 5e5},
        digests={"initial_weights": f"w{seed}{elsewhere}", "batches": f"b{seed}", "data": "d" * 64},
        environment={"benchsuite": "0.1.0", "commit": MACHINE, "dirty": True, "processor": MACHINE, "device": "cpu",
                     "threads": 1, "processes": 1, "packages": {"torch": None}},
        created="2026-01-01T00:00:00+00:00",
        ranks=sidecar,
        tuned=tuned,
    )  # fmt: skip
    return record, content


def _share(value: float) -> float:
    return float(np.clip(value, 0, 1))
