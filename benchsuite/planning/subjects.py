"""What is tuned: a method under a backbone's setup on the validation split, with some hyper-parameters fixed.

And what of a table's row stays as printed when the rest is tuned: docs/tuning.md has the rule.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from benchsuite.canonical import canonical
from benchsuite.errors import UsageError
from benchsuite.fields import resolve
from benchsuite.methods import method_class
from benchsuite.papers import Table
from benchsuite.planning.columns import require_metric
from benchsuite.planning.recipe import Recipe, Tuning
from benchsuite.planning.resolve import NO_FOLDERS, resolve_method, resolve_setup
from benchsuite.planning.search_space import ATTEMPTS, LEARNING_RATE, around, draws, space
from benchsuite.records import trials
from benchsuite.records.schema import MethodPart
from benchsuite.registry import methods
from benchsuite.setup import Setup


@dataclass(frozen=True)
class Subject:
    """A method that is tuned."""

    recipe: str
    """Name or file."""
    backbone: str
    method: str
    setup: Setup
    """The recipe's on the backbone, without a variant, with its tuning protocols."""
    rule: Tuning
    step_seconds: float = 0.0
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Switches that are not at their defaults."""

    @cached_property
    def key(self) -> trials.Subject:
        """As trials name it."""
        version = methods.card(self.method).version
        return trials.subject_of(self.setup.setup_id, self.method, version, self.fixed)

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        return f"{self.backbone} {self.method}{f' ({given})' * bool(given)}"

    def space(self) -> list[str]:
        """What is drawn and from where to where, in words."""
        rate = around(LEARNING_RATE, self.setup.optimizer.lr, self.rule.learning_rate_spread)
        coordinates = space(methods.card(self.method), self.rule.spread, self.fixed)
        return [f"{each.name} {each.at(0):.4g} to {each.at(1):.4g}" for each in (*coordinates, rate)]

    def drawn(self, number: int) -> MethodPart:
        """The method as trial `number` has it: the first draw that it does not refuse."""
        refusal = None
        for draw in draws(methods.card(self.method), self.fixed, number, self.rule, self.setup.optimizer.lr):
            try:
                return self.part(draw.hyperparameters, draw.learning_rate)
            except UsageError as error:
                refusal = error
        raise UsageError(f"trial {number} of {self}: {ATTEMPTS} draws are refused, the last one by: {refusal}")

    def part(self, tuned: Mapping[str, Any], learning_rate: float | None = None) -> MethodPart:
        """The method with these hyper-parameters, what is fixed, and otherwise defaults."""
        return resolve_method(self.method, self.fixed, self.setup.temperature_factor, tuned, learning_rate)


def require_tuning(recipe: Recipe, name: str) -> Tuning:
    """The recipe's rule, or an error that says that it has none."""
    if recipe.tuning is None:
        raise UsageError(f"recipe {name} has no [tuning], so its rows are run as printed alone (--regime printed).")
    return recipe.tuning


def tuning_setup(recipe: Recipe, rule: Tuning, backbone: str, folders: Mapping[str, str] = NO_FOLDERS) -> Setup:
    """The recipe on a backbone, with the protocols that trials are judged by in place of its own."""
    protocol, _, metric = rule.measure.rpartition(".")
    require_metric(metric, rule.protocols[protocol].task, f'recipe "{recipe.title}", tuning, measure: ')
    judged = recipe.model_copy(update={"protocols": rule.protocols, "with_classes": {}})
    return resolve_setup(judged, backbone, folders)


def tunable(method: str, rule: Tuning) -> set[str]:
    """The hyper-parameters that tuning draws."""
    method_class(method)
    return {coordinate.name for coordinate in space(methods.card(method), rule.spread, {})}


def varied(table: Table, method: str) -> set[str]:
    """Hyper-parameters in which the table's rows of one method differ, defaults where a row gives none."""
    rows = _resolved(table, method)
    return {name for name in (rows[0] if rows else ()) if len({canonical(row[name]) for row in rows}) > 1}


def fixed_switches(table: Table, method: str, rule: Tuning) -> dict[str, Any]:
    """What the table prints of a method that is not tunable, the same in all of its rows, and not the default."""
    rows, cls = _resolved(table, method), method_class(method)
    others = tunable(method, rule) | varied(table, method)
    given = {name: value for row in rows[:1] for name, value in row.items() if name not in others}
    switches = {n: value for n, value in given.items() if canonical(value) != canonical(getattr(cls, n, None))}
    return dict(json.loads(json.dumps(switches)))


def _resolved(table: Table, method: str) -> Sequence[Mapping[str, Any]]:
    cls = method_class(method)
    return [resolve(cls, row.hyperparameters) for row in table.rows if row.method == method]
