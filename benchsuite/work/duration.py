"""How long runs may take, before they start."""

import math
from collections.abc import Mapping, Sequence

from benchsuite.planning.plan import Run
from benchsuite.records.schema import Record
from benchsuite.records.trials import Trial

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
    evaluated = {run.setup.setup_id for run in runs} <= evaluation_seconds(measured).keys()
    included = "start-up and evaluation included" if evaluated else "start-up included, evaluation not"
    return f"; {about(seconds)} with {jobs} in parallel ({included})"


def about(seconds: float) -> str:
    """A rough duration in words."""
    return f"about {math.ceil(seconds)} s" if seconds < 90 else f"about {math.ceil(seconds / 60)} min"


def estimated_seconds(runs: Sequence[Run], jobs: int, records: Mapping[str, Record | Trial]) -> float:
    """How long the runs may take, from records or trials of the same setup and method if any, else from the recipe.

    A recipe says nothing of evaluation; it takes as long as after any run of the same setup, if there is one.
    """
    measured: dict[tuple[str, str], float] = {}
    for record in records.values():
        seconds = float(record.cost["seconds"]) + float(record.cost.get("evaluation_seconds", 0))
        key = record.setup_id, record.method.name
        measured[key] = max(seconds, measured.get(key, 0.0))
    evaluations = evaluation_seconds(records)
    each = []
    for run in runs:
        setup = run.setup.setup_id
        guess = run.estimate + evaluations.get(setup, 0.0)
        each.append(measured.get((setup, run.method.name), guess))
    return max(sum(each) / jobs, max(each, default=0.0))


def evaluation_seconds(records: Mapping[str, Record | Trial]) -> dict[str, float]:
    """The longest evaluation under each setup of which one was measured."""
    longest: dict[str, float] = {}
    for record in records.values():
        if seconds := float(record.cost.get("evaluation_seconds", 0)):
            longest[record.setup_id] = max(seconds, longest.get(record.setup_id, 0.0))
    return longest
