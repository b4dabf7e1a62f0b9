"""What the runs of one method did over the training."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchsuite.analysis.curves import Curve, curve, mean_curve, span_of, thinned
from benchsuite.analysis.labels import labels, recipes_of, titles
from benchsuite.records.schema import Record
from benchsuite.report.figures.from_table import lines_of, seed_words
from benchsuite.report.figures.model import MANY, STEP, Axis, Figure, Trace, distinct, in_words, slug, spoken, unique

MOST_SETUPS = 6
FIRST = ("loss", "gap", "gradient_norm")
NOT_SHOWN = ("step", "lr")
MOST_CURVES = 7
"""Figures of one method; the curves of a run are all on its page."""


def method_figures(records: Sequence[Record]) -> list[Figure]:
    """A figure for each curve: the loss, temperatures and margins, gap, gradient norm, and what the method adds."""
    setups: dict[tuple[str | None, ...], list[Record]] = {}
    for record in sorted(records, key=lambda record: (record.seed, record.run_id)):
        setups.setdefault((record.setup_id, *record.configuration), []).append(record)
    groups = sorted(setups.values(), key=lambda runs: (-len(runs), runs[0].setup_id, runs[0].method_id))
    figures = [figure for name in _names(records) for figure in _figure(name, groups)]
    if (more := len(figures) - MOST_CURVES) > 0:
        last = figures[MOST_CURVES - 1]
        note = f"{more} further {'curve is' if more == 1 else 'curves are'} only on the pages of runs."
        figures[MOST_CURVES - 1 :] = [replace(last, caption=f"{last.caption} {note}")]
    return distinct(figures)


def _figure(name: str, groups: Sequence[list[Record]]) -> Iterator[Figure]:
    curves = [[(record, shown) for record in group if (shown := curve(record, name)).known] for group in groups]
    curves = [group for group in curves if group]
    drawn = curves[:MOST_SETUPS]
    each = lines_of if sum(map(len, drawn)) <= MANY else _spanned
    traces: list[Trace] = []
    for style, (label, group) in enumerate(zip(_labels([group[0][0] for group in drawn]), drawn, strict=True)):
        traces += each(label, style, [(record.seed, shown) for record, shown in group])
    if traces:
        caption = seed_words(traces)
        if any(trace.low for trace in traces):
            caption = "Lines: means over seeds; bands: from the lowest to the highest seed."
        if skipped := len(curves) - len(drawn):
            caption += f" {skipped} further {'setup is' if skipped == 1 else 'setups are'} not shown."
        method = groups[0][0].method
        title, short = f"{method.title}: {in_words(name)}", slug(name)
        key = f"method-{unique(method.name)}-{short}"
        yield Figure(key, short, "curves", title, caption, STEP, Axis(spoken(name)), traces)


def _spanned(label: str, style: int, runs: Sequence[tuple[int, Curve]]) -> list[Trace]:
    """The mean with a band; of a single run, its line."""
    curves = [shown for _, shown in runs]
    mean = thinned(mean_curve(curves))
    if len(runs) == 1 or not mean.known:
        return lines_of(label, style, runs)
    low, high = span_of(curves, mean.steps)
    return [Trace(label, mean.steps, mean.values, "mean", style, low=low, high=high)]


def _names(records: Sequence[Record]) -> list[str]:
    """Curves that are shown: terms and gauges of any name, but not what is evaluated now and then."""
    names = dict.fromkeys(name for record in records for name in record.curves if "." not in name)
    chosen = [name for name in names if {"temperature", "margin"} & set(name.split("_"))]
    order = dict.fromkeys([FIRST[0], *chosen, *FIRST[1:], *names])
    return [name for name in order if name in names and name not in NOT_SHOWN]


def _labels(records: Sequence[Record]) -> list[str]:
    """Each configuration as boards call it, after the setup's title where there are several."""
    setups = titles({record.setup_id: record.setup for record in records}, (), recipes_of(records))
    named = {}
    for setup_id, title in setups.items():
        own = [record for record in records if record.setup_id == setup_id]
        for record, label in zip(own, labels(own), strict=True):
            named[record.run_id] = f"{title}: {label}" if len(setups) > 1 else label
    return [named[record.run_id] for record in records]
