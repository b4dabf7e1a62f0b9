"""The regression gate's values of a built-in method: on fixed embeddings, and of a few seconds of training.

On fixed embeddings: its loss, terms, gauges and gradient norm, step by step, in float64, on few samples, through a
whole schedule. Each sample comes back, so that schedules and per-sample state matter. Nothing is trained, so errors do
not grow. Equal values do not prove a method right; changed values tell which method a code change affects.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import torch

from benchsuite.canonical import short_digest
from benchsuite.conformance.subject import Subject, differentiable, modes, parts, tensors
from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.execution.measure import eight_digits, measure
from benchsuite.files import write_whole
from benchsuite.methods import described_method, method_class
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.parts import Part
from benchsuite.paths import baselines
from benchsuite.planning.plan import Run, plan_under
from benchsuite.planning.recipe import read_recipe
from benchsuite.registry import methods
from benchsuite.setup import Towers
from benchsuite.training.curves import number

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


SEEDS = 2
IMAGES, STEPS = 128, 16
"""Recipes are cut down. With so few images, each comes back from the third step on, so that state for each sample
matters."""
RECIPES: Mapping[Towers, tuple[str, str]] = {
    "pair": ("scenes-smoke", "RN50"),
    "image": ("scenes-image-smoke", "ResNet-18"),
}
"""Recipe and backbone. Methods are tried on the first towers that they serve."""
SHARED_CURVES = {"step", "lr", "gap"}
"""Curves of the training loop, not of the method."""

Progress = Callable[[str], None]


def observe(name: str, progress: Progress) -> Expected:
    """The values of a method now."""
    torch.set_num_threads(1)  # sums have the same order on any number of cores
    fixed, records = arithmetic(name), []
    for seed in range(SEEDS):
        progress(f"{name}, seed {seed}")
        records.append(measure(plan(name, seed)).record)
    return Expected(
        version=methods.card(name).version,
        runs=[short_digest([record.setup_id, record.digests["batches"]]) for record in records],
        arithmetic={
            towers: {curve: [*map(eight_digits, values)] for curve, values in curves.items()}
            for towers, curves in fixed.items()
        },
        curves={
            curve: [[math.nan if v is None else v for v in record.curves[curve][:FIRST]] for record in records]
            for curve in records[0].curves
            if curve not in SHARED_CURVES
        },
    )


def plan(name: str, seed: int) -> Run:
    """A run of the method in its miniature sizes, under a recipe that is cut down."""
    recipe, backbone = RECIPES["pair" if "pair" in described_method(name).serves else "image"]
    whole = read_recipe(recipe)
    few = whole.data.model_copy(update={"options": {**whole.data.options, "train": IMAGES}})
    training = whole.training.model_copy(update={"steps": STEPS})
    protocols = dict([*whole.protocols.items()][:1])
    cut = whole.model_copy(update={"data": few, "training": training, "protocols": protocols})
    return plan_under(cut, name, backbone, seed, {**method_class(name).miniature, **NOTICEABLE.get(name, {})})


def gate(names: Sequence[str], progress: Progress) -> Iterator[Check]:
    """Every check of these methods."""
    stored = read_expectations().methods
    for name in names:
        if name not in stored:
            yield Check(name, "values", "outdated", found="none stored; --update does, of your own --store FILE")
            continue
        try:
            observed = observe(name, progress)
        except Exception as error:
            kind = "" if isinstance(error, BenchsuiteError) else f"{type(error).__name__}: "
            yield Check(name, "run", "crashed", found=f"{kind}{error}")
        else:
            yield from check_method(name, stored[name], observed)


def update_expectations(names: Sequence[str], progress: Progress) -> None:
    """Store the values of methods now, a line for each list; others stay, except methods that are gone."""
    stored = read_expectations().methods
    now = {name: observe(name, progress) for name in names}
    checks = [check for name in now if name in stored for check in check_method(name, stored[name], now[name])]
    if changed := dict.fromkeys(check.subject for check in checks if check.kind == "regressed"):
        raise UsageError(
            f"values changed under the same version of {', '.join(changed)}. Nothing was stored: raise the version of "
            "each (register_method(..., version=2)), or undo what changed them."
        )
    kept = {name: stored[name] for name in stored if name in methods} | now
    text = json.dumps(Expectations(methods=kept).model_dump(), indent=1, sort_keys=True)
    lines = re.sub(r"\[\s+([^][]*?)\s+\]", lambda values: f"[{' '.join(values[1].split())}]", text)
    write_whole(expectations_file(), f"{lines}\n".encode())


def gated() -> list[str]:
    """The built-in methods."""
    return [name for name in methods if methods.card(name).built_in]


def expectations_file() -> Path:
    """Where expectations are kept."""
    return baselines() / "regression" / "expected.json"


def read_expectations() -> Expectations:
    """The stored expectations."""
    file = expectations_file()
    return Expectations.model_validate_json(file.read_bytes()) if file.exists() else Expectations(methods={})


SIZE, VISITS, VISITS_PER_EPOCH = 6, 8, 2
CLUSTER_SIZES = (1, 4, 11)
NOTICEABLE: Mapping[str, Mapping[str, Any]] = {
    name: {"p": 0.5} for name in ("gap-hard-swap", "gap-hard-swap-feature", "gap-soft-swap")
}
"""Hyper-parameters for methods whose default acts in too few steps to affect a short run."""


def arithmetic(name: str) -> dict[str, dict[str, list[float]]]:
    """The values of a method as it is now, by towers, curve and step."""
    subject = Subject(name)
    return {mode: _curves(subject, mode) for mode in modes(subject.template)}


def _curves(subject: Subject, mode: str) -> dict[str, list[float]]:
    options: dict[str, Any] = {**NOTICEABLE.get(subject.name, {})}
    if "cluster_sizes" in subject.fields:
        options["cluster_sizes"] = CLUSTER_SIZES
    torch.manual_seed(0)
    method = subject.make(**options).double()
    curves: dict[str, list[float]] = {}
    for step in range(VISITS):
        rows = differentiable(tensors(parts(method, mode), SIZE, seed=step))
        if "cluster" in rows:
            rows["cluster"] = torch.arange(SIZE) % len(CLUSTER_SIZES)
        torch.manual_seed(step)
        loss = method(PairBatch(**rows), Clock(step, VISITS, epoch=step // VISITS_PER_EPOCH))
        leaves = [leaf for leaf in (*rows.values(), *method.parameters()) if leaf.requires_grad]
        norms = [g.norm() for g in torch.autograd.grad(loss.total, leaves, allow_unused=True) if g is not None]
        values = {"loss": loss.total, **loss.terms, **loss.gauges, "gradient_norm": torch.stack(norms).norm()}
        for curve, value in values.items():
            curves.setdefault(curve, []).append(number(value))
    return curves
