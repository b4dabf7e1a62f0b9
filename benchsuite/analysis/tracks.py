"""One question on several tracks: each headline claim at every scale, and how far scales order methods alike."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchsuite.analysis.both_regimes import InBothRegimes, in_both_regimes
from benchsuite.analysis.judged_claims import JudgedClaim, judged_claims
from benchsuite.analysis.stats import BySeed, Floats, as_matrix
from benchsuite.analysis.table_view import TableView
from benchsuite.canonical import canonical
from benchsuite.records.schema import Record
from benchsuite.streams import numpy_stream

RESAMPLINGS = 2000
FEWEST = 4
"""Configurations below which there is no order to speak of: of three, chance gives the same order in one of six."""
Configuration = tuple[str, bytes]
"""A method's title, and what identifies it on any track."""


def across_scales(views: Sequence[TableView]) -> dict[str, list[InBothRegimes | JudgedClaim]]:
    """By table and claim: what became of each headline claim at each scale, in both regimes or in the one that ran."""
    found: defaultdict[str, list[InBothRegimes | JudgedClaim]] = defaultdict(list)
    whole = set()
    for both in in_both_regimes(views):
        whole.add((both.tuned.claim.table, both.tuned.scale))
        found[f"{both.tuned.claim.table}: {both.tuned.claim.name}"].append(both)
    for view in views:
        if (view.asked.table, view.asked.scale) not in whole:
            for judged in judged_claims(view):
                if judged.claim.headline:
                    found[f"{judged.claim.table}: {judged.claim.name}"].append(judged)
    return dict(found)


@dataclass(frozen=True)
class TrackAgreement:
    """How far two scales order the methods alike that both have, by the means over replicates."""

    first: str
    second: str
    towers: str
    """Backbone, and what else the rows have in common: the paper's data, or the optimizer."""
    regime: str
    measure: str
    """Primary at both: "protocol.metric"."""
    methods: tuple[str, ...]
    """A title for each configuration."""
    tau: float
    """Kendall's tau-b."""
    low: float
    high: float
    """95% of resamplings of the replicates of either scale lie between; the methods are taken as they are."""


def track_agreements(views: Sequence[TableView]) -> list[TrackAgreement]:
    """For each two scales, regime, towers and primary measure with at least four configurations that both have."""
    orders: defaultdict[tuple[str, str, str], defaultdict[str, dict[Configuration, BySeed]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for view in views:
        for row in (row for row in view.rows if row.records):
            for measure, values in _primary_values(view, row.records):
                towers = ", ".join(filter(None, (row.backbone, row.variant)))
                place = orders[towers, view.asked.regime, measure]
                place[view.asked.scale].setdefault(_configuration(row.records[0]), values)
    return [agreement for place, scales in orders.items() for agreement in _agreements(*place, scales)]


def _primary_values(view: TableView, records: Sequence[Record]) -> Iterator[tuple[str, BySeed]]:
    for protocol, stated in view.setting.primary.items():
        measure = f"{protocol}.{stated.metric}"
        found = ((record.seed, record.value(measure)) for record in records)
        if values := {seed: value for seed, value in found if value is not None}:
            yield measure, values


def _configuration(record: Record) -> Configuration:
    """The method with what no search chose: its identity on any track."""
    searched = record.tuned.searched if record.tuned else ()
    given = {name: value for name, value in record.method.hyperparameters.items() if name not in searched}
    return record.method.title, canonical([record.method.name, record.method.longer, given])


def _agreements(
    towers: str, regime: str, measure: str, scales: Mapping[str, Mapping[Configuration, BySeed]]
) -> Iterator[TrackAgreement]:
    for first, second in combinations(sorted(scales), 2):
        shared = sorted(scales[first].keys() & scales[second].keys())
        if len(shared) < FEWEST:
            continue
        # [methods, seeds], of seeds that all methods have
        sides = [as_matrix([scales[scale][key] for key in shared])[0] for scale in (first, second)]
        sides = [values[:, ~np.isnan(values).any(axis=0)] for values in sides]
        if not all(values.size for values in sides):
            continue
        rng = numpy_stream(0, "agreement of tracks", first, second, measure)
        columns = [rng.integers(values.shape[1], size=(RESAMPLINGS, values.shape[1])) for values in sides]
        # means [resamplings, methods] over replicates drawn with replacement, the same ones for all methods
        drawn = tau(*(side[:, own].mean(axis=2).T for side, own in zip(sides, columns, strict=True)))
        (whole,) = tau(*(values.mean(axis=1)[None] for values in sides)).tolist()
        if np.isnan(whole):  # all means of a side are equal: no order
            continue
        low, high = np.nanquantile(drawn, (0.025, 0.975)).tolist()
        methods = tuple(title for title, _ in shared)
        yield TrackAgreement(first, second, towers, regime, measure, methods, whole, low, high)


def tau(first: Floats, second: Floats) -> Floats:
    """Kendall's tau-b of each line of means [lines, methods] with the same line of the other."""
    left, right = np.triu_indices(first.shape[1], 1)
    signs = [np.sign(means[:, left] - means[:, right]) for means in (first, second)]
    with np.errstate(invalid="ignore"):
        found: Floats = (signs[0] * signs[1]).sum(axis=1) / np.sqrt(
            np.abs(signs[0]).sum(axis=1) * np.abs(signs[1]).sum(axis=1)
        )
    return found
