"""What a benchmark is: ours and its peers on the same input, the ratio aimed at, and what they took."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

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


@dataclass(frozen=True)
class Timed:
    """What one implementation took."""

    by: str
    seconds: Sequence[float]
    """Of each call; calls of ours and of peers took turns."""
    megabytes: float | None
    """Highest memory over the inputs; None where it cannot be measured."""

    @property
    def median(self) -> float:
        """Seconds of the middle call."""
        return median(self.seconds)


@dataclass(frozen=True)
class Measured:
    """A case, and what each implementation took, ours first."""

    case: Case
    timed: Sequence[Timed]

    def ratio(self, peer: Timed) -> float:
        """How many times our seconds the peer takes."""
        return peer.median / self.timed[0].median

    def missed(self) -> Iterator[str]:
        """The aims that were not reached, each with whose they are."""
        ours, *peers = self.timed
        for peer in peers:
            aim = self.case.aims.get(peer.by)
            if aim is not None and self.ratio(peer) < aim:
                yield f"{peer.by}, at least {aim:.3g} times"
        if self.case.seconds is not None and ours.median > self.case.seconds:
            yield f"{ours.by}, at most {self.case.seconds:g} s"
        if self.case.megabytes is not None and ours.megabytes is not None and ours.megabytes > self.case.megabytes:
            yield f"{ours.by}, at most {self.case.megabytes:g} MB"
