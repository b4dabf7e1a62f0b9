"""The number that stands for a protocol where many are looked at together: its task declares it, without torch."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from benchsuite.cards import Card
from benchsuite.errors import unknown
from benchsuite.papers import Column
from benchsuite.records.schema import Result
from benchsuite.registry import tasks


@dataclass(frozen=True)
class Headline:
    """A column of an overall board: one number of one protocol."""

    protocol: str
    metric: str
    task: str
    title: str
    """The task's."""
    version: int
    unit: Literal["percent", "number"]
    better: Literal["higher", "lower", "neither"]

    @property
    def measure(self) -> str:
        """ "protocol.metric"."""
        return f"{self.protocol}.{self.metric}"

    @cached_property
    def column(self) -> Column:
        """As a column of a table, so that its cells are those of tables."""
        about = {"group": self.title, "label": self.protocol, "unit": self.unit, "better": self.better}
        return Column.model_validate({"key": self.protocol, "measure": self.measure, **about})


def headline(protocol: str, results: Sequence[Result]) -> Headline | None:
    """What stands for a protocol on a board, of what all of its runs have; none if they have nothing in common.

    A task that does not declare it has its first metric there, or else its first measure. Metrics are shares, of which
    more is better; a measure ranks nothing unless its task says what is better.
    """
    first = results[0]
    card = tasks.card(first.task) if first.task in tasks else None
    declared = _declared(card)
    candidates = declared or (*first.metrics, *first.measures)
    metric = next((name for name in candidates if all(_has(result, name) for result in results)), None)
    if metric is None:
        return None
    plain = metric not in first.metrics
    about = card.about if card and declared else {}
    return Headline(
        protocol=protocol,
        metric=metric,
        task=first.task,
        title=card.title if card else first.task,
        version=first.version,
        unit=about.get("unit", "number" if plain else "percent"),
        better=about.get("better", "neither" if plain else "higher"),
    )


def _declared(card: Card | None) -> Collection[str]:
    """What the task says stands for it, the first of these that a run has; nothing if it does not say."""
    said = card.about.get("headline", ()) if card else ()
    names = (said,) if isinstance(said, str) else tuple(said)
    if card and names:
        known = (*card.about.get("metrics", ()), *card.about.get("measures", ()))
        for name in names:
            if name not in known:
                raise unknown("metric", name, known, f"task {card.name}, headline: ")
    return names


def _has(result: Result, name: str) -> bool:
    return name in result.metrics or name in result.measures
