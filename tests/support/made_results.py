"""A small results folder out of sound records, in which everything odd is there once; nothing here needs torch.

Three tables, three boards; a row that is unfinished with its reason, one of another version, one of another setup, one
that cannot be run; a seed that did not mean the same to all; trials of tuning; a model that was not trained here. And
names that would do harm if a page took them for HTML.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchsuite.papers import read_table
from benchsuite.records.evaluations import Evaluation, Model, write_evaluation
from benchsuite.records.names import TABLES
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import MethodPart, Record, Result, TunedBy
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, TrialsFile, trials_digest, write_trials
from benchsuite.registry import methods
from benchsuite.setup import Data, ImageTower, Optimizer, Protocol, Setup, TextTower, Training
from support.made_trials import RATE, trials_file, trials_of

NAME = "<script>alert(1)</script>"
TITLE = '"><img src=x onerror=alert(2)>'
LABEL = "'\"><svg onload=alert(3)> & friends"
SAYS = "</p></script><script>alert(4)</script> [here](javascript:alert(4)) {{ 7 * 7 }} ${alert(4)}"
REASON = "</td><iframe src=javascript:alert(5)></iframe> `quoted` \"twice\" and 'once'"
VALUE = "</code></dd><script>alert(6)</script>"
MACHINE = "javascript:alert(7)"
DOC = "</p><script>alert(8)</script> is what this docstring says."
EQUATION = r"\href{javascript:alert(9)}{x} </math><script>alert(9)</script>"
MODEL = "<img src=x onerror=alert(10)>:given"
GIVEN = 0.97
"""What the model that was not trained here scores: more than any row."""
HOSTILE = (NAME, TITLE, LABEL, SAYS, REASON, VALUE, MACHINE, DOC, EQUATION, MODEL)
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
MEASURES = {
    "coco_ir1": "retrieval.t2i_r1", "coco_tr1": "retrieval.i2t_r1", "cifar10_top1": "zero-shot-colour.top1",
    "cifar10_top3": "zero-shot-colour.top3",
}  # fmt: skip
OWN_DATA = {"coco_ir1", "coco_tr1"}
"""Columns without a stand-in."""
GAP_MEASURES = {"gap": "geometry.gap", "uniformity": "geometry.uniformity_w2", "image_retrieval": "retrieval.t2i_r1"}


PRINTED = {
    (row.backbone, row.label, row.method): row.hyperparameters
    for table in ("temo/table1", "modality-gap/table2")
    for row in read_table(table).rows
}
"""By backbone, label and method."""


def write_results(folder: Path) -> None:
    """The folder, with the requests of temo/table1 and of modality-gap/table2 at scale small."""
    made = _Maker(Store(folder))
    made.add_request(
        "temo/table1",
        MEASURES,
        [
            made.row("InfoNCE", "RN50", "infonce", 0.20),
            made.row("TS", "RN50", "ts", 0.22, older=True),
            made.row("DySTreSS", "RN50", "dystress", 0.17, elsewhere=3),
            made.row("CWCL", "RN50", "cwcl", 0.21, failed=3),
            made.row("TeMo", "RN50", "temo", 0.40),
            made.row(LABEL, "RN50", NAME, 0.19, title=TITLE, hyperparameters={"tau": 0.03, VALUE: VALUE}),
            made.row("Guest", "RN50", "guest", 0.18, title="Guest"),
            made.row("InfoNCE", "ViT-B/16", "infonce", 0.30),
            made.row("TeMo", "ViT-B/16", "temo", 0.12),
            made.row("CWCL", "ViT-B/16", "cwcl", 0.25, lr=2e-3),
            RequestedRow(label="TS", backbone="ViT-B/16", method="ts", not_run=REASON),
        ],
    )
    made.add_request(
        "modality-gap/table2",
        GAP_MEASURES,
        [
            made.row("Baseline", "RN50", "infonce-learnable", 0.24),
            made.row("FLT", "RN50", "gap-flt", 0.23),
            made.row("TS", "RN50", "gap-ts", 0.26),
        ],
    )
    hostile = trials_of(NAME, 0.4, fixed={VALUE: VALUE}, title=TITLE)
    broken = [trial.model_copy(update={"score": None, "error": REASON}) for trial in trials_of("guest", count=3)]
    trials = trials_file(backbones=BACKBONES, more=[*hostile, *broken])
    write_trials(folder / TRIALS / "latents-pairs.parquet", trials)
    write_given(folder, setup_of("RN50"))
    made.add_request(
        "mm-ts/table1",
        dict.fromkeys(("flickr_ir1", "coco_ir1"), "retrieval.t2i_r1"),
        [made.tuned(name, trials, longer) for name, longer in TUNED],
        scale="latents", recipe="latents-pairs", regime="tuned", setups={"RN50": setup_of("RN50", RATE).setup_id},
    )  # fmt: skip


def write_given(folder: Path, setup: Setup) -> None:
    """A model with a harmful name, evaluated by one protocol of the setup and by one with options of its own."""
    retrieval = setup.protocols["retrieval"]
    content, sidecar = pack_ranks("given", [("retrieval.t2i", np.arange(1, 9))])
    metrics = {"t2i_r1": GIVEN, "i2t_r1": 0.5, "r_mean": 0.99}
    evaluation = Evaluation.seal(
        evaluation_format=1,
        model=Model(name=MODEL, library="other 1.0", weights="e" * 64, sides=("image", "text"), size=224),
        data=setup.data,
        protocols={
            "mine": retrieval,
            "other": setup.protocols["zero-shot-colour"].model_copy(update={"options": {"split": "validation"}}),
        },
        results={
            "mine": Result(task="retrieval", version=1, metrics=metrics, counts={"t2i": 8, "i2t": 8}),
            "other": Result(task="zero-shot", version=1, metrics={"top1": 0.98}, counts={"pictures": 8}),
        },
        environment={},
        created="2026-01-01T00:00:00+00:00",
        ranks=sidecar,
    )
    write_evaluation(folder, evaluation, content)


def write_plugin(folder: Path) -> None:
    """A package that adds a method by an entry point, as if it were installed in the folder."""
    about = folder / "guest-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "guest_method.py").write_text(PLUGIN, "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[benchsuite.methods]\nguest = guest_method\n")


def setup_of(backbone: str, lr: float = 1e-3) -> Setup:
    """One setup a backbone."""
    return Setup(
        data=Data(name="scenes", options={"train": 64}, version=1, digest="d" * 64),
        image=ImageTower(timm=BACKBONES[backbone]),
        text=TextTower(transformer="distilbert", vocabulary=100),
        projection={"width": 8},
        optimizer=Optimizer(lr=lr),
        training=Training(batch=4, steps=2),
        protocols={
            "retrieval": Protocol(task="retrieval", version=1, options={"split": "test"}),
            "zero-shot-colour": Protocol(task="zero-shot", version=1, options={"split": "test"}),
            "geometry": Protocol(task="geometry", version=1, options={"split": "test"}),
        },
        temperature_factor=5,
    )


SMALL = {
    "scale": "small",
    "recipe": "scenes-small",
    "setups": {name: setup_of(name).setup_id for name in BACKBONES},
}


class _Maker:
    """Writes records as rows ask for them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.require_writable()

    def tuned(self, method: str, trials: TrialsFile, longer: float) -> RequestedRow:
        """A row as tuned on RN50; a longer one has the same hyper-parameters."""
        own = [trial for trial in trials.trials if trial.method.name == method and trial.label == "RN50"]
        best = max(own, key=lambda trial: trial.score or 0)
        drawn = [name for name, value in best.method.hyperparameters.items() if isinstance(value, float)]
        digest = trials_digest(own)
        by = TunedBy(trials=len(own), trial=best.number, score=best.score, digest=digest, searched=drawn)
        runs = {}
        for seed in SEEDS:
            part = best.method.model_copy(update={"longer": longer})
            record, ranks = _record(
                part, setup_of("RN50", RATE), seed, (best.score or 0) / 2, False, by, COSTS[method] * longer
            )
            runs[seed] = record.run_id
            self.store.write(record, ranks)
        request = RequestedRuns(setup_id=record.setup_id, row_id=record.row_id, runs=runs)
        label = best.method.title + f", {longer} times the steps" * (longer > 1)
        return RequestedRow(label=label, backbone="RN50", method=method, title=best.method.title, parts={"": request})

    def add_request(self, table: str, measures: Mapping[str, str], rows: Sequence[RequestedRow], **more: Any) -> None:
        columns = {column.key for column in read_table(table).columns}
        request = TableRequest(
            table=table, track="scenes", description=SAYS, assumptions=[REASON], **{**SMALL, **more},
            tuned={"rate": VALUE}, backbones={name: f"timm {tower}" for name, tower in BACKBONES.items()},
            measures=dict(measures), stand_ins=dict.fromkeys(measures.keys() - OWN_DATA, "synthetic images"),
            missing=dict.fromkeys(columns - set(measures), "nothing here is like it"), temperature_factor=5,
            rows=list(rows),
        )  # fmt: skip
        place = self.store.folder / TABLES / f"{request.name}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(request.model_dump_json(), "utf-8")

    def row(
        self,
        label: str,
        backbone: str,
        method: str,
        level: float,
        *,
        title: str = "",
        older: bool = False,
        elsewhere: int | None = None,
        failed: int | None = None,
        lr: float = 1e-3,
        hyperparameters: Mapping[str, Any] | None = None,
    ) -> RequestedRow:
        """A row with a run for each seed; at seed `elsewhere` it began from other weights, and `failed` has none."""
        card = methods.card(method) if method in methods else None
        part = MethodPart(
            name=method,
            title=title or (card.title if card else method),
            hyperparameters=dict(hyperparameters or {"tau": 0.05, **PRINTED.get((backbone, label, method), {})}),
            version=2 if older else 1,
            code="c0de",
            owner=MACHINE,
        )
        runs = {}
        for seed in SEEDS:
            record, ranks = _record(part, setup_of(backbone, lr), seed, level, seed == elsewhere)
            runs[seed] = record.run_id
            if seed == failed:
                self.store.add_failure(record.run_id, REASON)
            else:
                self.store.write(record, ranks)
        request = RequestedRuns(setup_id=record.setup_id, row_id=record.row_id, runs=runs)
        return RequestedRow(label=label, backbone=backbone, method=method, title=part.title, parts={"": request})


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
        results={
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
        },
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
