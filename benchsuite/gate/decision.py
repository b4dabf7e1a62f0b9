"""The regression gate's decision: compare values of built-in methods now with the stored expectations."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

from benchsuite.setup import Part

Kind = Literal["crashed", "regressed", "outdated", "improved", "unchanged"]
BAD: tuple[Kind, ...] = ("crashed", "regressed", "outdated")
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


class Expected(Part):
    """Values of a method: those that are stored, or those that it has now."""

    version: int
    """Of the method whose values these are."""
    runs: list[str]
    """By seed: digest of the setup and of the first batches. Other runs have other first values."""
    arithmetic: dict[str, dict[str, list[float]]]
    """On fixed embeddings, by towers: loss, terms, gauges and gradient norm, by step."""
    curves: dict[str, list[list[float]]]
    """First values of the loss, of the gradient norm, and of the method's own terms and gauges, by seed and step."""


class Expectations(Part):
    """The stored file."""

    file_format: Literal[2] = 2
    methods: dict[str, Expected]


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
        compared = f": found {self.found}, expected {self.expected}, band {self.band}" if self.expected else ""
        return f"{self.kind}: {self.subject}, {self.what}{compared or (f': {self.found}' if self.found else '')}"


def check_method(name: str, expected: Expected, observed: Expected) -> Iterator[Check]:
    """Everything that is compared of one method; of another version than that of the stored values, nothing."""
    if observed.version != expected.version:
        message = f"values are stored for version {expected.version}, and {name} is at {observed.version}; review them"
        yield Check(name, "version", "outdated", found=f"{message}, then run `benchsuite regress {name} --update`")
        return
    checks = [*check_arithmetic(name, expected.arithmetic, observed.arithmetic)]
    same_runs = expected.runs == observed.runs
    for curve, by_seed in expected.curves.items() if same_runs else ():
        label, shares = f"first values of {curve.replace('_', ' ')}", FIRST_STEPS.get(curve, FIRST_STEPS_OWN)
        checks.append(_curve(name, label, shares, by_seed, observed.curves.get(curve, ())))
    yield from checks
    if not same_runs:
        message = "changed, so first values are not compared; review, then run `benchsuite regress --update`"
        yield Check(name, "setup and first batches", "outdated", found=message)
    if any(check.kind == "regressed" for check in checks):  # records are reused while the version is the same
        message = f"values changed under version {expected.version}: raise the version of {name}, or undo what did it"
        yield Check(name, "version", "regressed", found=message)


def check_arithmetic(name: str, expected: Arithmetic, observed: Arithmetic) -> Iterator[Check]:
    """Values on fixed embeddings."""
    before, now = (", ".join(sorted(towers)) for towers in (expected, observed))
    yield Check(name, "towers it serves", "unchanged" if before == now else "regressed", before, now, "exactly")
    for kind, curves in expected.items():
        for curve, values in curves.items():
            label = f"{curve.replace('_', ' ')} on fixed embeddings ({kind})"
            yield _curve(name, label, repeat(ARITHMETIC), [values], [observed.get(kind, {}).get(curve, ())])


def _curve(name: str, label: str, shares: Iterable[float], expected: Curve, observed: Curve) -> Check:
    points = []
    for seed, before in enumerate(expected):
        now = observed[seed] if seed < len(observed) else ()
        if len(now) < len(before) or any(math.isnan(value) for value in now):
            return Check(name, label, "regressed", found=f"no number for seed {seed}")
        largest = max(abs(value) for value in before)
        for step, (a, b, share) in enumerate(zip(before, now, shares, strict=False)):
            half = max(share * largest, 1e-9)
            points.append((abs(b - a) / half, f"{a:.7g}", f"{b:.7g} (seed {seed}, step {step})", f"±{half:.1e}"))
    off, *compared = max(points)
    return Check(name, label, "regressed" if off > 1 else "unchanged", *compared)
