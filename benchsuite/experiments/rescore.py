"""A record's metrics computed again from its stored ranks, by the tasks themselves."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import RecordError, UsageError, unknown
from benchsuite.evaluation.base import Scores, Task, create_task
from benchsuite.records.ranks import read_ranks
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import FAILED, read_record
from benchsuite.registry import tasks

CLOSE = 1e-12
"""Relative: another numpy may sum in another order."""


@dataclass(frozen=True)
class Untold:
    """Metrics and measures of a protocol that do not follow from what is kept, and why not."""

    numbers: list[str]
    why: str


@dataclass
class Rescored:
    """What came out: how many numbers agree in each protocol, what differs, and what was not computed again."""

    agreed: dict[str, int] = field(default_factory=dict)
    differs: list[str] = field(default_factory=list)
    untold: dict[str, Untold] = field(default_factory=dict)
    """By protocol."""


def find_run(folder: Path, run: str) -> Path:
    """The record's file, from a path, a run_id or its beginning, or the file's name without its ending."""
    if Path(run).is_file():
        return Path(run)
    if not folder.is_dir():
        raise UsageError(f"results folder {folder} does not exist. Name the right one with --results.")
    names = (file.name for file in folder.glob("*.json") if not file.name.startswith("."))
    stems = sorted(name.removesuffix(".json") for name in names if not name.endswith(FAILED))
    found = [stem for stem in stems if run and run in (stem, run_of(stem)[: len(run)])]
    if not found:
        raise unknown("run", run, map(run_of, stems), f"{folder}: ")
    if len(found) > 1:
        raise UsageError(f'{folder}: run "{run}" may be {" or ".join(map(run_of, found))}; write more of it.')
    return folder / f"{found[0]}.json"


def run_of(stem: str) -> str:
    """The run_id in a record's file name."""
    return stem.rpartition("-")[2]


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
    outcome.differs += _strangers(record, ranks)
    return outcome


def _compare(
    name: str, task: Task, result: Result, ranks: Mapping[str, NDArray[np.integer[Any]]], outcome: Rescored
) -> None:
    mute = type(task).from_ranks is Task.from_ranks
    untold = [key for key in {**result.metrics, **result.measures} if mute or key in task.untold]
    if untold:
        outcome.untold[name] = Untold(untold, task.why_untold)
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
    outcome.agreed[name] = 0
    for key, value, told in _numbers(result, again):
        if key in untold:
            continue
        if told is not None and math.isclose(value, told, rel_tol=CLOSE, abs_tol=CLOSE):
            outcome.agreed[name] += 1
        else:
            said = "nothing" if told is None else repr(told)
            outcome.differs.append(f"{name}.{key}: the record says {value!r}, its ranks say {said}")


def _numbers(result: Result, again: Scores) -> Iterator[tuple[str, float, float | None]]:
    """Each number as stored, and as found."""
    for key, value in result.metrics.items():
        yield key, value, again.metrics.get(key)
    for key, value in result.measures.items():
        yield key, value, again.measures.get(key)
    for key, count in result.counts.items():
        yield f"counts.{key}", count, again.counts.get(key)


def _strangers(record: Record, ranks: Mapping[str, Any]) -> list[str]:
    lost = sorted(key for key in ranks if key.rpartition(".")[0] not in record.results)
    return [f"{key}: ranks of a protocol that the record does not have" for key in lost]
