"""Validate tuning trials, each against itself and its file, and what records say of the trials that chose their values.

That hyper-parameters are those that a trial's number draws is checked where methods are known: `verify.redraw`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from benchsuite.canonical import canonical
from benchsuite.records.record_file import Finding
from benchsuite.records.schema import PARAPHRASES, Record, TunedBy, run_id, trial_seed, uncovered
from benchsuite.records.trials import Trial, TrialsFile, best, by_subject, trials_digest

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
            what = f"{subject[1]}, replicate {subject[-1]}, has trial {', '.join(map(str, twice))} twice"
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


def check_tuned(records: Mapping[str, Record], files: Iterable[TrialsFile]) -> Iterator[Finding]:
    """Records, by file name, whose account of their tuning is not that of the trials."""
    subjects: dict[tuple[str, int, int], list[tuple[TrialsFile, list[Trial]]]] = defaultdict(list)
    for file in files:
        for (_, method, version, *_, replicate), trials in by_subject([file]).items():
            subjects[method, version, replicate].append((file, sorted(trials, key=lambda trial: trial.number)))
    for name, record in records.items():
        if record.tuned:
            candidates = subjects[record.method.name, record.method.version, record.seed]
            yield from (Finding(name, what, PUT_TRIALS) for what in _tuned_wrongly(record, record.tuned, candidates))


PUT_TRIALS = "put its trials into trials/, or delete the record and measure it again"


def _tuned_wrongly(record: Record, tuned: TunedBy, candidates: list[tuple[TrialsFile, list[Trial]]]) -> Iterator[str]:
    found = [(f, t[: tuned.trials]) for f, t in candidates if trials_digest(t[: tuned.trials]) == tuned.digest]
    if not found:
        yield f"the {tuned.trials} trials that it was tuned by (digest {tuned.digest[:16]}) are not there"
        return
    file, trials = found[0]
    chosen = best(trials)
    if chosen is None or (chosen.number, chosen.score, len(trials)) != (tuned.trial, tuned.score, tuned.trials):
        right = f"trial {chosen.number} with {chosen.score}" if chosen else "none"
        yield f"it names trial {tuned.trial} with {tuned.score} of {tuned.trials}; the best of {len(trials)} is {right}"
        return
    for name, value in record.method.hyperparameters.items():
        if canonical(value) != canonical(chosen.method.hyperparameters.get(name)):
            yield f"its {name} is {value}, but trial {chosen.number} has {chosen.method.hyperparameters.get(name)}"
    rate, base = chosen.method.learning_rate, file.setups[chosen.setup_id].optimizer.lr
    right_rate = rate and rate * (record.setup.optimizer.lr / base)
    if record.method.learning_rate != right_rate:
        yield f"its learning rate is {record.method.learning_rate}, but trial {chosen.number} gives {right_rate}"
    if record.cost.get("tuning_trials") != tuned.trials:
        yield f"cost.tuning_trials is {record.cost.get('tuning_trials')}, but it was tuned by {tuned.trials}"


def named(trial: Trial) -> str:
    """A trial in words."""
    return f"{trial.label} {trial.method.name}, replicate {trial.replicate}, trial {trial.number}"
