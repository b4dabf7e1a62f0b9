"""Tuning: the runs of a subject's trials, and a trial from what a run measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from benchsuite.experiments.chosen import Trials
from benchsuite.experiments.plan import Run, make_run
from benchsuite.experiments.subjects import Subject
from benchsuite.records.schema import PARAPHRASES, Record
from benchsuite.records.trials import FIRST_SEED, Trial, TrialsFile


@dataclass(frozen=True)
class TrialRun:
    """A run that is a trial."""

    subject: Subject
    number: int
    run: Run

    def finished(self, record: Record) -> Trial:
        """The trial, from the run's record; its ranks are not kept."""
        metrics = {f"{number.protocol}.{number.metric}": number.value for number in record.numbers()}
        return self._trial(
            score=metrics[self.subject.rule.measure],
            metrics=metrics,
            cost=record.cost,
            digests=record.digests,
            environment=record.environment,
            created=record.created,
        )

    def failed(self, reason: str) -> Trial:
        """The trial of a run whose hyper-parameters let it diverge."""
        read = {PARAPHRASES: self.run.paraphrases} if self.run.paraphrases else {}
        return self._trial(
            score=None, error=reason, digests=read, created=datetime.now(UTC).isoformat(timespec="seconds")
        )

    def _trial(self, **measured: object) -> Trial:
        return Trial.model_validate(
            {
                "run_id": self.run.run_id,
                "setup_id": self.run.setup.setup_id,
                "backbone": self.subject.backbone,
                "method": self.run.method,
                "fixed": self.subject.fixed,
                "number": self.number,
                "seed": self.run.seed,
                **measured,
            }
        )


def plan_trials(subjects: Iterable[Subject], stored: Trials, count: int) -> list[TrialRun]:
    """The trials that are still to be done."""
    return [trial_run(subject, number) for subject in subjects for number in stored.lacks(subject, count)]


def trial_run(subject: Subject, number: int) -> TrialRun:
    """One trial of a subject."""
    run = make_run(
        subject.setup, subject.drawn(number), FIRST_SEED + number, str(subject), subject.step_seconds, subject.recipe
    )
    return TrialRun(subject, number, run.model_copy(update={"label": f"{subject} trial {number}"}))


def example_run(subject: Subject) -> Run:
    """A run of the subject at its defaults, for what can be checked before any trial."""
    return make_run(
        subject.setup, subject.part({}), FIRST_SEED, f"{subject} trials", subject.step_seconds, subject.recipe
    )


def content_of(trial: Trial, subject: Subject, recipe: str) -> TrialsFile:
    """A file of that trial alone."""
    setups = {trial.setup_id: subject.setup}
    return TrialsFile(recipe=recipe, rule=subject.rule.model_dump(mode="json"), setups=setups, trials=[trial])


def grouped(subjects: Iterable[Subject]) -> Sequence[Subject]:
    """Each subject once."""
    return list({subject.key: subject for subject in subjects}.values())
