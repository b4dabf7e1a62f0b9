"""The hyper-parameters of a table's rows: as printed, or those that tuning chose but for what the table varies.

docs/tuning.md has the rule, with an example.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart, names_of
from benchsuite.planning.chosen_trials import Trials, chosen_trial, tuned_by
from benchsuite.planning.recipe import Recipe
from benchsuite.planning.resolve import resolve_method
from benchsuite.planning.subjects import Subject, fixed_switches, require_tuning, tunable, tuning_setup, varied
from benchsuite.records.requests import Regime
from benchsuite.records.schema import MethodPart, TunedBy
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES, Setup


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


class LongerRow(NamedTuple):
    """A row of the reference method that is given a dearer method's compute."""

    row: Row
    times: float


def part_for(row: Row, times: float, part: TablePart) -> TablePart:
    """The part; for a row of the reference trained longer without what is another method's hyper-parameter."""
    if times == 1 or row.method is None:
        return part
    known = {field.name for field in methods.card(row.method).fields}
    given = {name: value for name, value in part.hyperparameters.items() if name in known}
    return part.model_copy(update={"hyperparameters": given})


def longer_label(method: str, times: float) -> str:
    """Label of the row of a method that is trained longer."""
    return f"{methods.card(method).title}, {times:g} times the steps"


def longer_rows(rows: Sequence[Row], recipe: Recipe, wanted: Sequence[str]) -> list[LongerRow]:
    """One for each group of rows that are compared, and each length of the recipe's rule; those wanted, if any are."""
    groups = dict.fromkeys((row.backbone, row.variant) for row in rows if row.method)
    added = []
    for backbone, variant in groups:
        if recipe.lacks(backbone, variant):
            continue
        reference = REFERENCES[recipe.setup(backbone, (variant,)).towers]
        for times in recipe.tuning.longer if recipe.tuning else ():
            row = Row(label=longer_label(reference, times), backbone=backbone, variant=variant, method=reference)
            added += [LongerRow(row, times)] if not wanted or names_of(row) & {*wanted} else []
    return added
