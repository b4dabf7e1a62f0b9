"""What is searched: a method under a row's setup on the validation split of a replicate, with what the row fixes.

docs/tuning.md has the rule, with an example.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from benchsuite.errors import UsageError
from benchsuite.planning.columns import require_metric
from benchsuite.planning.recipe import Recipe, Tuning, read_recipe
from benchsuite.planning.resolve import resolve_method
from benchsuite.planning.search_space import ATTEMPTS, LEARNING_RATE, around, draws, space
from benchsuite.records import trials as stored
from benchsuite.records.requests import Regime
from benchsuite.records.schema import MethodPart
from benchsuite.registry import methods
from benchsuite.setup import Setup


@dataclass(frozen=True)
class Subject:
    """A search: of a row's method, in one replicate."""

    recipe: str
    """Name or file."""
    label: str
    """Backbone, and the variants if any."""
    method: str
    setup: Setup
    """The row's, with the recipe's tuning protocols, on the replicate's data."""
    rule: Tuning
    replicate: int
    regime: Regime = "tuned"
    """As printed, the learning rate alone is searched."""
    step_seconds: float = 0.0
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that are not drawn and not at their defaults."""
    longer: float = 1.0
    """How many times the setup's steps a trial trains."""
    count: int | None = None
    """How many trials a user asks for, if not for the rule's number."""

    @property
    def backbone(self) -> str:
        """That of its label; names of backbones have slashes, too."""
        known = (name for name in read_recipe(self.recipe).backbones if f"{self.label}/".startswith(f"{name}/"))
        return max(known, key=len)

    @property
    def trials(self) -> int:
        return self.rule.count(self.regime, self.count)

    @cached_property
    def key(self) -> stored.Subject:
        version, data = methods.card(self.method).version, self.setup.data.digest
        return stored.subject_of(
            self.setup.setup_id, self.method, version, self.fixed, self.longer, self.regime, self.replicate, data
        )

    def __str__(self) -> str:
        return f"{self.row}, replicate {self.replicate}"

    @property
    def row(self) -> str:
        """The search without its replicate, in words."""
        given = [f"{name} = {value}" for name, value in self.fixed.items()]
        given += [f"{self.longer:g} times the steps"] * (self.longer != 1)
        about = f" ({', '.join(given)})" if given else ""
        printed = ", as printed" if self.regime == "printed" else ""
        return f"{self.setup.called(self.label)} {self.method}{about}{printed}"

    @property
    def searched(self) -> list[str]:
        """The hyper-parameters that are drawn, beside the learning rate."""
        return sorted(each.name for each in self._space)

    @property
    def _space(self) -> Sequence[Any]:
        return space(methods.card(self.method), self.rule.spread, self.fixed) if self.regime == "tuned" else ()

    def space(self) -> list[str]:
        """What is drawn and from where to where, in words."""
        rate = around(LEARNING_RATE, self.setup.optimizer.lr, self.rule.learning_rate_spread)
        return [f"{each.name} {each.words}" for each in (*self._space, rate)]

    def drawn(self, number: int) -> MethodPart:
        """The method as trial `number` has it: the first draw that it does not refuse."""
        card, refusal = methods.card(self.method), None
        rate, factor, alone = self.setup.optimizer.lr, self.setup.temperature_factor, self.regime == "printed"
        for draw in draws(card, self.fixed, number, self.replicate, self.rule, rate, factor, alone):
            try:
                return self.part(draw.hyperparameters, draw.learning_rate)
            except UsageError as error:
                refusal = error
        raise UsageError(f"trial {number} of {self}: {ATTEMPTS} draws are refused, the last one by: {refusal}")

    def part(self, tuned: Mapping[str, Any], learning_rate: float | None = None) -> MethodPart:
        """The method with these hyper-parameters, what is fixed, and otherwise defaults."""
        made = resolve_method(self.method, self.fixed, self.setup.temperature_factor, tuned, learning_rate)
        return made.model_copy(update={"longer": self.longer})


def require_tuning(recipe: Recipe, name: str) -> Tuning:
    """The recipe's rule, or an error that says that it has none."""
    if recipe.tuning is None:
        raise UsageError(f"recipe {name} has no [tuning], so its rows are run as printed alone (--regime printed).")
    return recipe.tuning


def judged_by(rule: Tuning, recipe: Recipe) -> Recipe:
    """The recipe, with the protocols that trials are judged by in place of its own."""
    protocol, _, metric = rule.measure.rpartition(".")
    require_metric(metric, rule.protocols[protocol].task, f'recipe "{recipe.title}", tuning, measure: ')
    return recipe.model_copy(update={"protocols": rule.protocols, "with_classes": {}})
