"""The trials that there are, and the best of them: what a tuned row takes its hyper-parameters from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.folders import TRIALS, shipped_trials
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.subjects import Subject
from benchsuite.records.schema import TunedBy
from benchsuite.records.trials import (
    Trial,
    TrialsFile,
    best,
    changed_rule,
    read_trials,
    require_rule,
    trials_digest,
)


@dataclass(frozen=True)
class Trials:
    """Files of trials of a recipe: the results folder's first, then those shipped beside recipes."""

    files: Sequence[TrialsFile]

    @classmethod
    def stored(cls, recipe: str, rule: Tuning, results: Path) -> "Trials":
        """Those made by the recipe's rule; a results folder with trials of another rule is refused."""
        plain, name = rule.model_dump(mode="json"), f"{recipe}.parquet"
        own = results / TRIALS / name
        files = [read_trials(own)] if own.exists() else []
        for file in files:
            require_rule(file, plain, own)
        shipped = (read_trials(file) for file in shipped_trials() if file.name == name and file != own)
        return cls([*files, *(file for file in shipped if not changed_rule(file, plain))])

    def of(self, subject: Subject, count: int) -> list[Trial]:
        """The first trials of a subject, `count` if there are so many: all from the first file that has them."""
        found: list[Trial] = []
        for file in self.files:
            numbers = {trial.number: trial for trial in file.trials if trial.subject == subject.key}
            there = [numbers[number] for number in range(count) if number in numbers]
            found = there if len(there) > len(found) else found
        return found

    def lacks(self, subject: Subject, count: int) -> list[int]:
        """Numbers of the first trials that are still to be done."""
        there = {trial.number for trial in self.of(subject, count)}
        return [number for number in range(count) if number not in there]

    def others(self, subject: Subject) -> int:
        """How many trials of the method cannot be used: they were made with other code, setup or switches."""
        return sum(
            trial.method.name == subject.method and trial.backbone == subject.backbone and trial.subject != subject.key
            for file in self.files
            for trial in file.trials
        )


def chosen_trial(trials: Iterable[Trial], subject: Subject) -> Trial:
    """The best trial; refused if all failed."""
    if (chosen := best(trials)) is None:
        raise UsageError(f"{subject}: all of its trials diverged, so nothing can be chosen; leave it out with --rows.")
    return chosen


def tuned_by(trials: Sequence[Trial], chosen: Trial, printed: Iterable[str]) -> TunedBy:
    """What the record of a tuned run says of its trials."""
    assert chosen.score is not None
    return TunedBy(
        trials=len(trials),
        trial=chosen.number,
        score=chosen.score,
        digest=trials_digest(trials),
        printed=sorted(printed),
    )
