"""The hyper-parameters of a table's rows: as printed, or those that tuning chose but for what the table varies.

docs/tuning.md has the rule, with an example.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.chosen_trials import Trials, chosen_trial, tuned_by
from benchsuite.planning.recipe import Recipe
from benchsuite.planning.resolve import resolve_method
from benchsuite.planning.subjects import Subject, fixed_switches, require_tuning, tunable, tuning_setup, varied
from benchsuite.records.requests import Regime
from benchsuite.records.schema import MethodPart, TunedBy
from benchsuite.setup import Setup


class Choice(NamedTuple):
    """The method of a row as it will be run, and how it was tuned."""

    method: MethodPart
    tuned: TunedBy | None = None


class Rows(Protocol):
    """Chooses the hyper-parameters of rows."""

    @property
    def regime(self) -> Regime:
        """Which hyper-parameters they are."""
        ...

    def choose(self, row: Row, part: TablePart, setup: Setup | Recipe) -> Choice:
        """The method of a row for a part of the table, under the row's setup."""
        ...


@dataclass(frozen=True)
class Printed:
    """Hyper-parameters as printed, temperatures multiplied by the recipe's factor."""

    regime: Regime = "printed"

    def choose(self, row: Row, part: TablePart, setup: Setup | Recipe) -> Choice:
        """As the row and the part have them."""
        assert row.method is not None
        return Choice(resolve_method(row.method, row.options(part), setup.temperature_factor))


@dataclass(frozen=True)
class Tuned:
    """Hyper-parameters of the best trial. Rows whose trials are missing are planned as printed, and noted."""

    table: Table
    recipe: Recipe
    name: str
    """The recipe's."""
    trials: Trials
    folders: Mapping[str, str]
    subjects: dict[str, Subject] = field(default_factory=dict)
    """What was asked for, by its name."""
    regime: Regime = "tuned"
    _setups: dict[str, Setup] = field(default_factory=dict)

    def choose(self, row: Row, part: TablePart, setup: Setup | Recipe) -> Choice:
        """Those of the best trial but for what the table varies, prints on purpose, or gives for the part."""
        assert row.method is not None
        subject, rule = self.subject(row), require_tuning(self.recipe, self.name)
        self.subjects.setdefault(str(subject), subject)
        trials = self.trials.of(subject, rule.trials)
        if len(trials) < rule.trials:
            return Printed().choose(row, part, setup)
        chosen = chosen_trial(trials, subject)
        tuned = chosen.method.hyperparameters
        printed = self.printed(row, part) & tuned.keys()
        drawn = {name: tuned[name] for name in tunable(row.method, rule) - printed}
        assert chosen.method.learning_rate is not None
        rate = chosen.method.learning_rate * (setup.optimizer.lr / subject.setup.optimizer.lr)
        method = resolve_method(row.method, row.options(part), setup.temperature_factor, drawn, rate)
        return Choice(method, tuned_by(trials, chosen, printed))

    def subject(self, row: Row) -> Subject:
        """What is tuned for a row: its method on its backbone, with the switches that all its rows share."""
        assert row.method is not None
        rule, backbone = require_tuning(self.recipe, self.name), row.backbone
        if backbone not in self._setups:
            self._setups[backbone] = tuning_setup(self.recipe, rule, backbone, self.folders)
        return Subject(
            self.name,
            backbone,
            row.method,
            self._setups[backbone],
            rule,
            self.recipe.backbones[backbone].step_seconds,
            fixed_switches(self.table, row.method, rule),
        )

    def printed(self, row: Row, part: TablePart) -> set[str]:
        """Hyper-parameters that are not tuned in this row."""
        assert row.method is not None
        return varied(self.table, row.method) | {*self.table.printed, *part.hyperparameters}
