"""Measurements of speed and memory: `benchmarks/<day>-<digest>.json` in a results folder, one a call of `tox -e bench`.

They are no runs, and no table reads them. Seconds depend on the machine; ratios to a peer, timed in turns in the same
process, much less. So ratios are what a later measurement is compared with.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal, Self

from annotated_types import Len
from pydantic import model_validator

from benchsuite.fields import NonNegative, Positive
from benchsuite.files import write_whole
from benchsuite.records.kinds import wrong_kinds
from benchsuite.records.names import BENCHMARKS
from benchsuite.records.schema import content_digest, require_sealed
from benchsuite.setup import Part

SHOWN = ("benchsuite", "commit", "processor", "threads", "packages")
"""What pages say of the environment."""
SLOWER = 1.1
"""A ratio that fell by less than this factor is not called slower, however little it scatters."""


class Timed(Part):
    """What one implementation took."""

    by: str
    seconds: Annotated[tuple[Positive, ...], Len(1)]
    """Of each call; calls of ours and of peers took turns."""
    megabytes: NonNegative | None
    """Highest memory over the inputs; None where it cannot be measured."""

    @property
    def median(self) -> float:
        """Seconds of the middle call."""
        return median(self.seconds)


class Benchmark(Part):
    """One work: who did it, and what was aimed at."""

    name: str
    what: str
    timed: Annotated[tuple[Timed, ...], Len(1)]
    """Ours first."""
    aims: dict[str, Positive] = {}
    """By peer: how many times our seconds its seconds should be, at least."""
    most_seconds: Positive | None = None
    most_megabytes: Positive | None = None

    @property
    def ours(self) -> Timed:
        """The first."""
        return self.timed[0]

    @property
    def peers(self) -> Sequence[Timed]:
        """All others."""
        return self.timed[1:]

    def ratio(self, peer: Timed) -> float:
        """How many times our seconds the peer takes."""
        return peer.median / self.ours.median

    def ratios(self, peer: Timed) -> list[float]:
        """Of each turn; a peer that takes long has fewer turns."""
        return [theirs / ours for theirs, ours in zip(peer.seconds, self.ours.seconds, strict=False)]

    def aims_of(self, timed: Timed) -> list[tuple[str, bool]]:
        """What was aimed at beside a peer, or of our own seconds and memory, and whether it was reached."""
        aims: list[tuple[str, bool]] = []
        if timed is not self.ours:
            if timed.by in self.aims:
                aims.append((f"at least {self.aims[timed.by]:.3g} times", self.ratio(timed) >= self.aims[timed.by]))
            return aims
        if self.most_seconds is not None:
            aims.append((f"at most {self.most_seconds:g} s", timed.median <= self.most_seconds))
        if self.most_megabytes is not None and timed.megabytes is not None:
            aims.append((f"at most {self.most_megabytes:g} MB", timed.megabytes <= self.most_megabytes))
        return aims

    def missed(self) -> list[str]:
        """The aims that were not reached, each with whose they are."""
        return [f"{each.by}, {aim}" for each in self.timed for aim, reached in self.aims_of(each) if not reached]


class Measurement(Part):
    """All that was measured by one call, and on what."""

    benchmark_format: Literal[1] = 1
    created: str
    size: str
    environment: dict[str, Any]
    cores: int
    load: float
    """Processors that other work kept busy meanwhile, on average: near 0 on a quiet machine."""
    benchmarks: tuple[Benchmark, ...]
    digest: str

    @classmethod
    def seal(cls, **content: Any) -> Self:
        """From its content, with its digest filled in."""
        plain = cls.model_construct(digest="", **content).model_dump(mode="json")
        return cls.model_validate({**plain, "digest": content_digest(plain)})

    @model_validator(mode="after")
    def _names_its_machine(self) -> Self:
        if missing := [key for key in SHOWN if key not in self.environment]:
            raise ValueError(f"environment has no {missing[0]}")
        if problem := next(wrong_kinds({}, self.environment), None):
            raise ValueError(problem)
        return self

    @model_validator(mode="before")
    @classmethod
    def _is_as_sealed(cls, content: Any) -> Any:
        return require_sealed(content)

    @property
    def machine(self) -> str:
        """Measurements of equal machines and sizes are compared."""
        return f"{self.environment['processor']}, threads: {self.environment['threads']}"

    def benchmark(self, name: str) -> Benchmark | None:
        """The one of this name."""
        return next((each for each in self.benchmarks if each.name == name), None)


@dataclass(frozen=True)
class Change:
    """A ratio that is lower than before: we became slower beside a peer."""

    name: str
    peer: str
    before: float
    now: float


def slower(now: Measurement, before: Measurement) -> list[Change]:
    """Ratios that fell by a tenth or more, all turns of now being below all of before."""
    found: list[Change] = []
    for benchmark in now.benchmarks:
        earlier = before.benchmark(benchmark.name)
        if earlier is None or earlier.what != benchmark.what:
            continue
        before_by = {peer.by: peer for peer in earlier.peers}
        for peer in (peer for peer in benchmark.peers if peer.by in before_by):
            same = before_by[peer.by]
            was, is_ = earlier.ratio(same), benchmark.ratio(peer)
            if was / is_ >= SLOWER and max(benchmark.ratios(peer)) < min(earlier.ratios(same)):
                found.append(Change(benchmark.name, peer.by, was, is_))
    return found


def comparable(measurements: Iterable[Measurement], now: Measurement) -> Measurement | None:
    """The latest earlier one of the same machine and size."""
    found = [
        each
        for each in measurements
        if each.machine == now.machine and each.size == now.size and each.created < now.created
    ]
    return max(found, key=lambda each: each.created, default=None)


def write_measurement(results: Path, measurement: Measurement) -> Path:
    """Store it beside the others."""
    folder = results / BENCHMARKS
    path = folder / f"{measurement.created[:10]}-{measurement.digest[:16]}.json"
    text = json.dumps(measurement.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text.encode(), overwrite=False)
    return path
