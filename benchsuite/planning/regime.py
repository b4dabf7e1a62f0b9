"""The hyper-parameters of a table's rows: as printed or tuned, by a search of each row in each replicate.

docs/tuning.md has the rule, with an example.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.chosen_trials import Trials, chosen_trial
from benchsuite.planning.recipe import Recipe, Tuning
from benchsuite.planning.resolve import resolve_method, resolve_setup
from benchsuite.planning.search_space import fixed_by
from benchsuite.planning.subjects import Subject, judged_by, require_tuning
from benchsuite.records.requests import Regime
from benchsuite.records.schema import MethodPart, TunedBy, row_id
from benchsuite.records.trials import trials_digest
from benchsuite.setup import Setup


class Choice(NamedTuple):
    """The method of a row as it will be run in a replicate, how it was found, and the row's identity."""

    method: MethodPart
    row_id: str
    tuned: TunedBy | None = None
    known: bool = True
    """False where trials are still missing: the method is then the printed one, for what can be checked before."""


def as_printed(row: Row, part: TablePart, times: float, setups: Mapping[int, Setup | Recipe]) -> list[Choice]:
    """As the row and the part have them, temperatures multiplied by the recipe's factor, the same in each replicate."""
    assert row.method is not None
    factor = next(iter(setups.values())).temperature_factor
    method = resolve_method(row.method, row.options(part), factor).model_copy(update={"longer": times})
    return [Choice(method, method.method_id)] * len(setups)


@dataclass(frozen=True)
class Searched:
    """The best trial of the row's search in the replicate. Where trials are missing it is planned as printed.

    As printed, a search finds the learning rate alone, because a rate belongs to a data set; tuned, all that the
    method's fields declare and the table is not about.
    """

    table: Table
    recipe: Recipe
    name: str
    """The recipe's."""
    trials: Trials
    folders: Mapping[str, str]
    regime: Regime = "tuned"
    count: int | None = None
    """Trials of each search, if not the rule's number."""
    subjects: dict[str, Subject] = field(default_factory=dict)
    """The searches that were asked for, by their names."""
    _setups: dict[tuple[str, tuple[str, ...], int], Setup] = field(default_factory=dict)

    def choose(self, row: Row, part: TablePart, times: float, setups: Mapping[int, Setup | Recipe]) -> list[Choice]:
        """Those of the best trial of each replicate, and of the rest what the row's search keeps fixed."""
        assert row.method is not None
        rule = require_tuning(self.recipe, self.name)
        fixed = fixed_by(self.table, row, part, rule, self.regime)

        @cache
        def printed() -> MethodPart:
            return as_printed(row, part, times, setups)[0].method

        return [
            self._choice(self._subject(row, part, times, replicate, rule, fixed), setup, printed)
            for replicate, setup in setups.items()
        ]

    def _choice(self, subject: Subject, setup: Setup | Recipe, printed: Callable[[], MethodPart]) -> Choice:
        self.subjects.setdefault(str(subject), subject)
        trials = self.trials.of(subject)
        if len(trials) < subject.trials:
            return Choice(printed(), row_id(printed(), subject.searched, subject.trials), known=False)
        chosen = chosen_trial(trials, subject)
        assert chosen.method.learning_rate is not None
        rate = chosen.method.learning_rate * (setup.optimizer.lr / subject.setup.optimizer.lr)
        method = chosen.method.model_copy(update={"learning_rate": rate})
        assert chosen.score is not None
        tuned = TunedBy(
            trials=len(trials),
            trial=chosen.number,
            score=chosen.score,
            digest=trials_digest(trials),
            searched=subject.searched,
        )
        return Choice(method, row_id(method, subject.searched, subject.trials), tuned)

    def _subject(
        self, row: Row, part: TablePart, times: float, replicate: int, rule: Tuning, fixed: Mapping[str, Any]
    ) -> Subject:
        """The search of a row: under its variant, and that of a table's only part. Several parts share it, but for what
        they give.
        """
        assert row.method is not None
        variants = (row.variant, part.variant) if len(self.table.parts) == 1 else (row.variant,)
        key = row.backbone, variants, replicate
        if key not in self._setups:
            judged = judged_by(rule, self.recipe)
            self._setups[key] = resolve_setup(judged, row.backbone, self.folders, variants, replicate)
        return Subject(
            recipe=self.name,
            label="/".join(filter(None, (row.backbone, row.variant))),
            method=row.method,
            setup=self._setups[key],
            rule=rule,
            replicate=replicate,
            regime=self.regime,
            step_seconds=self.recipe.backbones[row.backbone].step_seconds,
            fixed=fixed,
            longer=times,
            count=self.count,
        )
