"""Training cost of each configuration relative to its setup's reference."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchsuite.analysis.boards import Board, BoardRow, Runs
from benchsuite.records.method_version import version_state
from benchsuite.records.schema import Record
from benchsuite.setup import REFERENCES

SAME_MACHINE = ("processor", "device", "threads", "processes")
"""What must be alike for times to be comparable."""


@dataclass(frozen=True)
class RelativeCost:
    """What training with a configuration costs, and how many times that of the reference it is."""

    ratios: Mapping[int, float]
    """By seed: this run's time over that of the reference's run with the same seed."""
    reason: str = ""
    """Why there is no ratio at all, if so."""
    note: str = ""
    """Why it is not CPU seconds, which do not depend on other work on the machine, if so."""
    peak_memory: int | None = None
    """Bytes: the most of any seed."""
    parameters: int | None = None
    """Trained ones, the method's own included."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.ratios.values()) if self.ratios else None

    @property
    def low(self) -> float | None:
        return min(self.ratios.values(), default=None)

    @property
    def high(self) -> float | None:
        return max(self.ratios.values(), default=None)


def costs(board: Board) -> dict[str, RelativeCost]:
    """The cost of each row of a board by label."""
    beside = reference(board)
    name = REFERENCES[board.setup.towers]
    why = "" if beside else f"{name} has no run with the steps of this setup"
    return {row.label: cost(row.records, beside.records if beside else {}, why) for row in board.rows}


def reference(board: Board) -> BoardRow | None:
    """The row that others are compared with: of several the one of the current version with most runs, tuned if one is.

    One that trained longer is no reference: the others had less compute.
    """
    name = REFERENCES[board.setup.towers]
    rows = [row for row in board.rows if row.method == name and row.longer == 1]
    return max(rows, key=_standard, default=None)


def cost(ours: Runs, theirs: Runs, reason: str = "") -> RelativeCost:
    """Of the runs of a configuration, beside those of the reference under the same setup."""
    common = {seed: (ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())}
    note = next((why for pair in common.values() for record in pair if (why := _no_cpu_seconds(record))), "")
    basis = "seconds" if note else "cpu_seconds"
    skipped = {seed: why for seed, pair in common.items() if (why := _not_comparable(*pair, basis))}
    ratios = {seed: a.cost[basis] / b.cost[basis] for seed, (a, b) in common.items() if seed not in skipped}
    if not ratios:
        reason = reason or next(iter(skipped.values()), "no seed shared with the reference")
    return RelativeCost(
        ratios=ratios,
        reason=reason,
        note=note,
        peak_memory=max(_known(ours, "peak_memory_bytes"), default=None),
        parameters=max(_known(ours, "trainable_parameters"), default=None),
    )


def _standard(row: BoardRow) -> tuple[bool, int, bool, bool, str]:
    """What makes a row the one to compare with; a label without settings is that of the method's defaults."""
    record = row.record
    plain, tuned = row.label == record.method.title, record.tuned is not None
    return version_state(record.method) == "current", len(row.records), tuned, plain, record.method_id


def _known(runs: Runs, name: str) -> list[Any]:
    return [record.cost[name] for record in runs.values() if record.cost.get(name) is not None]


def _no_cpu_seconds(record: Record) -> str:
    if (device := record.environment.get("device", "cpu")) != "cpu":
        return f"in seconds, since the work is done by {device}"
    return "" if "cpu_seconds" in record.cost else "in seconds, since a record has no CPU seconds"


def _not_comparable(ours: Record, theirs: Record, basis: str) -> str:
    a, b = ours.environment, theirs.environment
    differing = [f"{name} {a.get(name)} against {b.get(name)}" for name in SAME_MACHINE if a.get(name) != b.get(name)]
    if differing:
        return f"measured on different machines: {', '.join(differing)}"
    return "" if ours.cost.get(basis) and theirs.cost.get(basis) else "a record does not say how long it took"
