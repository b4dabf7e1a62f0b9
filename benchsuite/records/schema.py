"""The record of a run, schema version 1: what docs/formats.md describes key by key."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from annotated_types import Ge
from pydantic import Field, ValidationInfo, field_validator, model_validator

from benchsuite.canonical import digest, short_digest
from benchsuite.fields import Count, Positive
from benchsuite.parts import NOTHING, Part
from benchsuite.setup import Data, Setup, stored_setup

SCHEMA = 1
LARGEST = 3.5e38
"""No number of a run is larger: methods compute in single precision. Sums and differences of such are finite."""
FIRST_SEED = 1000
"""Seed of trial 0 of replicate 0. Reported runs have lower seeds, their replicates' numbers."""
SEEDS_EACH = 1000
"""Seeds of the trials of one replicate."""
ALWAYS_READ = ("initial_weights", "batches", "data")
"""Digests that every run has."""
PARAPHRASES = "paraphrases"
READ_BY_SOME = {PARAPHRASES: "", "clusters": "clusters", "image_expert": "experts.image", "text_expert": "experts.text"}
"""Digests that only a run has whose method reads these, and their parts of the setup."""
UNSEALED = {"unsealed": True}
"""Validation context of a record whose digest is still to be computed."""
UNCHECKED = {"unchecked": True}
"""Validation context of a file that is parsed to list all its problems."""


class MethodPart(Part):
    """Which method, with every hyper-parameter as used (the recipe's temperature factor applied)."""

    name: str
    title: str
    version: Count
    hyperparameters: dict[str, Any]
    code: str
    """Digest of the file that defines the method: information, and no part of any identity."""
    owner: str
    """The module, or the name of the user's file without its folder."""
    learning_rate: Positive | None = None
    """The row's own peak learning rate, if it was tuned; the setup's otherwise."""
    longer: Positive = 1.0
    """How many times the setup's steps it trains: above 1 for the reference given a dearer method's compute."""

    @property
    def method_id(self) -> str:
        """Identity: name, version, hyper-parameters, and what the row has of its own in place of the setup's."""
        own = {"learning_rate": self.learning_rate} if self.learning_rate else {}
        own |= {"longer": self.longer} if self.longer != 1 else {}
        method = {"name": self.name, "version": self.version, "hyperparameters": self.hyperparameters}
        return short_digest({**method, **own})


class TunedBy(Part):
    """The trials by which a run's hyper-parameters were chosen."""

    trials: Count
    """How many there were."""
    trial: Annotated[int, Ge(0)]
    """The number of the chosen one."""
    score: float
    """Its score on the validation split."""
    digest: str
    """Of all of them: of their run_ids in order."""
    searched: list[str] = []
    """The hyper-parameters that the trials drew; none where they drew the learning rate alone."""


def searches_of(done: Any) -> dict[tuple[int, tuple[str, ...]], TunedBy]:
    """Those that found a run, done or to be done, by how many trials of what: several may have the same best."""
    return {(one.trials, tuple(sorted(one.searched))): one for one in (done.tuned, *done.also_tuned) if one}


def knows(record: Any, run: Any) -> bool:
    """Whether the record names all searches that found the run."""
    return searches_of(run).keys() <= searches_of(record).keys()


def of_each_search(done: Any) -> list[Any]:
    """It once for each search that found it, as if there was no other."""
    each = searches_of(done).values()
    return [done.model_copy(update={"tuned": one, "also_tuned": []}) for one in each] if done.also_tuned else [done]


class Result(Part):
    """One protocol's outcome: metrics are fractions, measures any numbers, counts are numbers of queries."""

    task: str
    version: int
    metrics: dict[str, float]
    counts: dict[str, int]
    measures: dict[str, float] = {}
    """Numbers that are not fractions: distances, median ranks."""
    split_size: int | None = None
    """Items in the evaluated split, by the dataset's manifest; none where the protocol names no split."""


