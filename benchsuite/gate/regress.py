"""The regression gate's runs: a few seconds of every method and its reference, in one process."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError

from benchsuite.data.batches import BatchPlan
from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.execution.evaluate import evaluate, opened
from benchsuite.execution.measure import TRAIN, eight_digits, measure
from benchsuite.files import write_whole
from benchsuite.gate.arithmetic import NOTICEABLE, arithmetic
from benchsuite.gate.decision import (
    FIRST,
    Check,
    Expectations,
    Expected,
    Observed,
    check_batches,
    check_collapsed,
    check_method,
)
from benchsuite.methods import create_method, method_class
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.vectors import text_reader
from benchsuite.paths import baselines
from benchsuite.planning.plan import plan_under
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.resolve import resolve_setup
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES, Setup, Towers

SEEDS, NOISE_SEEDS = 2, 5
"""Seeds the gate runs, and seeds whose spread is the noise."""
SHARED_CURVES = {"step", "lr", "gap"}
"""Curves of the training loop, not of the method."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Track:
    """Towers that methods are tried on, and which metrics are compared.

    The recipe is cut down. With so few images, each comes back from the third step on, so that state for each
    sample matters. There are fewer steps, and only the protocols of the metrics.
    """

    towers: Towers
    recipe: str
    backbone: str
    metrics: tuple[str, ...]
    images: int = 128
    steps: int = 16

    def cut(self) -> Recipe:
        """The recipe, cut down."""
        whole = read_recipe(self.recipe)
        protocols = {metric.rpartition(".")[0] for metric in self.metrics}
        few = {"options": {**whole.data.options, "train": self.images}}
        changes = {
            "data": whole.data.model_copy(update=few),
            "training": whole.training.model_copy(update={"steps": self.steps}),
            "protocols": {name: whole.protocols[name] for name in whole.protocols if name in protocols},
        }
        return whole.model_copy(update=changes)

    @property
    def reference(self) -> str:
        """What its methods are compared with."""
        return REFERENCES[self.towers]

    @property
    def setup(self) -> Setup:
        """What all its methods are run under."""
        return resolve_setup(self.cut(), self.backbone)


TRACKS = (
    Track("pair", "scenes-smoke", "RN50", ("retrieval.r_mean", "zero-shot-colour.top1")),
    Track("image", "scenes-image-smoke", "ResNet-18", ("knn-colour.top1",)),
)
"""Methods are tried on the first track that they serve. Costs are multiples of the first reference's."""


class Bench:
    """Runs methods in this process, on one thread, and keeps the records.

    One thread: sums have the same order on any number of cores.
    """

    def __init__(self, progress: Progress) -> None:
        torch.set_num_threads(1)
        self._progress = progress
        self._records: dict[tuple[Track, str, int], Record] = {}

    def observe(self, name: str, seeds: int) -> Observed:
        """The values of a method now."""
        try:
            track = track_of(name)
            values = arithmetic(name)
            ours = [self._record(track, name, seed) for seed in range(seeds)]
            theirs = [self._record(track, track.reference, seed) for seed in range(seeds)]
            curves = [curve for curve in ours[0].curves if curve not in SHARED_CURVES]
            return Observed(
                arithmetic=values,
                curves={curve: [_values(record, curve)[:FIRST] for record in ours] for curve in curves},
                differences={
                    metric: [
                        our.metric(metric) - (0.0 if name == track.reference else their.metric(metric))
                        for our, their in zip(ours, theirs, strict=True)
                    ]
                    for metric in track.metrics
                },
                version=methods.card(name).version,
            )
        except BenchsuiteError as error:
            return Observed(crash=str(error))
        except Exception as error:
            return Observed(crash=f"{type(error).__name__}: {error}")

    def _record(self, track: Track, name: str, seed: int) -> Record:
        key = (track, name, seed)
        if key not in self._records:
            self._progress(f"{name}, seed {seed}")
            self._records[key] = _run(track, name, seed)
        return self._records[key]


