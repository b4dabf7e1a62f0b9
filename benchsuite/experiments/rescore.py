"""A record's metrics computed again from its stored ranks, by the tasks themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import RecordError
from benchsuite.evaluation.base import Task, create_task
from benchsuite.records.ranks import read_ranks
from benchsuite.records.recheck import compare, omissions, strangers
from benchsuite.records.schema import Result
from benchsuite.records.store import read_record
from benchsuite.registry import tasks


@dataclass(frozen=True)
class NotRecomputable:
    """Metrics and measures of a protocol that do not follow from what is kept, and why not."""

    numbers: list[str]
    why: str


@dataclass
class Rescored:
    """What came out: how many numbers agree in each protocol, what differs, and what was not computed again."""

    agreed: dict[str, int] = field(default_factory=dict)
    differs: list[str] = field(default_factory=list)
    not_recomputable: dict[str, NotRecomputable] = field(default_factory=dict)
    """By protocol."""


def rescore(file: Path) -> Rescored:
    """Compute again what the record in `file` says, as far as its ranks go."""
    record = read_record(file)
    ranks = read_ranks(file.parent, record)
    outcome = Rescored()
    for name, result in record.results.items():
        protocol = record.setup.protocols[name]
        version = tasks.card(protocol.task).about.get("version")
        if version != result.version:
            outcome.differs.append(
                f"{name}: measured by version {result.version} of {result.task}, which is {version} now"
            )
            continue
        task = create_task(protocol.task, **protocol.options)
        own = {key.rpartition(".")[2]: found for key, found in ranks.items() if key.rpartition(".")[0] == name}
        _compare(name, task, result, own, outcome)
    outcome.differs += strangers(record, ranks)
    return outcome


def _compare(
    name: str, task: Task, result: Result, ranks: Mapping[str, NDArray[np.integer[Any]]], outcome: Rescored
) -> None:
    mute = type(task).from_ranks is Task.from_ranks
    not_recomputable = [key for key in {**result.metrics, **result.measures} if mute or key in task.not_recomputable]
    if not_recomputable:
        outcome.not_recomputable[name] = NotRecomputable(not_recomputable, task.why_not_recomputable)
    if mute:
        return
    try:
        again = task.from_ranks(ranks)
    except KeyError as error:
        outcome.differs.append(f"{name}: no ranks {error} are stored")
        return
    except RecordError as error:
        outcome.differs.append(f"{name}: {error}")
        return
    outcome.agreed[name], wrong = compare(result, again, not_recomputable)
    outcome.differs += [f"{name}.{text}" for text in (*wrong, *omissions(result, again))]
