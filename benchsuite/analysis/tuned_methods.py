"""Tuning trials of a results folder: what each method was tuned with, its tuning curve, and what its score depends on.

A tuning curve is the score that the best of n random trials reaches in half of all searches (the median), for each n.
Its band holds the whole true curve in 95% of repetitions, whatever the distribution of scores: Lourie, Cho and He,
"Show Your Work with Confidence" (2023), by their library opda. Trap: trials cannot bound what more search would find,
so after the first few the upper limit is the greatest possible score.
"""

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchsuite.analysis.labels import TEMPERATURES
from benchsuite.analysis.stats import ALPHA, Floats
from benchsuite.records.method_version import version_state
from benchsuite.registry import methods, tasks
from benchsuite.setup import REFERENCES, Setup

if TYPE_CHECKING:
    from benchsuite.records.trials import Trial, TrialsFile

RATE = "learning_rate"
"""Its name among what was drawn."""
SEED = 14
"""Of the simulation behind the bands."""


@dataclass(frozen=True)
class TuningCurve:
    """The best of n trials: median, and the ends of its simultaneous 95% band; an entry for each n."""

    ns: Floats
    median: Floats
    low: Floats
    high: Floats


def tuning_curve(scores: Sequence[float], ns: Sequence[float], lowest: float, highest: float) -> TuningCurve:
    """Of the scores of all trials, in any order; `lowest` and `highest` are the ends of what is possible."""
    from opda.nonparametric import EmpiricalDistribution  # with scipy.stats: seconds

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicates detected")  # then the band is wider than it need be
        low, point, high = EmpiricalDistribution.confidence_bands(
            np.sort(scores), 1 - ALPHA, a=lowest, b=highest, generator=_generator(len(scores)),
            method="ld_equal_tailed", n_jobs=1,
        )  # fmt: skip
    at = np.asarray(ns, float)
    lines = (band.quantile_tuning_curve(at) for band in (point, high, low))
    return TuningCurve(at, *lines)


@cache
def _generator(n: int) -> np.random.Generator:
    """One for each number of trials: opda remembers its simulation by number and generator."""
    return np.random.default_rng([SEED, n])


@dataclass(frozen=True)
class Measure:
    """What trials are judged by."""

    name: str
    """ "protocol.metric"."""
    unit: Literal["percent", "number"]

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest possible value. A failed trial counts as the lowest."""
        return (0.0, 1.0) if self.unit == "percent" else (-math.inf, math.inf)


@dataclass(frozen=True)
class DrawnNumber:
    """One of the numbers that were drawn, in all trials."""

    name: str
    values: Mapping[int, float]
    """By trial."""
    default: float | None
    """The paper's value at this scale; of the learning rate the recipe's. None where the method is not known here."""
    temperature: bool = False


@dataclass(frozen=True, eq=False)
class TunedMethod:
    """A method as it was tuned: its trials on one backbone, at what was given and not drawn."""

    recipe: str
    rule: Mapping[str, Any]
    """The recipe's tuning section, as it was."""
    setup: Setup | None
    trials: Sequence["Trial"]
    """In the order of their numbers; not empty."""
    label: str = ""
    """The method's title, and what tells it from others on its page."""

    @property
    def key(self) -> tuple[str, ...]:
        """Identifies it in a folder."""
        return self.recipe, self.backbone, *map(str, self.trials[0].subject)

    @property
    def backbone(self) -> str:
        """As the recipe calls it."""
        return self.trials[0].backbone

    @property
    def method(self) -> str:
        """The method's name."""
        return self.trials[0].method.name

    @property
    def setup_id(self) -> str:
        """Of the recipe with its tuning protocols."""
        return self.trials[0].setup_id

    @property
    def fixed(self) -> Mapping[str, Any]:
        """Hyper-parameters that were given."""
        return self.trials[0].fixed

    @property
    def finished(self) -> Mapping[int, float]:
        """Scores of the trials that did not fail, by number."""
        return {trial.number: trial.score for trial in self.trials if trial.score is not None}

    @property
    def failed(self) -> int:
        """How many have none."""
        return len(self.trials) - len(self.finished)

    @property
    def chosen(self) -> "Trial | None":
        """The trial with the best score; of equal ones the first. None if all failed."""
        scores = self.finished
        finished = [trial for trial in self.trials if trial.number in scores]
        return max(finished, key=lambda trial: (scores[trial.number], -trial.number), default=None)

    @cached_property
    def measure(self) -> Measure:
        """A metric of a task is a fraction; what no task here declares is taken for any number."""
        name = str(self.rule.get("measure", ""))
        protocol, _, metric = name.rpartition(".")
        known = self.setup.protocols.get(protocol) if self.setup else None
        declared = tasks.card(known.task).about.get("metrics", ()) if known and known.task in tasks else ()
        within = all(0 <= score <= 1 for score in self.finished.values())
        return Measure(name, "percent" if within and metric in declared else "number")

    @cached_property
    def scores(self) -> Sequence[float]:
        """Of all trials."""
        lowest, _ = self.measure.ends
        return [lowest if trial.score is None else trial.score for trial in self.trials]

    @cached_property
    def curve(self) -> TuningCurve:
        """For 1 to all trials."""
        return tuning_curve(self.scores, range(1, len(self.trials) + 1), *self.measure.ends)

    @property
    def cpu_seconds(self) -> float | None:
        """Of all trials that say so."""
        known = [float(t.cost["cpu_seconds"]) for t in self.trials if t.cost.get("cpu_seconds") is not None]
        return math.fsum(known) if known else None

    @cached_property
    def drawn(self) -> list[DrawnNumber]:
        """The numbers that differ between trials: temperatures, then the learning rate, then the others."""
        card = methods.card(self.method) if self.method in methods else None
        fields = {field.name: field for field in card.fields} if card else {}
        factor = self.setup.temperature_factor if self.setup else 1.0
        names = dict.fromkeys(name for trial in self.trials for name in trial.method.hyperparameters)
        found = []
        for name in names:
            values = _numbers({t.number: t.method.hyperparameters.get(name) for t in self.trials})
            field = fields.get(name)
            warm = field.type in TEMPERATURES if field else name.startswith("tau")
            default = _numbers({0: field.default}).get(0) if field else None
            found.append(DrawnNumber(name, values, default * factor if warm and default is not None else default, warm))
        rates = _numbers({t.number: t.method.learning_rate for t in self.trials})
        found.append(DrawnNumber(RATE, rates, self.setup.optimizer.lr if self.setup else None))
        varied = [one for one in found if len(set(one.values.values())) > 1]
        return sorted(varied, key=lambda one: (not one.temperature, one.name != RATE))

    @property
    def digest(self) -> str:
        """By which a run names the trials that it was tuned by."""
        from benchsuite.records.trials import trials_digest

        return trials_digest(self.trials)

    @property
    def current(self) -> bool:
        """Whether the method is still at this version."""
        return version_state(self.trials[0].method) == "current"

    @property
    def complete(self) -> bool:
        """Whether it has as many trials as the rule says."""
        return len(self.trials) == self.rule.get("trials")