def gate(expectations: Expectations, names: Sequence[str], progress: Progress) -> Iterator[Check]:
    """Every check of these methods and of the evaluation."""
    bench = Bench(progress)
    for track in TRACKS:
        setup_id, expected_id = track.setup.setup_id, expectations.setups.get(track.towers)
        if setup_id != expected_id:
            raise UsageError(
                f"recipe {track.recipe} has setup {setup_id}, but expectations are stored for {expected_id}. "
                "Review the change, then run `benchsuite regress --update`."
            )
        stored = expectations.batches.get(track.towers, [])
        yield from check_batches(track.towers, stored, batches(track, expectations.seeds))
        yield from check_collapsed(track.towers, expectations.collapsed.get(track.towers, {}), collapsed(track))
    for name in names:
        if name not in expectations.methods:
            yield Check(
                name, "expectations", "measured nothing", found="none stored; run `benchsuite regress --update`"
            )
            continue
        expected, observed = expectations.methods[name], bench.observe(name, expectations.seeds)
        yield from check_method(name, expected, observed, expectations.seeds)


def expect(names: Iterable[str], progress: Progress) -> Expectations:
    """New expectations, from runs now."""
    bench = Bench(progress)
    expected = {}
    for name in names:
        observed = bench.observe(name, NOISE_SEEDS)
        if observed.crash:
            raise UsageError(f"{name} crashed, so its expectations cannot be stored: {observed.crash}")
        expected[name] = _expected(name, observed)
    return Expectations(
        seeds=SEEDS,
        setups={track.towers: track.setup.setup_id for track in TRACKS},
        batches={track.towers: batches(track, SEEDS) for track in TRACKS},
        methods=expected,
        collapsed={track.towers: collapsed(track) for track in TRACKS},
    )


def track_of(name: str) -> Track:
    """The track a method runs on."""
    serves = create_method(name, num_samples=1).serves
    if track := next((track for track in TRACKS if track.towers in serves), None):
        return track
    raise UsageError(f"{name} serves {', '.join(sorted(serves))}; the gate has {', '.join(t.towers for t in TRACKS)}.")


def batches(track: Track, seeds: int) -> list[str]:
    """A digest of the track's first batches, by seed."""
    setup = track.setup
    split = opened(setup.data).split(TRAIN)
    return [BatchPlan(split, setup.training.batch, setup.augmentation, seed).digest() for seed in range(seeds)]


def collapsed(track: Track) -> dict[str, float]:
    """The track's metrics of encoders whose weights are all zero, so that all similarities are tied."""
    setup = track.setup
    dataset = opened(setup.data)
    words = text_reader(setup, dataset.split(TRAIN))
    encoder = seeded_encoder(setup, words.size if words else 0, 0)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
    results = evaluate(encoder, words, setup, dataset)
    return {f"{name}.{key}": scores.metrics[key] for name, scores in results.items() for key in sorted(scores.metrics)}


def gated() -> list[str]:
    """The built-in methods, references first."""
    references = [track.reference for track in TRACKS]
    own = [name for name in methods if methods.card(name).built_in]
    return [*references, *(name for name in own if name not in references)]


def expectations_file() -> Path:
    """Where expectations are kept."""
    return baselines() / "regression" / "expected.json"


def read_expectations() -> Expectations | None:
    """The stored expectations, if there are any."""
    file = expectations_file()
    if not file.exists():
        return None
    try:
        return Expectations.model_validate_json(file.read_text("utf-8"))
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"{file}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from error


def write_expectations(expectations: Expectations) -> None:
    """Store them with a line for each list of values, so that a diff shows what changed."""
    text = json.dumps(expectations.model_dump(), indent=1, sort_keys=True)
    lines = re.sub(r"\[\s+([^][]*?)\s+\]", lambda values: f"[{' '.join(values[1].split())}]", text)
    write_whole(expectations_file(), f"{lines}\n".encode())


def _run(track: Track, name: str, seed: int) -> Record:
    options = {**method_class(name).miniature, **NOTICEABLE.get(name, {})}
    return measure(plan_under(track.cut(), name, track.backbone, seed, options))[0]


def _expected(name: str, observed: Observed) -> Expected:
    return Expected(
        track=track_of(name).towers,
        version=observed.version,
        arithmetic={
            towers: {curve: [*map(eight_digits, values)] for curve, values in curves.items()}
            for towers, curves in observed.arithmetic.items()
        },
        curves={
            curve: [[*map(eight_digits, values)] for values in by_seed[:SEEDS]]
            for curve, by_seed in observed.curves.items()
        },
        differences={metric: [round(v, 6) for v in values] for metric, values in observed.differences.items()},
    )


def _values(record: Record, curve: str) -> list[float]:
    return [float("nan") if value is None else value for value in record.curves[curve]]
