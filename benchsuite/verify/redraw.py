"""Draw trials again from their numbers, to check what a file of trials says. Reads cards, so it needs no torch."""

from collections.abc import Iterator

from pydantic import ValidationError

from benchsuite.canonical import canonical
from benchsuite.cards import REQUIRED, Card
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import Draw, draws, is_temperature
from benchsuite.records.method_version import version_state
from benchsuite.records.record_file import Finding
from benchsuite.records.trials import Trial, TrialsFile
from benchsuite.registry import methods
from benchsuite.verify.audit_trials import AGAIN, named


def check_draws(file: TrialsFile, where: str) -> Iterator[Finding]:
    """Trials whose hyper-parameters are not what their number draws, for methods of the same version.

    A draw that a method refuses is passed over, and cards cannot tell which it refuses: any of a trial's draws counts.
    """
    try:
        rule = Tuning.model_validate(file.rule)
    except ValidationError as error:
        yield Finding(where, f"its rule is none: {error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}", AGAIN)
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
        if canonical(value) != canonical(right):
            yield f"{field.name} is {value}, but nothing draws it and {right} is given"


def _is(draw: Draw, trial: Trial) -> bool:
    values = {name: trial.method.hyperparameters.get(name) for name in draw.hyperparameters}
    return values == draw.hyperparameters and trial.method.learning_rate == draw.learning_rate