def subjects(
    files: Mapping[str, "TrialsFile"],
) -> dict[tuple[str, str], list[TunedMethod]]:
    """Everything that was tuned, by recipe and backbone; the reference first, the others by their labels."""
    pages: dict[tuple[str, str], list[TunedMethod]] = {}
    for recipe, file in sorted(files.items()):
        groups: dict[tuple[str | int, ...], list[Trial]] = {}
        for trial in sorted(file.trials, key=lambda trial: (trial.backbone, trial.number)):
            groups.setdefault((trial.backbone, *trial.subject), []).append(trial)
        for trials in groups.values():
            one = TunedMethod(recipe, file.rule, file.setups.get(trials[0].setup_id), trials)
            pages.setdefault((recipe, one.backbone), []).append(one)
    return {page: _labelled(found) for page, found in pages.items()}


def reference_of(subject: TunedMethod, others: Sequence[TunedMethod]) -> TunedMethod | None:
    """InfoNCE (SimCLR for one tower) as tuned under the same setup; of several the current version, most trials."""
    if subject.setup is None:
        return None
    name = REFERENCES[subject.setup.towers]
    found = [one for one in others if one.method == name and one.setup_id == subject.setup_id and not one.fixed]
    return max(found, key=lambda one: (one.current, len(one.trials), one.key), default=None)


def _labelled(found: Sequence[TunedMethod]) -> list[TunedMethod]:
    """With labels: what is fixed, and where that leaves equal ones, version and setup."""
    alike = [(one.trials[0].method.title, json.dumps(one.fixed, sort_keys=True)) for one in found]
    named = []
    for one, name in zip(found, alike, strict=True):
        details = [f"{key}={value}" for key, value in one.fixed.items()]
        if alike.count(name) > 1:
            details += [one.method, f"version {one.trials[0].method.version}", f"setup {one.setup_id[:8]}"]
        title = one.trials[0].method.title
        named.append(replace(one, label=f"{title} ({', '.join(details)})" if details else title))
    first = {reference.key for one in named if (reference := reference_of(one, named))}
    return sorted(named, key=lambda one: (one.key not in first, one.label, one.key))


def _numbers(values: Mapping[int, Any]) -> dict[int, float]:
    return {
        key: float(value)
        for key, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
