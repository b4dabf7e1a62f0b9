"""A small results folder that has every kind of stored file, all of them sound."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.papers.reader import read_table_file
from benchsuite.planning.recipe import Tuning, read_recipe
from benchsuite.planning.search_space import draws
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import MethodPart, Record, Result, run_id, trial_seed
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, Trial, TrialsFile, write_trials
from benchsuite.registry import methods
from benchsuite.setup import Protocol
from benchsuite.verify.audit import audit_folder
from benchsuite.verify.manifest import update_manifest
from support.made_records import sound_record
from support.made_trials import RATE, RULE, tuning_setup
from support.own_tables import FILE, NAME, own_folder
from support.planned import request_of
from support.rankings import FILMS

ENVIRONMENT: Mapping[str, Any] = {
    "benchsuite": "0.1.0", "commit": "0123456789abcdef", "dirty": False, "python": "3.13", "platform": "Linux",
    "processor": "one", "device": "cpu", "threads": 1, "processes": 1, "packages": {"torch": "2.0", "timm": None},
}  # fmt: skip
COST = {"seconds": 1.5, "cpu_seconds": 1.25, "peak_memory_bytes": 9e8, "trainable_parameters": 400}
SETS = {"a_cosine": np.array([2, 4, 2, 4, 6]), "a_gold": np.array([4, 2, 2, 4, 6])}
"""Of semantic textual similarity: a set of five pairs."""


def whole_folder(folder: Path) -> Path:
    """Fill the folder, which `benchsuite verify` then calls verified."""
    store = Store(own_folder(folder))
    records = [sound_record(seed, cost=COST, environment=dict(ENVIRONMENT)) for seed in (0, 1)]
    first = records[0][0]
    records.append(_graded(first))
    for record, ranks in records:
        store.write(record, ranks)
    store.add_failure(sound_record(9)[0], "killed")
    table, recipe = (read_table_file(NAME, folder / FILE), read_recipe(str(folder / "recipes" / "tiny.toml")))
    store.add_request(request_of(table, "smoke", ["RN50/InfoNCE", "RN50/TS"], (0, 1), recipe))
    write_trials(folder / TRIALS / "latents-pairs.parquet", drawn_trials())
    update_manifest(audit_folder(folder, RULES))
    return folder


def sealed(record: Record, name: str, ranks: Mapping[str, Any], **changes: Any) -> tuple[Record, bytes]:
    """A record like another one, with these ranks."""
    content, sidecar = pack_ranks(name, ranks.items())
    kept = ("seed", "method", "setup", "results", "curves", "cost", "digests", "environment", "created")
    return Record.seal(**{**{part: getattr(record, part) for part in kept}, "ranks": sidecar, **changes}), content


def _graded(record: Record) -> tuple[Record, bytes]:
    """A run that stores more than ranks: graded rankings, and doubled ranks of pairs."""
    options = {"sets": ["a"]}
    protocols = {
        "films": Protocol(task="multi-instance-retrieval", version=1),
        "sts": Protocol(task="sts", version=1, options=options),
    }
    scores = {"films": RULES["multi-instance-retrieval"](FILMS, {}), "sts": RULES["sts"](SETS, options)}
    results = {
        name: Result(
            task=protocols[name].task, version=1, metrics=dict(done.metrics), measures=dict(done.measures),
            counts=dict(done.counts),
        )
        for name, done in scores.items()
    }  # fmt: skip
    setup = record.setup.model_copy(update={"protocols": protocols})
    ranks = {f"{name}.{key}": rows for name, done in scores.items() for key, rows in done.ranks.items()}
    return sealed(record, "graded", ranks, setup=setup, results=results)


def drawn_trials(recipe: str = "latents-pairs", count: int = 4, replicate: int = 0) -> TrialsFile:
    """Of InfoNCE in a replicate, at what its numbers draw; the last one failed."""
    card, setup, rule = methods.card("infonce"), tuning_setup(), Tuning.model_validate(RULE)
    trials = []
    for number in range(count):
        draw, seed = next(draws(card, {}, number, replicate, rule, RATE)), trial_seed(replicate, number)
        failed = number == count - 1
        part = MethodPart(
            name=card.name, title=card.title, version=card.version, code="c0de", owner=card.owner,
            hyperparameters={**{field.name: field.default for field in card.fields}, **draw.hyperparameters},
            learning_rate=draw.learning_rate,
        )  # fmt: skip
        trials.append(
            Trial(
                run_id=run_id(setup.setup_id, part.method_id, seed), setup_id=setup.setup_id, label="RN50",
                method=part, regime="tuned", replicate=replicate, number=number, seed=seed,
                score=None if failed else 0.5 - number / 10,
                metrics={} if failed else {rule.measure: 0.5 - number / 10}, error="diverged" if failed else "",
                cost=dict(COST), environment=dict(ENVIRONMENT),
            )
        )  # fmt: skip
    return TrialsFile(recipe=recipe, rule=RULE, setups={setup.setup_id: setup}, trials=trials)
