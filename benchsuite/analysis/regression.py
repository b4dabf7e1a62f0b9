"""The regression gate's judgement: what runs gave now, against what they gave when expectations were stored."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Literal

from benchsuite.setup import Part

Kind = Literal["crashed", "measured nothing", "regressed", "improved", "unchanged"]
BAD: tuple[Kind, ...] = ("crashed", "measured nothing", "regressed")
Curve = Sequence[Sequence[float]]
"""First values, by seed and step."""

STILL = {"gradient_norm": 1e-3}
STILL_OWN = 1e-5
"""How far a curve may be off on still towers, as a share of its largest expected value: the last digits that other
processors, which order sums differently, change."""
FIRST_STEPS = {"loss": (1e-5, 3e-4, 2e-3, 2e-2, 4e-2), "gradient_norm": (1e-4, 2e-3, 1e-2, 1e-1, 1e-1)}
FIRST_STEPS_OWN = (3e-5, 1e-4, 3e-4, 4e-3, 1e-2)
"""The same at each of the first steps of a training: after the first update, weights drift apart, several times as far
at each step. The bands are a few times what processors without AVX-512, and without AVX, give."""
FIRST = len(FIRST_STEPS_OWN)
"""Steps whose values are compared."""
SPREADS = 4.0
"""Half the width of a metric's band, in standard errors of the mean over the gate's seeds."""
COST = 1.6
"""How many times as costly as expected, relative to the reference in the same process, a method may be."""


class Expected(Part):
    """What a method gave, by seed; the gate runs the first few of these seeds, the others tell the noise."""

    track: str
    curves: dict[str, list[list[float]]]
    """First values of the loss, of the gradient norm, and of the method's own terms and gauges, by seed and step."""
    still: dict[str, list[float]]
    """The same on towers that stay as they start, under one seed, through the whole of a schedule."""
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
    batches: dict[str, list[str]]
    """By track and seed: digest of the first draws."""
    methods: dict[str, Expected]
    collapsed: dict[str, dict[str, float]]
    """By track: what the evaluation says of towers that map everything to one point."""


@dataclass(frozen=True)
class Found:
    """What a method gave now; `crash` says why it gave nothing."""

    curves: Mapping[str, Curve] = field(default_factory=dict)
    still: Mapping[str, Sequence[float]] = field(default_factory=dict)
    differences: Mapping[str, Sequence[float]] = field(default_factory=dict)
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
    for curve, values in expected.still.items():
        label = f"{_words(curve)} on still towers"
        yield _curve(name, label, repeat(STILL.get(curve, STILL_OWN)), [values], [found.still.get(curve, ())])
    for curve, by_seed in expected.curves.items():
        label, shares = f"first values of {_words(curve)}", FIRST_STEPS.get(curve, FIRST_STEPS_OWN)
        yield _curve(name, label, shares, by_seed[:seeds], found.curves.get(curve, ()))
    for metric, values in expected.differences.items():
        yield _metric(name, metric, values, found.differences.get(metric, ()), seeds)
    yield check_cost(name, expected.cost, found.cost)


def check_batches(track: str, expected: Sequence[str], found: Sequence[str]) -> Iterator[Check]:
    """The first draws of pairs, captions and looks: if they have changed, so has everything that follows."""
    for seed, (before, now) in enumerate(zip(expected, found, strict=False)):
        kind: Kind = "unchanged" if before == now else "regressed"
        yield Check(f"batches ({track})", f"first draws of seed {seed}", kind, before, now, "exactly")


def check_collapsed(track: str, expected: Mapping[str, float], found: Mapping[str, float]) -> Iterator[Check]:
    """The evaluation of towers that map everything to one point: it must not have become kinder."""
    for metric, value in expected.items():
        now = found.get(metric, math.nan)
        kind: Kind = "unchanged" if abs(now - value) <= 1e-9 else "regressed"
        if math.isnan(now):
            kind = "measured nothing"
        yield Check(f"collapsed towers ({track})", metric, kind, f"{value:.6g}", f"{now:.6g}", "exactly")


def check_cost(name: str, expected: float, found: float) -> Check:
    """CPU time beside the reference's."""
    if math.isnan(found):
        return Check(name, "cost", "measured nothing")
    kind: Kind = "regressed" if found > COST * expected else "improved" if found < expected / COST else "unchanged"
    return Check(name, "cost as a multiple of the reference's", kind, f"{expected:.2f}", f"{found:.2f}", f"x{COST:g}")


def _words(curve: str) -> str:
    return curve.replace("_", " ")


def _curve(name: str, label: str, shares: Iterable[float], expected: Curve, found: Curve) -> Check:
    points = []
    for seed, before in enumerate(expected):
        now = found[seed] if seed < len(found) else ()
        if len(now) < len(before) or any(math.isnan(value) for value in now):
            return Check(name, label, "measured nothing", found=f"seed {seed}")
        largest = max(abs(value) for value in before)
        for step, (a, b, share) in enumerate(zip(before, now, shares, strict=False)):
            half = max(share * largest, 1e-9)
            points.append((abs(b - a) / half, f"{a:.7g}", f"{b:.7g} (seed {seed}, step {step})", f"±{half:.1e}"))
    off, *told = max(points)
    return Check(name, label, "regressed" if off > 1 else "unchanged", *told)


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