class Resumption(Part):
    """A training that was stopped and went on from a checkpoint."""

    step: Count
    """How many steps were done."""
    from_processes: Count
    """How many processes had trained before."""
    to_processes: Count
    """How many went on: if they are others, the numbers differ from those of a run never stopped by rounding."""


class StoredNumber(NamedTuple):
    """One number of a run, as a row of a data frame has it."""

    protocol: str
    task: str
    metric: str
    kind: Literal["metric", "measure"]
    value: float


class Sidecar(Part):
    """The file of ranks beside the record."""

    file: str
    sha256: str


class Record(Part):
    """A finished run. Never edited; `digest` covers everything else in it."""

    record_schema: Literal[1] = Field(alias="schema")
    run_id: str
    setup_id: str
    method_id: str
    seed: int
    method: MethodPart
    setup: Setup
    results: dict[str, Result]
    curves: dict[str, list[float | None]]
    cost: dict[str, Any]
    digests: dict[str, str]
    environment: dict[str, Any]
    created: str
    ranks: Sidecar
    digest: str
    tuned: TunedBy | None = None
    """How its hyper-parameters were tuned; none where they are as printed. No part of any identity."""
    also_tuned: list[TunedBy] = []
    """Other searches that found the same. Absent from the file, and from the digest, if there are none."""
    recipe: str = ""
    """The recipe's name, for readers: it is no part of any identity. Empty where it has none."""
    resumptions: list[Resumption] = []
    """Where the training went on from a checkpoint. Absent from the file, and from the digest, if it did nowhere."""
    weights: Sidecar | None = None
    """The trained towers in the folder `weights`; none where they were not kept. No part of any identity."""

    @property
    def configuration(self) -> tuple[str, ...]:
        """What the replicates of a row share on a board: the row, and what it reads that other methods do not."""
        return self.row_id, *(f"{name} {digest}" for name, digest in self.read.items())

    @property
    def read(self) -> dict[str, str]:
        """Digests of what it reads that other methods do not; none where each replicate has data of its own."""
        own = self.setup.data.redrawn
        return {name: self.digests[name] for name in READ_BY_SOME if name in self.digests and not own}

    @property
    def row_id(self) -> str:
        """What the replicates of a row share: the method but for what each one searches for itself."""
        return row_id(self.method, self.tuned.searched, self.tuned.trials) if self.tuned else self.method_id

    @property
    def unread(self) -> frozenset[str]:
        """The parts of its setup that the run did not read."""
        return frozenset(part for name, part in READ_BY_SOME.items() if part and name not in self.digests)

    def numbers(self) -> Iterator[StoredNumber]:
        """All numbers of the run."""
        for name, result in self.results.items():
            for metric, value in result.metrics.items():
                yield StoredNumber(name, result.task, metric, "metric", value)
            for metric, value in result.measures.items():
                yield StoredNumber(name, result.task, metric, "measure", value)

    def values(self) -> dict[str, float]:
        """By "protocol.metric"."""
        return {f"{number.protocol}.{number.metric}": number.value for number in self.numbers()}

    def value(self, measure: str) -> float | None:
        """That of "protocol.metric"; none where the run did not measure it."""
        protocol, _, metric = measure.rpartition(".")
        if not (result := self.results.get(protocol)):
            return None
        return result.measures.get(metric, result.metrics.get(metric))

    @classmethod
    def seal(cls, **content: Any) -> Self:
        """A record from its content, with identities and digest filled in; refused if it contradicts itself."""
        setup_id, method_id = content["setup"].setup_id, content["method"].method_id
        run = run_id(
            setup_id, method_id, content["seed"], uncovered(content["setup"].data, content["digests"].get(PARAPHRASES))
        )
        ids = {"setup_id": setup_id, "method_id": method_id, "run_id": run}
        unsealed = cls.model_validate({"schema": SCHEMA, **content, **ids, "digest": ""}, context=UNSEALED)
        plain = unsealed.as_json()
        return cls.model_validate({**plain, "digest": content_digest(plain)})

    @classmethod
    def unchecked(cls, content: Mapping[str, Any]) -> Self:
        """A record from a file without checks of seal and contradictions, to list all problems."""
        return cls.model_validate(content, context=UNCHECKED)

    def as_json(self) -> dict[str, Any]:
        """Plain data, as stored: of a sealed record what it was sealed with, without what a setup has had since."""
        content = self.model_dump(mode="json", by_alias=True, exclude_unset=bool(self.digest))
        absent = {name for name in ("also_tuned", "resumptions", "weights") if not getattr(self, name)}
        return {name: part for name, part in content.items() if name not in absent}

    def contradictions(self) -> Iterator[str]:
        setup_id, method_id = self.setup.setup_id, self.method.method_id
        if setup_id != self.setup_id:
            yield f"setup_id is {self.setup_id}, but its setup gives {setup_id}"
        if method_id != self.method_id:
            yield f"method_id is {self.method_id}, but its method gives {method_id}"
        if (drawn := self.setup.data.drawn.get("data")) and drawn != self.digests.get("data"):
            yield f"its setup's data is {drawn}, but it read {self.digests.get('data')}"
        read = uncovered(self.setup.data, self.digests.get(PARAPHRASES))
        if (right := run_id(setup_id, method_id, self.seed, read)) != self.run_id:
            yield f"run_id is {self.run_id}, but its setup, method and seed give {right}"
        if self.also_tuned and len(searches_of(self)) <= len(self.also_tuned):
            yield "also_tuned has a search twice, or tuned has none"
        if Path(self.ranks.file).name != self.ranks.file:
            yield f'ranks.file is "{self.ranks.file}", but ranks lie beside their record'
        if self.weights and Path(self.weights.file).name != self.weights.file:
            yield f'weights.file is "{self.weights.file}", but weights lie in the folder weights'
        for name in sorted(set(self.setup.protocols) ^ set(self.results)):
            where = "setup" if name in self.setup.protocols else "results"
            yield f"protocol {name} stands in {where} alone"
        for name in sorted(self.setup.protocols.keys() & self.results.keys()):
            planned, done = self.setup.protocols[name], self.results[name]
            if (planned.task, planned.version) != (done.task, done.version):
                of, wanted = (f"{each.task}, version {each.version}" for each in (done, planned))
                yield f"{name}: its result is of {of}, but the setup's protocol of {wanted}"
        whole = {**dict.fromkeys(ALWAYS_READ, ""), **self.digests}
        yield from (f"it has no digest of its {name}" for name, value in whole.items() if not value)
        yield from wrong_costs(self.cost)
        yield from wrong_environment(self.environment)
        if "step" not in self.curves:
            yield "curves have no step"
        steps = len(self.curves.get("step", ()))
        for name, values in self.curves.items():
            if len(values) != steps:
                yield f"curves.{name} has {len(values)} values at {steps} steps"
            yield from (f"curves.{name} has {v}; {TOO_LARGE}" for v in values if abs(v or 0) > LARGEST)
        for name, result in self.results.items():
            yield from (f"{name}: {problem}" for problem in contradictions(result.metrics))
            yield from (f"{name}: counts.{key} = {n} is below 1" for key, n in result.counts.items() if n < 1)
            yield from (f"{name}: {key} is {v}; {TOO_LARGE}" for key, v in result.measures.items() if abs(v) > LARGEST)

    @model_validator(mode="before")
    @classmethod
    def _is_as_sealed(cls, content: Any, info: ValidationInfo) -> Any:
        """Checked on the stored content, so that a new key of the schema does not break old seals."""
        if info.context is None and isinstance(content, dict) and content_digest(content) != content.get("digest"):
            raise ValueError(BROKEN_SEAL)
        return content

    @field_validator("setup", mode="before")
    @classmethod
    def _shared_setup(cls, stored: Any) -> Any:
        return stored_setup(json.dumps(stored)) if isinstance(stored, dict) else stored

    @model_validator(mode="after")
    def _agrees_with_itself(self, info: ValidationInfo) -> Self:
        if info.context is not UNCHECKED and (problem := next(self.contradictions(), None)):
            raise ValueError(problem)
        return self


