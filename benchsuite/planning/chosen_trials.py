"""The trials that there are, and the best of them: what a searched row takes its hyper-parameters from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.subjects import Subject
from benchsuite.records import trials as stored_trials
from benchsuite.records.names import TRIALS
from benchsuite.records.schema import trial_seed
from benchsuite.records.shipped import shipped_trials
from benchsuite.records.trials import Trial, TrialsFile, best, by_subject, changed_rule, read_trials, require_rule


@dataclass(frozen=True)
class Trials:
    """The trials of a recipe in a results folder, and those that come with benchsuite."""

    file: TrialsFile | None = None
    shipped: TrialsFile | None = None

    @classmethod
    def stored(cls, recipe: str, rule: Tuning, results: Path, anew: bool = False) -> "Trials":
        """Those of the folder; refused if they were made by another rule than the recipe's.

        `anew`: without those that come with benchsuite.
        """
        path, told = results / TRIALS / f"{recipe}.parquet", rule.model_dump(mode="json")
        shipped = None if anew else shipped_trials(recipe)
        if shipped and changed_rule(shipped, told):
            shipped = None
        if not path.exists():
            return cls(None, shipped)
        file = read_trials(path)
        require_rule(file, told, path)
        return cls(file, shipped)

    def brought(self, subjects: Iterable[Subject]) -> TrialsFile | None:
        """What the searches of subjects take from benchsuite; none if the folder has all."""
        keys = {subject.key for subject in subjects}
        trials = (one for one in (self.shipped.trials if self.shipped else ()) if one.subject in keys)
        return self._lacked(trials, self.file)

    def shared(self, subjects: Iterable[Subject]) -> TrialsFile | None:
        """What searches take from others that drew the same; none if they have all trials of their own."""
        trials = (trial for subject in subjects for trial in self.of(subject))
        return self._lacked(trials, self.file, self.shipped)

    def _lacked(self, trials: Iterable[Trial], *files: TrialsFile | None) -> TrialsFile | None:
        """A file of the trials that these files lack."""
        there = {(trial.subject, trial.number) for file in files if file for trial in file.trials}
        new = [trial for trial in trials if (trial.subject, trial.number) not in there]
        if not new:
            return None
        known = [file for file in (self.shipped, self.file) if file]
        setups = {key: setup for file in known for key, setup in file.setups.items()}
        return known[0].model_copy(update={"setups": setups, "trials": new})

    @cached_property
    def _by_subject(self) -> Mapping[stored_trials.Subject, Sequence[Trial]]:
        return by_subject(file for file in (self.shipped, self.file) if file)

    @cached_property
    def _by_draw(self) -> Mapping[tuple[str, str, int, str], Trial]:
        return {
            (trial.setup_id, trial.method.method_id, trial.seed, trial.digests.get("data", "")): trial
            for found in self._by_subject.values()
            for trial in found
        }

    @cached_property
    def _searched(self) -> frozenset[tuple[str, str]]:
        return frozenset((setup_id, method) for setup_id, method, *_ in self._by_subject)

    def of(self, subject: Subject) -> list[Trial]:
        """The first trials of a subject, as many as it is to have if there are so many.

        Those of another search that drew the same are its trials too: where a table fixes all that a method declares,
        both regimes search the learning rate alone.
        """
        own = {trial.number: trial for trial in self._by_subject.get(subject.key, ())}
        if len(own) < subject.trials and (subject.setup.setup_id, subject.method) in self._searched:
            own = {**{number: one for number in range(subject.trials) if (one := self._shared(subject, number))}, **own}
        return [own[number] for number in range(subject.trials) if number in own]

    def _shared(self, subject: Subject, number: int) -> Trial | None:
        """A trial of another search that is the same run."""
        setup, method = subject.setup, subject.drawn(number)
        draw = setup.setup_id, method.method_id, trial_seed(subject.replicate, number), setup.data.digest or ""
        whose = {"label": subject.label, "regime": subject.regime, "fixed": dict(subject.fixed)}
        found = self._by_draw.get(draw)
        return found.model_copy(update=whose) if found else None

    def lacks(self, subject: Subject) -> list[int]:
        """Numbers of the first trials that are still to be done."""
        there = {trial.number for trial in self.of(subject)}
        return [number for number in range(subject.trials) if number not in there]


def chosen_trial(trials: Iterable[Trial], subject: Subject) -> Trial:
    """The best trial; refused if all failed."""
    if (chosen := best(trials)) is None:
        raise UsageError(f"{subject}: all of its trials diverged, so nothing can be chosen; leave it out with --rows.")
    return chosen
