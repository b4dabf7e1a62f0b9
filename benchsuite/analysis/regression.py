"""The regression gate's judgement: what runs gave now, against what they gave when expectations were stored."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchsuite.setup import Part

Kind = Literal["crashed", "measured nothing", "regressed", "improved", "unchanged"]
BAD: tuple[Kind, ...] = ("crashed", "measured nothing", "regressed")

ARITHMETIC = {"loss": 1e-4, "gradient_norm": 2e-3}
"""How far first losses and gradient norms may be off, as a share: sums are ordered differently on other processors."""
SPREADS = 4.0
"""Half the width of a metric's band, in standard errors of the mean over the gate's seeds."""
COST = 1.6
"""How many times as costly as expected, relative to the reference in the same process, a method may be."""


class Expected(Part):
    """What a method gave, by seed; the gate runs the first few of these seeds, the others tell the noise."""

    track: str
    loss: list[list[float]]
    gradient_norm: list[list[float]]
    differences: dict[str, list[float]]
    """By metric: the method's minus the reference's, paired by seed; the reference's own values, for itself."""
    cost: float
    """CPU seconds of training as a multiple of the first track's reference's."""


class Expectations(Part):
    """The stored file."""

    file_format: Literal[1] = 1
    seeds: int
    """The gate runs seeds 0 up to this."""
    setups: dict[str, str]
    """By track: the setup_id that all this holds for."""
    references: dict[str, str]
    methods: dict[str, Expected]
    collapsed: dict[str, dict[str, float]]
    """By track: what the evaluation says of towers that map everything to one point."""


@dataclass(frozen=True)
class Found:
    """What a method gave now; `crash` says why it gave nothing."""

    loss: Sequence[Sequence[float]] = ()
    gradient_norm: Sequence[Sequence[float]] = ()
    differences: Mapping[str, Sequence[float]] | None = None
    cost: float = math.nan
    crash: str = ""


@dataclass(frozen=True)
class Check:
    """One thing that was compared."""

    subject: str
    what: str
    kind: Kind
    expected: str = ""
    found: str = ""
    band: str = ""

    @property
    def line(self) -> str:
        """The check in a line."""
        told = f": found {self.found}, expected {self.expected}, band {self.band}" if self.expected else ""
        return f"{self.kind}: {self.subject}, {self.what}{told or (f': {self.found}' if self.found else '')}"


def check_method(name: str, expected: Expected, found: Found, seeds: int) -> Iterator[Check]:
    """Everything that is compared of one method."""
    if found.crash:
        yield Check(name, "run", "crashed", found=found.crash)
        return
    for what, share in ARITHMETIC.items():
        yield _arithmetic(name, what, getattr(expected, what)[:seeds], getattr(found, what), share)
    for metric, stored in expected.differences.items():
        yield _metric(name, metric, stored, (found.differences or {}).get(metric, ()), seeds)
    yield _cost(name, expected.cost, found.cost)


def check_collapsed(track: str, expected: Mapping[str, float], found: Mapping[str, float]) -> Iterator[Check]:
    """The evaluation of towers that map everything to one point: it must not have become kinder."""
    for metric, value in expected.items():
        now = found.get(metric, math.nan)
        kind: Kind = "unchanged" if abs(now - value) <= 1e-9 else "regressed"
        if math.isnan(now):
            kind = "measured nothing"
        yield Check(f"collapsed towers ({track})", metric, kind, f"{value:.6g}", f"{now:.6g}", "exactly")


def _arithmetic(
    name: str, what: str, expected: Sequence[Sequence[float]], found: Sequence[Sequence[float]], share: float
) -> Check:
    label = f"first values of {what.replace('_', ' ')}"
    pairs = [(seed, step, a, b) for seed, (left, right) in enumerate(zip(expected, found, strict=False))
             for step, (a, b) in enumerate(zip(left, right, strict=False))]  # fmt: skip
    if not pairs or any(math.isnan(b) for *_, b in pairs):
        return Check(name, label, "measured nothing")
    seed, step, a, b = max(pairs, key=lambda one: abs(one[3] - one[2]) / max(abs(one[2]), 1e-12))
    off = abs(b - a) > share * max(abs(a), 1e-12)
    where = f" (seed {seed}, step {step})"
    return Check(name, label, "regressed" if off else "unchanged", f"{a:.7g}", f"{b:.7g}{where}", f"±{share:.0e} of it")


def _metric(name: str, metric: str, stored: Sequence[float], found: Sequence[float], seeds: int) -> Check:
    label = f"{metric} against the reference"
    if len(found) < seeds or any(math.isnan(one) for one in found):
        return Check(name, label, "measured nothing")
    expected, now = statistics.fmean(stored[:seeds]), statistics.fmean(found)
    half = half_band(stored, seeds)
    kind: Kind = "regressed" if now < expected - half else "improved" if now > expected + half else "unchanged"
    return Check(name, label, kind, f"{expected:+.4f}", f"{now:+.4f}", f"±{half:.4f}")


def half_band(stored: Sequence[float], seeds: int) -> float:
    """Half the width of a band, from the noise that the stored seeds show. Never nothing: rounding moves ranks."""
    spread = statistics.stdev(stored) if len(stored) > 1 else 0.0
    return max(SPREADS * spread / math.sqrt(seeds), 0.01)


def _cost(name: str, expected: float, found: float) -> Check:
    if math.isnan(found):
        return Check(name, "cost", "measured nothing")
    kind: Kind = "regressed" if found > COST * expected else "improved" if found < expected / COST else "unchanged"
    return Check(name, "cost as a multiple of the reference's", kind, f"{expected:.2f}", f"{found:.2f}", f"x{COST:g}")
