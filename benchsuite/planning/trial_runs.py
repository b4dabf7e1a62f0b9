"""Tuning: the runs of a subject's trials, and a trial from what a run measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchsuite.errors import UnknownError, UsageError
from benchsuite.methods import described_method
from benchsuite.papers import read_table, table_names
from benchsuite.planning.data_folders import require_used
from benchsuite.planning.plan import Run, make_run
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_setup
from benchsuite.planning.subjects import Subject, judged_by, require_tuning
from benchsuite.records.schema import Record, trial_seed
from benchsuite.records.trials import Trial, TrialsFile


@dataclass(frozen=True)
class TrialRun:
    """A run that is a trial."""

    subject: Subject
    number: int
    run: Run

    def finished(self, record: Record) -> Trial:
        """The trial, from the run's record; its ranks are not kept."""
        metrics = record.values()
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
        created, data = datetime.now(UTC).isoformat(timespec="seconds"), self.run.setup.data.digest
        read = {**({"data": data} if data else {}), **self.run.read}
        return self._trial(score=None, error=reason, digests=read, created=created)

    def _trial(self, **measured: Any) -> Trial:
        return Trial(
            run_id=self.run.run_id,
            setup_id=self.run.setup.setup_id,
            label=self.subject.label,
            regime=self.subject.regime,
            replicate=self.subject.replicate,
            method=self.run.method,
            fixed=dict(self.subject.fixed),
            number=self.number,
            seed=self.run.seed,
            **measured,
        )


def trial_run(subject: Subject, number: int) -> TrialRun:
    """One trial of a subject."""
    seed = trial_seed(subject.replicate, number)
    run = make_run(subject.setup, subject.drawn(number), seed, str(subject), subject.step_seconds, subject.recipe)
    return TrialRun(subject, number, run.model_copy(update={"label": f"{subject} trial {number}"}))


def example_run(subject: Subject) -> Run:
    """A run of the subject at its defaults, for what can be checked before any trial."""
    seed = trial_seed(subject.replicate, 0)
    return make_run(subject.setup, subject.part({}), seed, f"{subject} trials", subject.step_seconds, subject.recipe)


def content_of(trial: Trial, subject: Subject, recipe: str) -> TrialsFile:
    """A file of that trial alone."""
    setups = {trial.setup_id: subject.setup}
    return TrialsFile(recipe=recipe, rule=subject.rule.model_dump(mode="json"), setups=setups, trials=[trial])


def grouped(subjects: Iterable[Subject]) -> Sequence[Subject]:
    """Each subject once."""
    return list({subject.key: subject for subject in subjects}.values())


def method_subjects(
    method: str, recipe_name: str, folders: Mapping[str, str], replicates: Sequence[int] | None = None
) -> list[Subject]:
    """A method at its defaults on all backbones of a recipe."""
    recipe = read_recipe(recipe_name)
    require_used(recipe, folders)
    rule = require_tuning(recipe, recipe_name)
    subjects, judged = [], judged_by(rule, recipe)
    for backbone in recipe.backbones:
        seconds = recipe.backbones[backbone].step_seconds
        for replicate in replicates or range(recipe.seeds):
            setup = resolve_setup(judged, backbone, folders, replicate=replicate)
            subjects.append(Subject(recipe_name, backbone, method, setup, rule, replicate, step_seconds=seconds))
    return subjects


def recipe_at(method: str, scale: str) -> str:
    """The recipe of a scale that trains the towers of a method: that of the tables that have it, or the only one."""
    recipes: dict[str, set[str | None]] = {}
    for table in map(read_table, table_names()):
        if scale in table.recipes:
            recipes.setdefault(table.recipes[scale], set()).update(row.method for row in table.rows)
    serves = described_method(method).serves
    fitting = [name for name in recipes if read_recipe(name).setup().towers in serves]
    chosen = [name for name in fitting if method in recipes[name]] or fitting
    if len(chosen) == 1:
        return chosen[0]
    if not recipes:
        raise UnknownError(
            "scale", scale, {scale for table in map(read_table, table_names()) for scale in table.recipes}
        )
    found = f"several recipes train {method}: {', '.join(chosen)}" if chosen else f"no recipe trains {method}"
    raise UsageError(f"at scale {scale}, {found}. Give --recipe NAME.")
