"""The regression gate's runs: every method for seconds, beside its reference, in one process."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchsuite.analysis.regression import (
    FIRST,
    Check,
    Expectations,
    Expected,
    Found,
    check_batches,
    check_collapsed,
    check_cost,
    check_method,
)
from benchsuite.data.batches import BatchPlan
from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.experiments.evaluate import evaluate, opened
from benchsuite.experiments.measure import TRAIN, measure
from benchsuite.experiments.plan import plan_under
from benchsuite.experiments.recipe import Recipe, read_recipe
from benchsuite.experiments.resolve import resolve_setup
from benchsuite.methods import create_method, method_class
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.tokenizer import words_for
from benchsuite.paths import baselines
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES, Schedule, Setup, Towers

SEEDS, NOISE_SEEDS = 2, 5
"""Seeds the gate runs, and seeds whose spread is the noise."""
PACE, REPEATS = 12, 3
"""Runs after which the reference's cost is measured anew, and how often a cost that looks wrong is.

Other work on the machine moves CPU times by a third either way for a while; the cost nearest to the expected counts.
"""
STILL_RATE = 1e-9
NOT_ITS_OWN = {"step", "lr", "gap"}
"""Curves that are the loop's and not the method's."""
LIVELY: Mapping[str, Mapping[str, Any]] = {
    name: {"p": 0.5} for name in ("gap-hard-swap", "gap-hard-swap-feature", "gap-soft-swap")
}
"""Hyper-parameters for methods that by default do what is theirs in too few steps for a short run to see it."""


@dataclass(frozen=True)
class Track:
    """Towers that methods are tried on, and what is read of them.

    The recipe is cut down so that what methods remember shows: of so few pictures each is met again from the third step
    on. There are fewer steps, and no protocols but the metrics'. On still towers, whose learning rate is next to
    nothing, a few steps go through the whole of a schedule and meet every picture several times, and rounding does not
    grow.
    """

    towers: Towers
    recipe: str
    backbone: str
    metrics: tuple[str, ...]
    pictures: int = 128
    steps: int = 16
    still_steps: int = 8

    @property
    def protocols(self) -> set[str]:
        """Where its metrics come from."""
        return {metric.rpartition(".")[0] for metric in self.metrics}

    def cut(self, still: bool = False) -> Recipe:
        """The recipe, cut down."""
        whole = read_recipe(self.recipe)
        few = {"options": {**whole.data.options, "train": self.pictures}}
        changes = {
            "data": whole.data.model_copy(update=few),
            "training": whole.training.model_copy(update={"steps": self.still_steps if still else self.steps}),
            "protocols": {name: one for name, one in whole.protocols.items() if name in self.protocols},
        }
        if still:
            changes["optimizer"] = whole.optimizer.model_copy(update={"lr": STILL_RATE})
            changes["schedule"] = Schedule(final_lr=STILL_RATE)
        return whole.model_copy(update=changes)

    @property
    def reference(self) -> str:
        """What its methods are compared with."""
        return REFERENCES[self.towers]

    def setup(self, still: bool = False) -> Setup:
        """What all its methods are run under."""
        return resolve_setup(self.cut(still), self.backbone)

    @property
    def setups(self) -> dict[str, str]:
        """The identities of both setups."""
        return {self.towers: self.setup().setup_id, f"{self.towers}, still": self.setup(still=True).setup_id}


TRACKS = (
    Track("pair", "scenes-smoke", "RN50", ("retrieval.r_mean", "zero-shot-colour.top1")),
    Track("image", "scenes-image-smoke", "ResNet-18", ("knn-colour.top1",)),
)
"""Methods are tried on the first track that they serve. Costs are multiples of the first reference's."""

Told = Callable[[str], None]


class Bench:
    """Runs methods in this process, on one thread, and remembers their references' records.

    One thread: sums come out in one order on any number of cores, and costs do not depend on who else is at work.
    """

    def __init__(self, told: Told = lambda line: None, pace: int = PACE) -> None:
        torch.set_num_threads(1)
        self._told, self._pace = told, pace
        self._records: dict[tuple[str, int], Record] = {}
        self._unit: list[float] = []

    def found(self, name: str, seeds: int) -> Found:
        """What a method gives now."""
        try:
            track = track_of(name)
            records = [self._record(track, name, seed) for seed in range(seeds)]
            still = self._measured(track, name, 0, still=True)
            base = [self._record(track, track.reference, seed) for seed in range(seeds)]
            return Found(
                curves={curve: [_values(r, curve)[:FIRST] for r in records] for curve in _curves(records[0])},
                still={curve: _values(still, curve) for curve in _curves(still)},
                differences={
                    metric: [
                        ours.metric(metric) - (0.0 if name == track.reference else theirs.metric(metric))
                        for ours, theirs in zip(records, base, strict=True)
                    ]
                    for metric in track.metrics
                },
                cost=min(map(_seconds, records)) / self._reference_seconds(),
            )
        except BenchsuiteError as error:
            return Found(crash=str(error))
        except Exception as error:
            return Found(crash=f"{type(error).__name__}: {error}")

    def cost(self, name: str) -> float:
        """What a method costs as a multiple of the first track's reference, both run now, one after the other."""
        first, track = TRACKS[0], track_of(name)
        unit = _seconds(self._measured(first, first.reference, 0))
        return _seconds(self._measured(track, name, 0)) / unit

    def _record(self, track: Track, name: str, seed: int) -> Record:
        key = (f"{track.towers}/{name}", seed)
        if key not in self._records:
            self._told(f"{name}, seed {seed}")
            self._records[key] = self._measured(track, name, seed)
        return self._records[key]

    def _measured(self, track: Track, name: str, seed: int, still: bool = False) -> Record:
        options = {**method_class(name).miniature, **LIVELY.get(name, {})}
        record, _ = measure(plan_under(track.cut(still), name, track.backbone, seed, options))
        return record

    def _reference_seconds(self) -> float:
        """Of the first track's reference in this process; measured anew now and then, since machines change pace."""
        first = TRACKS[0]
        if len(self._records) >= self._pace * len(self._unit):
            self._unit += [_seconds(self._measured(first, first.reference, 0))]
        return min(self._unit[-2:])


