"""What tuning found: the best score by the number of trials, and the score at each drawn value."""

import math
from collections.abc import Sequence

from benchsuite.analysis.tuned_methods import RATE, DrawnNumber, TunedMethod, reference_of
from benchsuite.report.figures.model import Axis, Figure, Trace, slug, unique

ROOM = 0.12
"""Above and below, as a share of what a scale shows."""
LOG_FROM = 3
"""The axis of a drawn value is logarithmic if the greatest is more than so many times the least."""


def tuning_figures(found: Sequence[TunedMethod]) -> dict[tuple[str, ...], Figure]:
    """A panel for each subject of which any trial finished, by its key; one scale for all."""
    shown = [subject for subject in found if subject.chosen]
    ends = _ends([float(y) for subject in shown for y in subject.curve.median], shown)
    return {subject.key: _curve(subject, reference_of(subject, shown), ends) for subject in shown}


def sensitivity_figures(found: Sequence[TunedMethod]) -> dict[tuple[str, ...], list[Figure]]:
    """A panel for each drawn value of each subject of which any trial finished; one scale of scores for all."""
    shown = [subject for subject in found if subject.chosen]
    ends = _ends([score for subject in shown for score in subject.finished.values()], shown)
    return {subject.key: [_scores(subject, one, ends) for one in subject.drawn] for subject in shown}


def short(value: float) -> str:
    """A hyper-parameter as people write it."""
    return f"{value:.3g}"


def _curve(subject: TunedMethod, reference: TunedMethod | None, ends: tuple[float, float]) -> Figure:
    curve, chosen = subject.curve, subject.chosen
    ns = curve.ns.tolist()
    series = [Trace(subject.label, ns, curve.median.tolist(), low=curve.low.tolist(), high=curve.high.tolist())]
    if reference and reference is not subject:
        beside = reference.curve
        series.append(Trace(reference.label, beside.ns.tolist(), beside.median.tolist(), "reference"))
    caption = f"The best of {len(subject.trials)} trials was number {chosen.number}." if chosen else ""
    caption += f" {subject.failed} failed." if subject.failed else ""
    y = Axis(f"Median best {_measure(subject)}", subject.measure.unit == "percent", ends=ends)
    return Figure(
        f"{_id(subject)}-curve", slug(f"curve {subject.label}"), "tuning", subject.label, caption,
        Axis("Trials", whole=True), y, series,
    )  # fmt: skip


def _scores(subject: TunedMethod, drawn: DrawnNumber, ends: tuple[float, float]) -> Figure:
    scores, chosen = subject.finished, subject.chosen
    finished = {number: value for number, value in drawn.values.items() if number in scores}
    others = [number for number in finished if not chosen or number != chosen.number]
    failed = [value for number, value in drawn.values.items() if number not in scores]
    series = [Trace("trial", [finished[n] for n in others], [scores[n] for n in others], "trial", seeds=others)]
    caption = ""
    if chosen and chosen.number in finished:
        value = finished[chosen.number]
        series.append(Trace("chosen", [value], [scores[chosen.number]], "chosen", seeds=[chosen.number]))
        caption = f"Chosen {short(value)}"
    if drawn.default is not None:
        series.append(Trace("default", [drawn.default], [math.nan], "default"))
        caption += f", default {short(drawn.default)}"
    if failed:
        series.append(Trace("failed", failed, [math.nan] * len(failed), "failed"))
    values = [*drawn.values.values(), *([drawn.default] if drawn.default is not None else [])]
    log = 0 < min(values) * LOG_FROM < max(values)
    name = drawn.name.replace("_", " ") if drawn.name == RATE else drawn.name
    x = Axis(f"{name} (log scale)" if log else name, log=log)
    y = Axis(_measure(subject), subject.measure.unit == "percent", ends=ends)
    title = f"{subject.label}: {name}"
    return Figure(
        f"{_id(subject)}-{unique(drawn.name)}", slug(f"{drawn.name} {subject.label}"), "sensitivity", title,
        f"{caption}.", x, y, [trace for trace in series if trace.x],
    )  # fmt: skip


def _ends(values: Sequence[float], shown: Sequence[TunedMethod]) -> tuple[float, float]:
    """A scale for all panels, with room for what leaves it; a fraction stays between 0 and 1."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    room = ROOM * (max(finite) - min(finite)) or ROOM * abs(max(finite)) or 1.0
    low, high = min(finite) - room, max(finite) + room
    return (max(low, 0.0), min(high, 1.0)) if all(one.measure.unit == "percent" for one in shown) else (low, high)


def _measure(subject: TunedMethod) -> str:
    protocol, _, metric = subject.measure.name.rpartition(".")
    return f"{metric} ({protocol})"


def _id(subject: TunedMethod) -> str:
    return f"tuning-{unique(' '.join(subject.key))}"
