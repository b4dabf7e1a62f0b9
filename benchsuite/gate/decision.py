"""The regression gate's decision: compare values now with the stored expectations."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Literal

from benchsuite.setup import Part

Kind = Literal["crashed", "measured nothing", "regressed", "outdated", "improved", "unchanged"]
BAD: tuple[Kind, ...] = ("crashed", "measured nothing", "regressed", "outdated")
Curve = Sequence[Sequence[float]]
"""First values, by seed and step."""
Arithmetic = Mapping[str, Mapping[str, Sequence[float]]]
"""Values on fixed embeddings, by towers, curve and step."""

ARITHMETIC = 1e-6
"""How far values on fixed embeddings may be off, as a share of the curve's largest expected value: they are in float64,
so that processors, which order sums differently, differ by far less."""
FIRST_STEPS = {"loss": (1e-5, 3e-4, 1e-2, 4e-2, 8e-2), "gradient_norm": (1e-4, 2e-3, 1e-2, 1e-1, 1e-1)}
FIRST_STEPS_OWN = (3e-5, 1e-4, 1e-2, 5e-2, 1.5e-1)
"""The same at each of the first steps of a training, in float32. Up to the first update they are close; after it
weights drift apart, several times as far at each step, most of all where a loss divides by small deviations. The bands
are a few times what processors with AVX-512 of two makers, and without AVX-512, and without AVX, give."""
FIRST = len(FIRST_STEPS_OWN)
"""Steps whose values are compared."""
SPREADS = 4.0
"""Half the width of a metric's band, in standard errors of the mean over the gate's seeds."""


class Expected(Part):
    """Expected values of a method, by seed. The gate runs the first few of these seeds; all give the noise."""

    track: str
    version: int
    """Of the method whose values these are."""
    arithmetic: dict[str, dict[str, list[float]]]
    """On fixed embeddings, by towers: loss, terms, gauges and gradient norm, by step."""
    curves: dict[str, list[list[float]]]
    """First values of the loss, of the gradient norm, and of the method's own terms and gauges, by seed and step."""
    differences: dict[str, list[float]]
    """By metric: the method's minus the reference's, paired by seed; the reference's own values, for itself."""


class Expectations(Part):
    """The stored file."""

    file_format: Literal[1] = 1
    seeds: int
    """The gate runs seeds 0 up to this."""
    setups: dict[str, str]
    """By track: the setup_id that all this holds for."""
    batches: dict[str, list[str]]
    """By track and seed: digest of the first batches."""
    methods: dict[str, Expected]
    collapsed: dict[str, dict[str, float]]
    """By track: metrics of collapsed encoders, which map everything to one point."""


@dataclass(frozen=True)
class Observed:
    """Values of a method now; `crash` is the error if there are none."""

    arithmetic: Arithmetic = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    differences: Mapping[str, Sequence[float]] = field(default_factory=dict)
    version: int = 1
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
        compared = f": found {self.found}, expected {self.expected}, band {self.band}" if self.expected else ""
        return f"{self.kind}: {self.subject}, {self.what}{compared or (f': {self.found}' if self.found else '')}"


def check_method(name: str, expected: Expected, observed: Observed, seeds: int) -> Iterator[Check]:
    """Everything that is compared of one method; of another version than that of the stored values, nothing."""
    if observed.crash:
        yield Check(name, "run", "crashed", found=observed.crash)
        return
    if observed.version != expected.version:
        message = f"values are stored for version {expected.version}, and {name} is at {observed.version}; review them"
        yield Check(name, "version", "outdated", found=f"{message}, then run `benchsuite regress {name} --update`")
        return
    checks = [*check_arithmetic(name, expected.arithmetic, observed.arithmetic)]
    for curve, by_seed in expected.curves.items():
        label, shares = f"first values of {_words(curve)}", FIRST_STEPS.get(curve, FIRST_STEPS_OWN)
        checks.append(_curve(name, label, shares, by_seed[:seeds], observed.curves.get(curve, ())))
    yield from checks
    yield _check_version(name, expected.version, checks)
    for metric, values in expected.differences.items():
        yield _metric(name, metric, values, observed.differences.get(metric, ()), seeds)


def _check_version(name: str, version: int, checks: Iterable[Check]) -> Check:
    """Records are reused as long as the version is the same, so changed values need a new one."""
    if not any(check.kind == "regressed" for check in checks):
        return Check(name, "version", "unchanged")
    message = f"values changed under version {version}: raise the version of {name}, or undo what changed them"
    return Check(name, "version", "regressed", found=message)


