"""What a benchmark is: ours and its peers on the same input, the ratio aimed at, and how far numbers may lie apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Numbers = dict[str, float]
OURS = "benchsuite"


@dataclass(frozen=True)
class Case:
    """One work and those who do it. Inputs are held by the calls."""

    name: str
    what: str
    """The work and its size, in words."""
    calls: Mapping[str, Callable[[], Numbers]]
    """Ours first, under `benchsuite`. A peer without comparable numbers (one product, the towers alone) returns {}."""
    aims: Mapping[str, float] = field(default_factory=dict)
    """By peer: its seconds divided by ours should be at least this."""
    seconds: float | None = None
    """The most seconds that ours may take: where people wait, and no peer does the same."""
    apart: float = 0.0
    """How far a peer's numbers may lie from ours."""
    megabytes: float | None = None
    """The most memory over the inputs that ours may take."""
    repeats: int | None = None
    """None: as often as the command says."""
