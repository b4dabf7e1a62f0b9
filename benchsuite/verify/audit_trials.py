"""Validate tuning trials: each against itself and its file, what its number draws, and what records say of trials.

Draws are read from the methods' cards, so it needs no torch.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from benchsuite.analysis.climbs import climb
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.stats import compare
from benchsuite.analysis.table_view import TableView
from benchsuite.canonical import alike
from benchsuite.cards import REQUIRED, Card
from benchsuite.fields import first_problem
from benchsuite.papers.schema import row_name
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import Draw, draws, is_temperature
from benchsuite.records.method_version import version_state
from benchsuite.records.names import TABLES
from benchsuite.records.record_file import Finding
from benchsuite.records.schema import PARAPHRASES, Record, TunedBy, run_id, searches_of, trial_seed, uncovered
from benchsuite.records.trials import Trial, TrialsFile, best, by_subject, trials_digest
from benchsuite.registry import methods
from benchsuite.report.numbers import climbed, paired

AGAIN = "put the file back as it was written, or delete it and tune again"


def check_trials(file: TrialsFile, where: str) -> Iterator[Finding]:
    """Identities, seeds and scores, and that no trial of a subject is missing."""
    for identity, setup in file.setups.items():
        if setup.setup_id != identity:
            yield Finding(where, f"setup {identity} gives {setup.setup_id}", AGAIN)
    for trial in file.trials:
        yield from (Finding(where, f"{named(trial)}: {what}", AGAIN) for what in _contradictions(trial, file))
    for subject, trials in by_subject([file]).items():
        numbers = [trial.number for trial in trials]
        if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
            what = f"{subject[1]}, replicate {trials[0].replicate}, has trial {', '.join(map(str, twice))} twice"
            yield Finding(where, what, AGAIN)
        if missing := sorted({*range(max(numbers))} - {*numbers}):
            what = f"{named(trials[-1])} is there, but not trial {', '.join(map(str, missing))}"
            yield Finding(where, what, "the same `benchsuite tune` does them")


def _contradictions(trial: Trial, file: TrialsFile) -> Iterator[str]:
    if (setup := file.setups.get(trial.setup_id)) is None:
        yield f"the file has no setup {trial.setup_id}"
        return
    data = setup.data.model_copy(update={"digest": trial.digests.get("data")})
    right = run_id(trial.setup_id, trial.method.method_id, trial.seed, uncovered(data, trial.digests.get(PARAPHRASES)))
    if trial.run_id != right:
        yield f"run_id is {trial.run_id}, but its setup, method, data and seed give {right}"
    if trial.seed != (seed := trial_seed(trial.replicate, trial.number)):
        yield f"its seed is {trial.seed}, but its replicate and number give {seed}"
    measured = trial.metrics.get(str(file.rule.get("measure")))
    if trial.score != measured:
        yield f"its score is {trial.score}, but {file.rule.get('measure')} is {measured}"
    if (trial.score is None) != bool(trial.error):
        yield (
            "it has neither a score nor an error"
            if trial.score is None
            else f"it has a score and an error: {trial.error}"
        )


class Searches:
    """The trials of a folder, by what records say of them."""

    def __init__(self, files: Iterable[TrialsFile]) -> None:
        self._subjects: dict[tuple[str, int, int], list[tuple[TrialsFile, list[Trial]]]] = defaultdict(list)
        for file in files:
            for (_, method, version, *_, replicate, _), trials in by_subject([file]).items():
                own = sorted(trials, key=lambda trial: trial.number)
                self._subjects[method, version, replicate].append((file, own))

    def of(self, record: Record, tuned: TunedBy) -> tuple[TrialsFile, list[Trial]] | None:
        """Those by which the record says that it was tuned, in order; none if they are not there."""
        candidates = self._subjects.get((record.method.name, record.method.version, record.seed), [])
        found = ((file, trials[: tuned.trials]) for file, trials in candidates)
        return next((one for one in found if trials_digest(one[1]) == tuned.digest), None)


def check_tuned(records: Mapping[str, Record], files: Iterable[TrialsFile]) -> Iterator[Finding]:
    """Records, by file name, whose account of their tuning is not that of the trials."""
    searches = Searches(files)
    for name, record in records.items():
        for tuned in searches_of(record).values():
            yield from (Finding(name, what, PUT_TRIALS) for what in _tuned_wrongly(record, tuned, searches))


PUT_TRIALS = "put its trials into trials/, or delete the record and measure it again"


def _tuned_wrongly(record: Record, tuned: TunedBy, searches: Searches) -> Iterator[str]:
    if not (found := searches.of(record, tuned)):
        yield f"the {tuned.trials} trials that it was tuned by (digest {tuned.digest[:16]}) are not there"
        return
    file, trials = found
    chosen = best(trials)
    if chosen is None or (chosen.number, chosen.score, len(trials)) != (tuned.trial, tuned.score, tuned.trials):
        right = f"trial {chosen.number} with {chosen.score}" if chosen else "none"
        yield f"it names trial {tuned.trial} with {tuned.score} of {tuned.trials}; the best of {len(trials)} is {right}"
        return
    for name, value in record.method.hyperparameters.items():
        if not alike(value, chosen.method.hyperparameters.get(name)):
            yield f"its {name} is {value}, but trial {chosen.number} has {chosen.method.hyperparameters.get(name)}"
    rate, base = chosen.method.learning_rate, file.setups[chosen.setup_id].optimizer.lr
    right_rate = rate and rate * (record.setup.optimizer.lr / base)
    if record.method.learning_rate != right_rate:
        yield f"its learning rate is {record.method.learning_rate}, but trial {chosen.number} gives {right_rate}"
    if tuned == record.tuned and record.cost.get("tuning_trials") != tuned.trials:
        yield f"cost.tuning_trials is {record.cost.get('tuning_trials')}, but it was tuned by {tuned.trials}"


def too_short(views: Iterable[TableView], files: Iterable[TrialsFile]) -> Iterator[Finding]:
    """Notes on rows of tuned tables whose searches are too short."""
    searches, by_place = Searches(files), {(view.asked.place, view.asked.regime): view for view in views}
    for (place, regime), view in by_place.items():
        if regime == "tuned":
            messages = [*_climbing(view, searches)]
            if printed := by_place.get((place, "printed")):
                messages += _below_printed(view, printed)
            goes_on = f"`repro` with --trials {2 * view.asked.trials} goes on"
            yield from (Finding(f"{TABLES}/{view.asked.name}.json", message, goes_on) for message in messages)


def _climbing(view: TableView, searches: Searches) -> Iterator[str]:
    """The second half of each search finds more than what is of interest, on average over replicates."""
    interest = min((one.difference for one in view.setting.primary.values()), default=math.inf)
    count = view.asked.trials
    for row in view.rows:
        tuned = [(record, record.tuned) for record in row.records if record.tuned and record.tuned.searched]
        found = {record.seed: own[1] for record, by in tuned if (own := searches.of(record, by))}
        gain = climb(found, count)
        if gain.difference is not None and gain.difference > interest:
            yield f"{row_name(row.key)}: its searches still climb: {climbed(count, gain)}"


def _below_printed(tuned: TableView, printed: TableView) -> Iterator[str]:
    """The best that searches find is significantly below the best with the row's values as printed."""
    for row in tuned.rows:
        other = printed.row(row.key)
        gain = compare(_best_scores(row), _best_scores(other)) if other else None
        if gain and gain.high is not None and gain.high < 0:
            yield f"{row_name(row.key)}: its searches end below its printed values: {paired(gain, 'percent')} points"