def track_of(name: str) -> Track:
    """Where a method is tried."""
    serves = create_method(name, num_samples=1).serves
    if found := next((track for track in TRACKS if track.towers in serves), None):
        return found
    raise UsageError(f"{name} serves {', '.join(sorted(serves))}; the gate has {', '.join(t.towers for t in TRACKS)}.")


def batches(track: Track, seeds: int) -> list[str]:
    """A digest of the track's first draws, by seed."""
    setup = track.setup()
    split = opened(setup.data).split(TRAIN)
    return [BatchPlan(split, setup.training.batch, setup.augmentation, seed).digest() for seed in range(seeds)]


def collapsed(track: Track) -> dict[str, float]:
    """What the track's protocols say of towers whose weights are all zero, so that everything is tied."""
    setup = track.setup()
    dataset = opened(setup.data)
    words = words_for(setup.text, setup.data, dataset.split(TRAIN)) if setup.text else None
    encoder = seeded_encoder(setup, words.size if words else 0, 0)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
    scores = evaluate(encoder, words, setup, dataset)
    return {f"{name}.{key}": value for name, one in scores.items() for key, value in sorted(one.metrics.items())}


def gate(expectations: Expectations, names: Sequence[str], told: Told) -> Iterator[Check]:
    """Every check of these methods and of the evaluation."""
    bench = Bench(told)
    for track in TRACKS:
        for part, setup_id in track.setups.items():
            if setup_id != expectations.setups.get(part):
                raise UsageError(
                    f"recipe {track.recipe} is another setup ({part}: {setup_id}) than the one expectations are stored "
                    f"for ({expectations.setups.get(part)}): look at the change, then `benchsuite regress --update`."
                )
        yield from check_batches(
            track.towers, expectations.batches.get(track.towers, []), batches(track, expectations.seeds)
        )
        yield from check_collapsed(track.towers, expectations.collapsed.get(track.towers, {}), collapsed(track))
    for name in names:
        if name not in expectations.methods:
            yield Check(
                name, "expectations", "measured nothing", found="none are stored: `benchsuite regress --update`"
            )
            continue
        expected, found = expectations.methods[name], bench.found(name, expectations.seeds)
        for _ in range(REPEATS):
            if check_cost(name, expected.cost, found.cost).kind in ("regressed", "improved"):
                costs = (found.cost, bench.cost(name))
                found = replace(found, cost=min(costs, key=lambda cost: abs(math.log(cost / expected.cost))))
        yield from check_method(name, expected, found, expectations.seeds)


def expect(names: Iterable[str], told: Told) -> Expectations:
    """New expectations, from runs now."""
    bench = Bench(told, pace=NOISE_SEEDS)
    found = {}
    for name in names:
        found[name] = bench.found(name, NOISE_SEEDS)
        if why := found[name].crash:
            raise UsageError(f"{name} crashed, so nothing can be expected of it: {why}")
    return Expectations(
        seeds=SEEDS,
        setups={part: setup_id for track in TRACKS for part, setup_id in track.setups.items()},
        references={track.towers: track.reference for track in TRACKS},
        batches={track.towers: batches(track, SEEDS) for track in TRACKS},
        methods={name: _expected(name, one) for name, one in found.items()},
        collapsed={track.towers: collapsed(track) for track in TRACKS},
    )


def _expected(name: str, found: Found) -> Expected:
    return Expected(
        track=track_of(name).towers,
        curves={curve: [[*map(_digits, one)] for one in some[:SEEDS]] for curve, some in found.curves.items()},
        still={curve: [*map(_digits, one)] for curve, one in found.still.items()},
        differences={metric: [round(v, 6) for v in some] for metric, some in found.differences.items()},
        cost=round(found.cost, 3),
    )


def _seconds(record: Record) -> float:
    return float(record.cost["cpu_seconds"])


def _curves(record: Record) -> list[str]:
    return [curve for curve in record.curves if curve not in NOT_ITS_OWN]


def _values(record: Record, curve: str) -> list[float]:
    return [float("nan") if value is None else value for value in record.curves[curve]]


def _digits(value: float) -> float:
    return float(f"{value:.8g}")


def gated() -> list[str]:
    """The built-in methods, references first."""
    references = [track.reference for track in TRACKS]
    own = [name for name in methods if methods.card(name).owner.startswith("benchsuite.")]
    return [*references, *(name for name in own if name not in references)]


def stored_file() -> Path:
    """Where expectations are kept."""
    return baselines() / "regression" / "expected.json"