TOO_LARGE = f"no number of a run is above {LARGEST}"
BROKEN_SEAL = "the content is not what was sealed: it was edited, or damaged"


def content_digest(content: Mapping[str, Any]) -> str:
    """Digest of a record's plain data, all but the digest in it."""
    return digest({key: value for key, value in content.items() if key != "digest"})


def contradictions(metrics: dict[str, float]) -> list[str]:
    """Impossible values: outside of [0, 1], or a recall that falls when more answers count."""
    outside = [f"{name} = {value} is not between 0 and 1" for name, value in metrics.items() if not 0 <= value <= 1]
    pairs = _rising(tuple(metrics))
    return outside + [f"{a} = {metrics[a]} is above {b} = {metrics[b]}" for a, b in pairs if metrics[a] > metrics[b]]


@lru_cache(maxsize=1024)
def _rising(metrics: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of metrics, such as r1 and r5, of which the second must not be lower."""
    families: dict[str, list[tuple[int, str]]] = {}
    for name in metrics:
        stem = name.rstrip("0123456789")
        if stem != name:
            families.setdefault(stem, []).append((int(name[len(stem) :]), name))
    return [pair for members in families.values() for pair in pairwise(name for _, name in sorted(members))]


def row_id(method: MethodPart, searched: Sequence[str], trials: int) -> str:
    """Identity of a row: the method, and what a search of so many trials finds anew in each replicate."""
    fixed = {name: value for name, value in method.hyperparameters.items() if name not in searched}
    row = {"name": method.name, "version": method.version, "hyperparameters": fixed, "longer": method.longer}
    return short_digest({**row, "searched": sorted(searched), "trials": trials})


def trial_seed(replicate: int, number: int) -> int:
    """The seed of a trial: no reported run and no other trial of the method has it."""
    return FIRST_SEED + SEEDS_EACH * replicate + number


def uncovered(data: Data, paraphrases: str | None) -> dict[str, str]:
    """Digests of what a run reads and its setup's identity does not cover: a replicate's own data, and paraphrases if
    it reads any that have one."""
    return {**data.drawn, **({PARAPHRASES: paraphrases} if paraphrases else {})}


def run_id(setup_id: str, method_id: str, seed: int, read: Mapping[str, str] = NOTHING) -> str:
    """Identity of a run; `read`: the digests that the setup's identity does not cover."""
    return short_digest({"setup": setup_id, "method": method_id, "seed": seed, **read})


ENVIRONMENT: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(
        ("benchsuite", "commit", "python", "platform", "processor", "device"),
        (lambda value: isinstance(value, str | None), "a text"),
    ),
    **dict.fromkeys(
        ("threads", "processes"),
        (lambda value: value is None or (type(value) is int and value > 0), "a whole number above 0"),
    ),
    "dirty": (lambda value: isinstance(value, bool | None), "true or false"),
    "packages": (lambda value: isinstance(value, Mapping), "versions by name"),
}


def wrong_costs(cost: Mapping[str, Any]) -> Iterator[str]:
    """All values that are not of their kind. Null is of every kind: not known. Other keys may hold anything."""
    for name, value in cost.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (value is None or (is_number and 0 <= value <= LARGEST)):
            yield f"cost.{name} is {_shown(value)}, not a number from 0 on"


def wrong_environment(environment: Mapping[str, Any]) -> Iterator[str]:
    """The same of where a run ran."""
    for name, (fits, kind) in ENVIRONMENT.items():
        if name in environment and not fits(environment[name]):
            yield f"environment.{name} is {_shown(environment[name])}, not {kind}"
    packages = environment.get("packages")
    for name, version in packages.items() if isinstance(packages, Mapping) else ():
        if not isinstance(version, str | None):
            yield f"environment.packages.{name} is {_shown(version)}, not a text"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