def _best_scores(row: TableRow) -> dict[int, float]:
    """By replicate, on validation data."""
    return {record.seed: record.tuned.score for record in row.records if record.tuned}


def named(trial: Trial) -> str:
    """A trial in words."""
    return f"{trial.label} {trial.method.name}, replicate {trial.replicate}, trial {trial.number}"


def check_draws(file: TrialsFile, where: str) -> Iterator[Finding]:
    """Trials whose hyper-parameters are not what their number draws, for methods of the same version.

    A draw that a method refuses is passed over, and cards cannot tell which it refuses: any of a trial's draws counts.
    """
    try:
        rule = Tuning.model_validate(file.rule)
    except ValidationError as error:
        yield Finding(where, f"its rule is none: {first_problem(error)}", AGAIN)
        return
    for trial in file.trials:
        name = trial.method.name
        if version_state(trial.method) == "current" and trial.setup_id in file.setups:
            for what in _wrong(trial, file, rule, methods.card(name)):
                yield Finding(where, f"{named(trial)}: {what}", "delete the file and tune again")


def unknown_draws(file: TrialsFile, where: str) -> Iterator[Finding]:
    """Notes on methods whose draws cannot be checked here."""
    for name in sorted({trial.method.name for trial in file.trials}):
        versions = {trial.method.version for trial in file.trials if trial.method.name == name}
        if name not in methods:
            message = f"whether the trials of {name} are what was drawn is unknown, because it is not registered here"
            yield Finding(where, message, "load its file with --plugin")
        elif versions - {(here := methods.card(name).version)}:
            message = f"trials of {name} were made with another version of it than {here}"
            yield Finding(where, message, "`benchsuite tune` makes new ones")


def _wrong(trial: Trial, file: TrialsFile, rule: Tuning, card: Card) -> Iterator[str]:
    setup, method = file.setups[trial.setup_id], trial.method
    rate, factor, alone = setup.optimizer.lr, setup.temperature_factor, trial.regime == "printed"
    tried = draws(card, trial.fixed, trial.number, trial.replicate, rule, rate, factor, alone)
    first = next(tried)
    if not (_is(first, trial) or any(_is(draw, trial) for draw in tried)):
        values = {**first.hyperparameters, "learning rate": first.learning_rate}
        listed = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        yield f"its hyper-parameters are not those that its number draws ({listed})"
    for field in card.fields:
        if field.name in first.hyperparameters or field.default == REQUIRED:
            continue
        given = trial.fixed.get(field.name, field.default)
        scaled = is_temperature(field) and isinstance(given, int | float)
        right = given * setup.temperature_factor if scaled else given
        value = method.hyperparameters.get(field.name)
        if not alike(value, right):
            yield f"{field.name} is {value}, but nothing draws it and {right} is given"


def _is(draw: Draw, trial: Trial) -> bool:
    values = {name: trial.method.hyperparameters.get(name) for name in draw.hyperparameters}
    return values == draw.hyperparameters and trial.method.learning_rate == draw.learning_rate
