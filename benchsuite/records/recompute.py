"""Recompute a protocol's numbers from its stored ranks, by the rule of its task."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import BenchsuiteError
from benchsuite.records.schema import Result
from benchsuite.registry import tasks

CLOSE = 1e-12
"""Relative: another numpy may sum in another order."""
Ranks = Mapping[str, NDArray[np.integer[Any]]]


@dataclass(frozen=True)
class Scores:
    """A task's outcome: metrics as fractions, numbers of queries, and the rank of each query."""

    metrics: Mapping[str, float]
    counts: Mapping[str, int]
    ranks: Ranks = field(default_factory=dict)
    """1 is best. Stored beside the record to recompute metrics. A task may store other whole numbers."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Numbers that are not fractions: distances, median ranks."""


@dataclass(frozen=True)
class RankRule:
    """How to compute a task's numbers from its ranks."""

    scores: Callable[..., Scores] | None
    """A function of the ranks by name, and of `options`; None if nothing can be recomputed."""
    options: tuple[str, ...] = ()
    """The task's options that the function takes, by name."""
    split_count: str = ""
    """The count that equals the size of the evaluated split; empty for none."""
    only_ranks: bool = True
    """Whether every stored array holds ranks, from 1 on."""
    any_order: bool = False
    """Whether the numbers are the same if the ranks of an array are stored in another order."""
    not_recomputable: tuple[str, ...] = ()
    """Measures that cannot be recomputed from ranks."""
    why: str = ""
    """Why not."""

    def __call__(self, ranks: Ranks, options: Mapping[str, Any]) -> Scores:
        """The numbers that follow from the ranks under the task's options."""
        if self.scores is None:
            return Scores({}, {}, ranks)
        return self.scores(ranks, **{name: options[name] for name in self.options})


@dataclass
class Recomputed:
    """The numbers of a protocol: how many agree with its ranks, which differ, and which cannot be recomputed."""

    agreed: int = 0
    differs: list[str] = field(default_factory=list)
    not_recomputable: list[str] = field(default_factory=list)
    why: str = ""


def recompute(result: Result, ranks: Ranks, options: Mapping[str, Any], rules: Mapping[str, RankRule]) -> Recomputed:
    """Compute the numbers of a protocol again from its ranks, by its task's rule."""
    numbers = {**result.metrics, **result.measures}
    if result.task not in tasks:
        return Recomputed(differs=[f"task {result.task} is not registered here; load its file with --plugin"])
    rule, card = rules.get(result.task), tasks.card(result.task)
    if not 1 <= result.version <= card.version:
        return Recomputed(differs=[f"it is of version {result.version} of the task, which is at {card.version}"])
    if result.version != card.version:
        why = f"version {result.version} of the task, {card.version} here"
        return Recomputed(not_recomputable=[*numbers], why=why)
    if rule is None or rule.scores is None:
        known = {*card.about.get("metrics", ()), *card.about.get("measures", ())}
        odd = [f"{name} is nothing that the task measures" for name in numbers if name not in known]
        return Recomputed(0, odd, [*numbers], rule.why if rule else "no rule for this task")
    done = Recomputed(not_recomputable=[name for name in rule.not_recomputable if name in numbers], why=rule.why)
    try:
        scores = _apply(rule, ranks, options)
    except ValueError as error:
        done.differs.append(str(error))
        return done
    stored = {**numbers, **{f"counts.{name}": count for name, count in result.counts.items()}}
    expected = {**scores.metrics, **scores.measures, **{f"counts.{name}": n for name, n in scores.counts.items()}}
    differs = {name: _difference(name, stored.get(name), expected.get(name)) for name in {**stored, **expected}}
    checked = {name: text for name, text in differs.items() if name not in done.not_recomputable}
    done.agreed = sum(not text for text in checked.values())
    done.differs += filter(None, checked.values())
    count, size = result.counts.get(rule.split_count), result.split_size
    if rule.split_count and size is not None and count != size:
        done.differs.append(f"counts.{rule.split_count} is {count}, but the split has {size} items")
    return done


def _apply(rule: RankRule, ranks: Ranks, options: Mapping[str, Any]) -> Scores:
    """The scores; a ValueError says why they cannot be computed."""
    if not ranks:
        raise ValueError("no ranks are stored")
    for name, values in ranks.items() if rule.only_ranks else ():
        if not len(values):
            raise ValueError(f"ranks {name} are empty")
        if values.min() < 1:
            raise ValueError(f"ranks {name} begin at {values.min()}; 1 is best")
    if missing := [name for name in rule.options if name not in options]:
        raise ValueError(f'its protocol has no option "{missing[0]}"')
    try:
        return rule(ranks, options)
    except KeyError as error:
        raise ValueError(f"no ranks {error} are stored") from error
    except BenchsuiteError as error:
        raise ValueError(str(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # any rule, given numbers and options that anyone may have written; sys.exit, too
        raise ValueError(f"they cannot be computed ({type(error).__name__}: {error})") from error


def _difference(name: str, stored: float | None, expected: float | None) -> str:
    """How record and ranks differ; empty if they agree."""
    if stored is not None and expected is not None and math.isclose(stored, expected, rel_tol=CLOSE, abs_tol=CLOSE):
        return ""
    in_record, from_ranks = ("missing" if value is None else repr(value) for value in (stored, expected))
    return f"{name} is {in_record} in the record, {from_ranks} from its ranks"