def check_arithmetic(name: str, expected: Arithmetic, observed: Arithmetic) -> Iterator[Check]:
    """Values on fixed embeddings."""
    before, now = (", ".join(sorted(towers)) for towers in (expected, observed))
    yield Check(name, "towers it serves", "unchanged" if before == now else "regressed", before, now, "exactly")
    for kind, curves in expected.items():
        for curve, values in curves.items():
            label = f"{_words(curve)} on fixed embeddings ({kind})"
            yield _curve(name, label, repeat(ARITHMETIC), [values], [observed.get(kind, {}).get(curve, ())])


def as_observed(expected: Expected, seeds: int) -> Observed:
    """Values that are to be stored, as the gate observes them."""
    differences = {metric: values[:seeds] for metric, values in expected.differences.items()}
    return Observed(expected.arithmetic, expected.curves, differences, expected.version)


def unraised(before: Expectations, after: Expectations) -> list[str]:
    """Methods whose values differ under an unchanged version.

    Where setups or batches differ, so do first steps of a training: values on fixed embeddings alone are compared.
    """
    same_runs = (before.setups, before.batches) == (after.setups, after.batches)
    found = []
    for name in before.methods.keys() & after.methods.keys():
        old = before.methods[name]
        stored = old if same_runs else old.model_copy(update={"curves": {}})
        checks = check_method(name, stored, as_observed(after.methods[name], after.seeds), after.seeds)
        if any((check.what, check.kind) == ("version", "regressed") for check in checks):
            found.append(name)
    return sorted(found)


def check_batches(track: str, expected: Sequence[str], observed: Sequence[str]) -> Iterator[Check]:
    """The first batches of pairs, captions and augmentations: if they changed, all later values change."""
    for seed, (before, now) in enumerate(zip(expected, observed, strict=False)):
        kind: Kind = "unchanged" if before == now else "regressed"
        yield Check(f"batches ({track})", f"first batches of seed {seed}", kind, before, now, "exactly")


def check_collapsed(track: str, expected: Mapping[str, float], observed: Mapping[str, float]) -> Iterator[Check]:
    """Metrics of collapsed encoders, which map everything to one point. Ties must not score better than before."""
    for metric, value in expected.items():
        now = observed.get(metric, math.nan)
        kind: Kind = "unchanged" if abs(now - value) <= 1e-9 else "regressed"
        if math.isnan(now):
            kind = "measured nothing"
        yield Check(f"collapsed towers ({track})", metric, kind, f"{value:.6g}", f"{now:.6g}", "exactly")


def _words(curve: str) -> str:
    return curve.replace("_", " ")


def _curve(name: str, label: str, shares: Iterable[float], expected: Curve, observed: Curve) -> Check:
    points = []
    for seed, before in enumerate(expected):
        now = observed[seed] if seed < len(observed) else ()
        if len(now) < len(before) or any(math.isnan(value) for value in now):
            return Check(name, label, "measured nothing", found=f"seed {seed}")
        largest = max(abs(value) for value in before)
        for step, (a, b, share) in enumerate(zip(before, now, shares, strict=False)):
            half = max(share * largest, 1e-9)
            points.append((abs(b - a) / half, f"{a:.7g}", f"{b:.7g} (seed {seed}, step {step})", f"±{half:.1e}"))
    off, *compared = max(points)
    return Check(name, label, "regressed" if off > 1 else "unchanged", *compared)


def _metric(name: str, metric: str, stored: Sequence[float], observed: Sequence[float], seeds: int) -> Check:
    label = f"{metric} against the reference"
    if len(observed) < seeds or any(math.isnan(value) for value in observed):
        return Check(name, label, "measured nothing")
    expected, now = statistics.fmean(stored[:seeds]), statistics.fmean(observed)
    half = half_band(stored, seeds)
    kind: Kind = "regressed" if now < expected - half else "improved" if now > expected + half else "unchanged"
    return Check(name, label, kind, f"{expected:+.4f}", f"{now:+.4f}", f"±{half:.4f}")


def half_band(stored: Sequence[float], seeds: int) -> float:
    """Half the width of a band, from the noise that the stored seeds show. Never 0: rounding changes ranks."""
    spread = statistics.stdev(stored) if len(stored) > 1 else 0.0
    return max(SPREADS * spread / math.sqrt(seeds), 0.01)
