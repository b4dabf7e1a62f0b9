"""How sensitive a method is: the temperature of each tuning trial against its score."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchsuite.analysis.labels import temperatures
from benchsuite.analysis.table_view import TableView
from benchsuite.records.trials import Trial, TrialsFile, best, by_subject
from benchsuite.report.figures.model import Axis, Figure, Part, Trace, slug, spoken


def sensitivity_figures(method: str, files: Mapping[str, TrialsFile], views: Sequence[TableView]) -> list[Figure]:
    """One for each recipe and temperature under which the method was tuned; towers are its marks."""
    shown = {view.setting.name: view for view in views}
    return [figure for name, file in sorted(files.items()) for figure in _of_recipe(method, file, shown.get(name))]


def _of_recipe(method: str, file: TrialsFile, view: TableView | None) -> Iterator[Figure]:
    tuned = [one for one in file.trials if (one.method.name, one.regime, one.method.longer) == (method, "tuned", 1)]
    searches = by_subject([file.model_copy(update={"trials": tuned})]).values()
    chosen = [trial for found in searches if (trial := best(found))]
    for name in temperatures(chosen[0].method) if chosen else ():
        trials = [trial for trial in tuned if trial.score is not None and _value(trial, name) > 0]
        values = sorted(_value(trial, name) for trial in chosen)
        if len({_value(trial, name) for trial in trials}) < 2:
            continue
        traces = []
        for style, label in enumerate(dict.fromkeys(trial.label for trial in trials)):
            tower = view.stand_in(label) if view else label
            own = [trial for trial in trials if trial.label == label]
            traces += [_trace(tower, "seed", style, name, own)]
            traces += [_trace(tower, "mean", style, name, [trial for trial in own if trial in chosen])]
        title = f"{spoken(name)} against the score on {file.recipe}"
        caption = (
            f"Small: a trial, by {file.rule['measure']}; large: the best of each of {len(chosen)} searches, with "
            f"{name} {values[0]:.3g} to {values[-1]:.3g}, median {median(values):.3g}. Trials differ in all other "
            "hyper-parameters and the learning rate, too."
        )
        axes = Axis(name, log=True), Axis("Score", percent=True)
        yield Figure(f"{method}-{slug(title)}", slug(title), "points", title, caption, *axes, traces)


def _trace(tower: str, part: Part, style: int, name: str, trials: Sequence[Trial]) -> Trace:
    values, scores = [_value(trial, name) for trial in trials], [trial.score or 0.0 for trial in trials]
    return Trace(tower, values, scores, part, style, [trial.replicate for trial in trials])


def _value(trial: Trial, name: str) -> float:
    return float(trial.method.hyperparameters[name])
