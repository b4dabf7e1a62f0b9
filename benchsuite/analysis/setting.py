"""What a table's runs share at a scale: what the files of the table and of the recipe say, and how it is measured."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from benchsuite.papers import Table
from benchsuite.planning.columns import NO_CLASSES, measured_columns, metrics_of
from benchsuite.planning.recipe import Primary, Recipe
from benchsuite.records.schema import Record
from benchsuite.registry import tasks


@dataclass(frozen=True)
class Setting:
    """A table's recipe at a scale, and by column key what is measured, what stands for its data, and why nothing is."""

    name: str
    """The recipe's."""
    recipe: Recipe
    measures: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, name: str, recipe: Recipe, records: Iterable[Record]) -> Self:
        """That of a table whose runs have these records: what their data do not allow to measure, they do not have."""
        columns = measured_columns(table, recipe, dict(_lacking(recipe, list(records))))
        return cls(name, recipe, columns.measures, columns.stand_ins, columns.missing)

    @property
    def primary(self) -> Mapping[str, Primary]:
        """By protocol: its primary metric and the smallest difference of interest."""
        return self.recipe.primary

    @property
    def backbones(self) -> Mapping[str, str]:
        """What replaces each of the paper's backbones, in words."""
        return {name: backbone.description for name, backbone in self.recipe.backbones.items()}


def _lacking(recipe: Recipe, records: list[Record]) -> Iterator[tuple[str, str]]:
    """Protocols and numbers for data with classes that no record has, with the reason."""
    for name, protocol in recipe.with_classes.items() if records else ():
        results = [record.results[name] for record in records if name in record.results]
        if not results:
            yield name, NO_CLASSES
        elif protocol.task in tasks:
            there = {metric for result in results for metric in (*result.metrics, *result.measures)}
            few = "the data has too few classes for it"
            yield from ((f"{name}.{metric}", few) for metric in metrics_of(protocol.task) if metric not in there)
