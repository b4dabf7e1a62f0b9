"""What the runs of one method did over the training."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchsuite.analysis.curves import Curve, curve, mean_curve, span_of, thinned
from benchsuite.records.schema import Record
from benchsuite.report.figures.model import STEP, Axis, Figure, Trace, distinct, slug, spoken, unique
from benchsuite.report.figures.table import lines_of, seed_words
from benchsuite.setup import Setup

MOST = 12
"""Runs that are drawn one by one; of more, each setup is its mean and the span of its seeds."""
MOST_SETUPS = 8
FIRST = ("loss", "gap", "gradient_norm")


def method_figures(records: Sequence[Record]) -> list[Figure]:
    """A figure for the loss, every temperature and margin, the gap, and the gradient norm."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=lambda one: (one.seed, one.run_id)):
        found.setdefault((record.setup_id, record.method_id), []).append(record)
    groups = sorted(found.values(), key=lambda some: (-len(some), list(_facts(some[0]).values())))
    return distinct([one for name in _names(records) for one in _figure(name, groups)])


def _figure(name: str, groups: Sequence[list[Record]]) -> Iterator[Figure]:
    curves = [[(record, found) for record in some if (found := curve(record, name)).known] for some in groups]
    told = [some for some in curves if some]
    drawn = told[:MOST_SETUPS]
    runs = [[(record.seed, found) for record, found in some] for some in drawn]
    each = lines_of if sum(map(len, runs)) <= MOST else _spanned
    named = zip(_labels([some[0][0] for some in drawn]), runs, strict=True)
    traces = [one for style, (label, some) in enumerate(named) for one in each(label, style, some)]
    if not traces:
        return
    spanned = any(one.low for one in traces)
    caption = "Lines: means over seeds; bands: from the least seed to the greatest." if spanned else seed_words(traces)
    left = len(told) - len(drawn)
    caption += f" {left} further {'setup is' if left == 1 else 'setups are'} left out." if left else ""
    method = groups[0][0].method
    title, short = f"{method.title}: {spoken(name).lower()}", slug(name)
    key = f"method-{unique(method.name)}-{short}"
    yield Figure(key, short, "curves", title, caption, STEP, Axis(spoken(name)), traces)


def _spanned(label: str, style: int, runs: Sequence[tuple[int, Curve]]) -> list[Trace]:
    """The mean with a band; of a single run, its line."""
    mean = thinned(mean_curve([found for _, found in runs]))
    if len(runs) == 1 or not mean.known:
        return lines_of(label, style, runs)
    low, high = span_of([found for _, found in runs], mean.steps)
    return [Trace(label, mean.steps, mean.values, "mean", style, low=low, high=high)]


def _names(records: Sequence[Record]) -> list[str]:
    """Curves that are shown, those that every method has first."""
    found = dict.fromkeys(name for record in records for name in record.curves)
    chosen = [name for name in found if {"temperature", "margin"} & set(name.split("_"))]
    return [name for name in (FIRST[0], *chosen, *FIRST[1:]) if name in found]


def _labels(records: Sequence[Record]) -> list[str]:
    """What tells groups of runs apart, in as few facts as will do; where none does, the setup's identity."""
    facts = [_facts(record) for record in records]
    said: list[tuple[str, ...]] = [()] * len(records)
    for name in dict.fromkeys(name for one in facts for name in one):
        longer = [(*before, one.get(name, f"no {name}")) for before, one in zip(said, facts, strict=True)]
        if len(set(longer)) > len(set(said)):
            said = longer
    labels = [", ".join(one) or record.method.title for one, record in zip(said, records, strict=True)]
    return [
        f"{label}, setup {record.setup_id[:8]}" if labels.count(label) > 1 else label
        for label, record in zip(labels, records, strict=True)
    ]


def _facts(record: Record) -> dict[str, str]:
    """What a setup or a choice of hyper-parameters is called if it differs from another, the plainest first."""
    setup, steps = record.setup, record.setup.training.steps
    options = sorted(record.method.hyperparameters.items())
    told = {"data": setup.data.name, "tower": _tower(setup)} | {name: f"{name}={_value(v)}" for name, v in options}
    told |= {"steps": f"{steps} {'step' if steps == 1 else 'steps'}", "batch": f"batch {setup.training.batch}"}
    told["rate"] = f"lr {setup.optimizer.lr:g}"
    return told | {f"data {name}": f"{name}={_value(value)}" for name, value in sorted(setup.data.options.items())}


def _tower(setup: Setup) -> str:
    return setup.image.timm if setup.image else setup.text.transformer if setup.text else ""


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
