"""The results of the checks."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["passed", "failed", "excused"]


@dataclass(frozen=True)
class Outcome:
    """One check of one method. The reason is empty where it passed."""

    check: str
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class Cost:
    """What a method costs relative to InfoNCE. Shown, not checked."""

    time_ratio: float
    """Median time of loss and gradient over InfoNCE's."""
    state_bytes: int
    """Parameters and buffers for `samples` training samples."""
    samples: int
    pair_bytes: float = 0.0
    """Kept for the gradient for each pair of rows of a large batch; 0 where matrices are computed in blocks."""


@dataclass(frozen=True)
class MethodReport:
    """All checks of one method."""

    name: str
    title: str
    outcomes: tuple[Outcome, ...]
    cost: Cost | None = None
    warnings: tuple[str, ...] = ()
    """What is unusual but fails no check."""

    @property
    def passed(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> dict[str, str]:
        return {o.check: o.reason for o in self.outcomes if o.status == "failed"}

    @property
    def excused(self) -> dict[str, str]:
        return {o.check: o.reason for o in self.outcomes if o.status == "excused"}


@dataclass(frozen=True)
class Report:
    """A report for each method, in the order of the request."""

    methods: tuple[MethodReport, ...]

    @property
    def passed(self) -> bool:
        return all(method.passed for method in self.methods)

    def __getitem__(self, name: str) -> MethodReport:
        return next(method for method in self.methods if method.name == name)

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {
                "name": method.name,
                "title": method.title,
                "passed": method.passed,
                "checks": {o.check: {"status": o.status, "reason": o.reason} for o in method.outcomes},
                "cost": asdict(method.cost) if method.cost else None,
                "warnings": [*method.warnings],
            }
            for method in self.methods
        ]
