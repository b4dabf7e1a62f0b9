"""Pages of tuning: for a recipe and a backbone what each method was tuned with, and how rows refer to their trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchsuite.analysis.labels import temperatures
from benchsuite.analysis.tuned_methods import RATE, DrawnNumber, TunedMethod
from benchsuite.harmless import csv_text
from benchsuite.records.schema import Record
from benchsuite.report import numbers
from benchsuite.report.figures.from_trials import sensitivity_figures, short, tuning_figures
from benchsuite.report.figures.model import Figure, distinct
from benchsuite.report.links import slug

if TYPE_CHECKING:
    from benchsuite.records.trials import Trial


@dataclass(frozen=True)
class TunedPanels:
    """A subject with its panels."""

    subject: TunedMethod
    curve: Figure | None
    """None if all trials failed, as without panels."""
    panels: Sequence[Figure]

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return anchor(self.subject)


def page_of(recipe: str, backbone: str) -> str:
    """The page's name."""
    return f"tuning/{slug(f'{recipe}-{backbone}')}"


def anchor(subject: TunedMethod) -> str:
    """A method's place on its page."""
    return f"method-{slug(' '.join(subject.key[3:]))}"


def values(found: Sequence[TunedMethod]) -> Mapping[str, Any]:
    """What the page shows."""
    curves, panels = tuning_figures(found), sensitivity_figures(found)
    figures = distinct([*curves.values(), *(figure for several in panels.values() for figure in several)])
    left = iter(figures)
    first = {key: next(left) for key in curves}
    rest = {key: [next(left) for _ in several] for key, several in panels.items()}
    shown = [TunedPanels(one, first.get(one.key), rest.get(one.key, [])) for one in found]
    return {
        "found": shown,
        "rule": rule(found[0]),
        "page": page_of(found[0].recipe, found[0].backbone),
        "csv": {"trials": trials_csv(found), "curves": one_csv(list(first.values()))},
    }


def trials_csv(found: Sequence[TunedMethod]) -> str:
    """A line for each trial, with a column for each number that any method draws."""
    names = list(dict.fromkeys(one.name for subject in found for one in subject.drawn))
    lines: list[Sequence[Any]] = [("method", "trial", "seed", "score", "chosen", "error", *names)]
    for subject in found:
        drawn = {one.name: one.values for one in subject.drawn}
        for trial in subject.trials:
            values = [drawn.get(name, {}).get(trial.number, "") for name in names]
            chosen = trial is subject.chosen
            lines.append([subject.label, trial.number, trial.seed, trial.score, chosen, trial.error, *values])
    return csv_text(lines)


def one_csv(figures: Sequence[Figure]) -> str:
    """The data of figures that have the same columns, under one head."""
    texts = [figure.csv.partition("\n") for figure in figures]
    return "".join([f"{texts[0][0]}\n", *(lines for _, _, lines in texts)]) if texts else ""


def rule(subject: TunedMethod) -> Mapping[str, str]:
    """The recipe's rule, in words."""
    said, setup = subject.rule, subject.setup
    protocol, _, metric = subject.measure.name.rpartition(".")
    known = setup.protocols.get(protocol) if setup else None
    split = known.options.get("split") if known else None
    first = subject.trials[0]
    words = {
        "Trials": f"{said.get('trials', 'unknown')} for each method, and the same number for all",
        "Each trial": (
            f"draws every number of the method log-uniformly within a factor of {_factor(said, 'spread')} of its "
            f"default, and the learning rate within a factor of {_factor(said, 'learning_rate_spread')} of the "
            "recipe's; switches and choices are not tuned"
        ),
        "Judged by": f"{metric} of {protocol}"
        + (f", on the split {split}" if split else "")
        + "; higher is better. A method may be weaker on what it was not judged by",
        "Seeds": f"trial k (0, 1, 2, ...) has seed {first.seed - first.number} + k; reported runs have lower seeds",
        "Chosen": "the trial with the best score. A failed trial counts as the lowest score, and is never chosen",
    }
    if setup and setup.temperature_factor != 1:
        words["Temperatures"] = f"their defaults are the methods' times {setup.temperature_factor:g}, as at this scale"
    return words


def _factor(said: Mapping[str, Any], name: str) -> str:
    return f"{said[name]:g}" if name in said else "unknown"


def settings(trial: "Trial", subject: TunedMethod) -> str:
    """What was drawn in a trial: `tau 0.07, learning rate 0.003`."""
    return ", ".join(_setting(one, value) for one, value in _drawn(trial, subject))


def chosen_settings(subject: TunedMethod) -> str:
    """The same of the chosen trial, which says where a value is near the end of what was drawn."""
    if subject.chosen is None:
        return ""
    return ", ".join(
        f"{_setting(one, value)}{' (near the end of its range)' * near_end(one, value, subject.rule)}"
        for one, value in _drawn(subject.chosen, subject)
    )


def _drawn(trial: "Trial", subject: TunedMethod) -> list[tuple[DrawnNumber, float]]:
    return [(one, one.values[trial.number]) for one in subject.drawn if trial.number in one.values]


def _setting(drawn: DrawnNumber, value: float) -> str:
    return f"{drawn.name.replace('_', ' ') if drawn.name == RATE else drawn.name} {short(value)}"


def near_end(drawn: DrawnNumber, value: float, rule: Mapping[str, Any]) -> bool:
    """Whether a better value may lie outside of what was drawn: a factor of 4/3 or less is left to the range's end. Of
    temperatures and the learning rate alone, which are drawn around a default by one factor."""
    spread = rule.get("learning_rate_spread" if drawn.name == RATE else "spread")
    if not spread or not drawn.default or not value or not (drawn.temperature or drawn.name == RATE):
        return False
    ratio = abs(value / drawn.default)
    return max(ratio, 1 / ratio) > 0.75 * float(spread)


def score(subject: TunedMethod, value: float | None) -> str:
    """In the unit of the measure."""
    return numbers.DASH if value is None else numbers.in_unit(value, subject.measure.unit)


def own(record: Record) -> str:
    """What a row has of its own: `tau 0.05, learning rate 0.003, 2 times the steps`. Where it was tuned, temperatures
    that were not are said to be as printed."""
    rate, longer = record.method.learning_rate, record.method.longer
    printed = record.tuned.printed if record.tuned else []
    said = [
        f"{name} {short(value)}{' (as printed, not tuned)' * (name in printed)}"
        for name, value in temperatures(record).items()
    ]
    said += [f"learning rate {short(rate)}"] if rate else []
    return ", ".join([*said, *([f"{longer:g} times the steps"] if longer != 1 else [])])


def trials_behind(record: Record) -> str:
    """`trial 7 of 16, the best`, from trial 0 on; empty for hyper-parameters as printed."""
    tuned = record.tuned
    return f"trial {tuned.trial} of {tuned.trials}, the best" if tuned else ""
