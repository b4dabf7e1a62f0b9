"""Do a protocol's numbers follow from its ranks? The rules come from whoever calls; here they are compared."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchsuite.errors import BenchsuiteError
from benchsuite.records.schema import Record, Result
from benchsuite.registry import tasks

CLOSE = 1e-12
"""Relative: another numpy may sum in another order."""
Ranks = Mapping[str, NDArray[np.integer[Any]]]


class Told(Protocol):
    """What follows from ranks."""

    @property
    def metrics(self) -> Mapping[str, float]: ...

    @property
    def counts(self) -> Mapping[str, int]: ...

    @property
    def measures(self) -> Mapping[str, float]: ...


class Rule(Protocol):
    """How a task's numbers follow from its ranks.

    `items` names the count that is the size of the judged split, if one is; `plain` says that all arrays are ranks;
    `not_recomputable` names measures that do not follow.
    """

    @property
    def scores(self) -> Callable[[Ranks], Told]: ...

    @property
    def items(self) -> str: ...

    @property
    def plain(self) -> bool: ...

    @property
    def not_recomputable(self) -> Sequence[str]: ...


@dataclass
class Rechecked:
    """How many numbers agree, which do not, and which nothing here can tell, by task."""

    agreed: int = 0
    differs: list[str] = field(default_factory=list)
    not_recomputable: dict[str, set[str]] = field(default_factory=dict)


def recheck(record: Record, ranks: Ranks, rules: Mapping[str, Rule]) -> Rechecked:
    """All protocols of a record against its ranks, which are named "protocol.name"."""
    done = Rechecked()
    for name, result in record.results.items():
        own = {key.rpartition(".")[2]: found for key, found in ranks.items() if key.rpartition(".")[0] == name}
        rule, why = rules.get(result.task), _why_not(result)
        if rule is None or why:
            done.not_recomputable.setdefault(why or result.task, set()).update({**result.metrics, **result.measures})
            continue
        try:
            told = _tell(rule, own)
        except ValueError as error:
            done.differs.append(f"{name}: {error}")
            continue
        if left := set(rule.not_recomputable) & result.measures.keys():
            done.not_recomputable.setdefault(result.task, set()).update(left)
        agreed, wrong = compare(result, told, rule.not_recomputable)
        done.agreed += agreed
        done.differs += [f"{name}.{text}" for text in (*wrong, *omissions(result, told, rule.items))]
    done.differs += strangers(record, ranks)
    return done


def compare(result: Result, told: Told, not_recomputable: Collection[str] = ()) -> tuple[int, list[str]]:
    """How many of the stored numbers are what ranks say, and the others; without those that ranks do not tell."""
    agreed, wrong = 0, []
    for part, stored, found in (
        ("", result.metrics, told.metrics),
        ("", result.measures, told.measures),
        ("counts.", result.counts, told.counts),
    ):
        for key, value in stored.items():
            other = found.get(key)
            if other is not None and math.isclose(value, other, rel_tol=CLOSE, abs_tol=CLOSE):
                agreed += 1
            elif part or key not in not_recomputable:
                said = "nothing" if other is None else repr(other)
                wrong.append(f"{part}{key}: the record says {value!r}, its ranks say {said}")
    return agreed, wrong


def omissions(result: Result, told: Told, items: str = "") -> Iterator[str]:
    """Metrics that ranks tell and the record does not, and items of the split that were not judged."""
    for key in sorted(told.metrics.keys() - result.metrics.keys()):
        yield f"{key}: the record says nothing, its ranks say {told.metrics[key]!r}"
    if items and result.items is not None and result.counts.get(items) != result.items:
        yield f"counts.{items}: {result.counts.get(items)} of the {result.items} items of the split were judged"


def strangers(record: Record, ranks: Mapping[str, Any]) -> list[str]:
    """Ranks of something else."""
    lost = sorted(key for key in ranks if key.rpartition(".")[0] not in record.results)
    return [f"{key}: ranks of a protocol that the record does not have" for key in lost]


def _tell(rule: Rule, ranks: Ranks) -> Told:
    """What the rule says of the ranks; a ValueError says why it can say nothing."""
    if not ranks:
        raise ValueError("no ranks are stored")
    if rule.plain and (empty := [key for key, found in ranks.items() if not len(found)]):
        raise ValueError(f"ranks {empty[0]} are empty")
    if rule.plain and (below := [key for key, found in ranks.items() if found.min() < 1]):
        raise ValueError(f"ranks {below[0]} begin at {ranks[below[0]].min()}; 1 is best")
    try:
        return rule.scores(ranks)
    except KeyError as error:
        raise ValueError(f"no ranks {error} are stored") from error
    except BenchsuiteError as error:
        raise ValueError(str(error)) from error


def _why_not(result: Result) -> str:
    """Why the rule of a task does not apply: it is another version's."""
    current = tasks.card(result.task).about.get("version") if result.task in tasks else result.version
    return "" if current == result.version else f"version {result.version} of {result.task}, which is {current} now"
