"""How long runs may take, before they start."""

import math
from collections.abc import Hashable, Mapping, Sequence

from benchsuite.planning.plan import Run
from benchsuite.records.schema import Record
from benchsuite.records.trials import Trial
from benchsuite.setup import Setup

STARTUP_SECONDS = 15
"""What a command takes besides its runs: imports, checks, the start of its workers, and pages."""


def duration(runs: Sequence[Run], jobs: int, measured: Mapping[str, Record | Trial]) -> str:
    """How long the runs may take, in words, and what that includes; empty if there are none."""
    if not runs:
        return ""
    seconds = estimated_seconds(runs, jobs, measured) + STARTUP_SECONDS
    known = all(run.estimate for run in runs)
    if not known:
        return f"; no estimate (a recipe gives no step_seconds), with {jobs} in parallel"
    seen = evaluation_seconds(measured)
    evaluated = all(_evaluation(run, seen) is not None for run in runs)
    included = "evaluation included" if evaluated else "training alone: evaluation counts once a run is stored"
    return f"; {about(seconds)} with {jobs} in parallel ({included})"


def about(seconds: float) -> str:
    """A rough duration in words."""
    return f"about {math.ceil(seconds)} s" if seconds < 90 else f"about {math.ceil(seconds / 60)} min"


def estimated_seconds(runs: Sequence[Run], jobs: int, records: Mapping[str, Record | Trial]) -> float:
    """How long the runs may take, from records or trials of the same setup and method if any, else from the recipe.

    A recipe says nothing of evaluation; it takes as long as after stored runs that were evaluated alike, if any.
    """
    measured: dict[tuple[str, str], float] = {}
    for record in records.values():
        seconds = float(record.cost["seconds"]) + float(record.cost.get("evaluation_seconds", 0))
        key = record.setup_id, record.method.name
        measured[key] = max(seconds, measured.get(key, 0.0))
    seen = evaluation_seconds(records)
    each = []
    for run in runs:
        guess = run.estimate + (_evaluation(run, seen) or 0.0)
        each.append(measured.get((run.setup.setup_id, run.method.name), guess))
    return max(sum(each) / jobs, max(each, default=0.0))


def evaluation_seconds(records: Mapping[str, Record | Trial]) -> dict[Hashable, float]:
    """The longest evaluation under each setup of which one was measured, and of setups that are evaluated alike."""
    longest: dict[Hashable, float] = {}
    for record in records.values():
        if seconds := float(record.cost.get("evaluation_seconds", 0)):
            alike = () if isinstance(record, Trial) else (_evaluated_as(record.setup),)
            for key in (record.setup_id, *alike):
                longest[key] = max(seconds, longest.get(key, 0.0))
    return longest


def _evaluation(run: Run, seen: Mapping[Hashable, float]) -> float | None:
    return seen.get(run.setup.setup_id, seen.get(_evaluated_as(run.setup)))


def _evaluated_as(setup: Setup) -> Hashable:
    """Other towers or steps may differ: the protocols on the data are most of what an evaluation takes."""
    return setup.data.name, tuple(sorted(protocol.model_dump_json() for protocol in setup.protocols.values()))
