"""The regression gate's runs: every method for seconds, beside its reference, in one process."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchsuite.analysis.regression import Check, Expectations, Expected, Found, check_collapsed, check_method
from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.experiments.evaluate import evaluate, opened
from benchsuite.experiments.measure import measure
from benchsuite.experiments.plan import plan_run
from benchsuite.experiments.recipe import read_recipe
from benchsuite.experiments.resolve import resolve_setup
from benchsuite.methods import create_method
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.tokenizer import words_for
from benchsuite.paths import baselines
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES, Setup, Towers

SEEDS, NOISE_SEEDS, FIRST = 2, 5, 3
"""Seeds the gate runs, seeds whose spread is the noise, and steps whose losses and gradients are compared."""


@dataclass(frozen=True)
class Track:
    """Towers that methods are tried on, and what is read of them."""

    towers: Towers
    recipe: str
    backbone: str
    metrics: tuple[str, ...]

    @property
    def reference(self) -> str:
        """What its methods are compared with."""
        return REFERENCES[self.towers]

    def setup(self) -> Setup:
        """What all its methods are run under."""
        return resolve_setup(read_recipe(self.recipe), self.backbone)


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

    def __init__(self, told: Told = lambda line: None) -> None:
        torch.set_num_threads(1)
        self._told = told
        self._records: dict[tuple[str, int], Record] = {}
        self._unit: list[float] = []

    def found(self, name: str, seeds: int) -> Found:
        """What a method gives now."""
        try:
            track = track_of(name)
            records = [self._record(track, name, seed) for seed in range(seeds)]
            base = [self._record(track, track.reference, seed) for seed in range(seeds)]
            return Found(
                loss=[_first(record, "loss") for record in records],
                gradient_norm=[_first(record, "gradient_norm") for record in records],
                differences={
                    metric: [
                        ours.metric(metric) - (0.0 if name == track.reference else theirs.metric(metric))
                        for ours, theirs in zip(records, base, strict=True)
                    ]
                    for metric in track.metrics
                },
                cost=statistics.median(float(r.cost["cpu_seconds"]) for r in records) / self._reference_seconds(),
            )
        except UsageError:
            raise
        except BenchsuiteError as error:
            return Found(crash=str(error))
        except Exception as error:
            return Found(crash=f"{type(error).__name__}: {error}")

    def _record(self, track: Track, name: str, seed: int) -> Record:
        key = (f"{track.towers}/{name}", seed)
        if key not in self._records:
            self._told(f"{name}, seed {seed}")
            record, _ = measure(plan_run(name, track.recipe, track.backbone, seed, {}))
            self._records[key] = record
        return self._records[key]

    def _reference_seconds(self) -> float:
        """Of the first track's reference in this process; measured anew now and then, since machines change pace."""
        first = TRACKS[0]
        if len(self._records) >= 12 * len(self._unit):
            record, _ = measure(plan_run(first.reference, first.recipe, first.backbone, 0, {}))
            self._unit.append(float(record.cost["cpu_seconds"]))
        return statistics.median(self._unit)


def track_of(name: str) -> Track:
    """Where a method is tried."""
    serves = create_method(name, num_samples=1).serves
    return next(track for track in TRACKS if track.towers in serves)


def collapsed(track: Track) -> dict[str, float]:
    """What the track's protocols say of towers whose weights are all zero, so that everything is tied."""
    setup = track.setup()
    dataset = opened(setup.data)
    words = words_for(setup.text, setup.data, dataset.split("train")) if setup.text else None
    encoder = seeded_encoder(setup, words.size if words else 0, 0)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
    wanted = {metric.rpartition(".")[0] for metric in track.metrics}
    scores = evaluate(encoder, words, setup, dataset, {name: setup.protocols[name] for name in wanted})
    return {f"{name}.{key}": value for name, one in scores.items() for key, value in sorted(one.metrics.items())}


def gate(expectations: Expectations, names: Sequence[str], told: Told) -> Iterator[Check]:
    """Every check of these methods and of the evaluation."""
    bench = Bench(told)
    for track in TRACKS:
        setup_id = track.setup().setup_id
        if setup_id != expectations.setups.get(track.towers):
            raise UsageError(
                f"recipe {track.recipe} is another setup ({setup_id}) than the one expectations are stored for "
                f"({expectations.setups.get(track.towers)}): look at the change, then `benchsuite regress --update`."
            )
        yield from check_collapsed(track.towers, expectations.collapsed.get(track.towers, {}), collapsed(track))
    for name in names:
        if name not in expectations.methods:
            yield Check(
                name, "expectations", "measured nothing", found="none are stored: `benchsuite regress --update`"
            )
            continue
        found = bench.found(name, expectations.seeds)
        yield from check_method(name, expectations.methods[name], found, expectations.seeds)


def expect(names: Iterable[str], told: Told) -> Expectations:
    """New expectations, from runs now."""
    bench = Bench(told)
    found = {name: bench.found(name, NOISE_SEEDS) for name in names}
    if broken := {name: one.crash for name, one in found.items() if one.crash}:
        name, why = next(iter(broken.items()))
        raise UsageError(f"{name} crashed, so nothing can be expected of it: {why}")
    return Expectations(
        seeds=SEEDS,
        setups={track.towers: track.setup().setup_id for track in TRACKS},
        references={track.towers: track.reference for track in TRACKS},
        methods={name: _expected(name, one) for name, one in found.items()},
        collapsed={track.towers: collapsed(track) for track in TRACKS},
    )


def _expected(name: str, found: Found) -> Expected:
    return Expected(
        track=track_of(name).towers,
        loss=[[float(f"{v:.8g}") for v in one] for one in found.loss[:SEEDS]],
        gradient_norm=[[float(f"{v:.8g}") for v in one] for one in found.gradient_norm[:SEEDS]],
        differences={metric: [round(v, 6) for v in some] for metric, some in (found.differences or {}).items()},
        cost=round(found.cost, 3),
    )


def _first(record: Record, curve: str) -> list[float]:
    return [float("nan") if value is None else value for value in record.curves[curve][:FIRST]]


def gated() -> list[str]:
    """The built-in methods, references first."""
    references = [track.reference for track in TRACKS]
    own = [name for name in methods if methods.card(name).owner.startswith("benchsuite.")]
    return [*references, *(name for name in own if name not in references)]


def stored_file() -> Path:
    """Where expectations are kept."""
    return baselines() / "regression" / "expected.json"
