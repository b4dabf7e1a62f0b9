"""What a comparison came to, in lines for the terminal: who is better, by how much, how sure, and at what cost."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from shlex import quote
from statistics import fmean, median

from benchsuite.analysis.both_regimes import InBothRegimes, rate_alone
from benchsuite.analysis.judged_claims import JudgedClaim, judged_added, judged_claims
from benchsuite.analysis.rows import TableRow
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.verdict import Kind
from benchsuite.papers.schema import row_name
from benchsuite.records.requests import REGIMES, Regime
from benchsuite.records.schema import Record
from benchsuite.records.shipped import shipped_digests
from benchsuite.report.export_options import ExportOptions
from benchsuite.report.latex import row_lines
from benchsuite.report.numbers import DASH, counted, measured, p, paired, size, times
from benchsuite.report.paper_table import PaperTable

WORDS: Mapping[Kind, str] = {"reproduced": "better", "opposite": "worse"}
"""Of a claim that a method is better; other verdicts are words already."""


def answer_lines(views: Sequence[TableView], beside: Collection[str] = ()) -> Iterator[str]:
    """Of a table in one regime or both: the answers, then means, costs and hyper-parameters.

    Of methods `beside` it, no answers.
    """
    by_regime = {view.asked.regime: view for view in views}
    judged = {
        regime: {
            one.claim.name: one
            for one in (*judged_claims(view), *judged_added(view))
            if one.claim.headline and one.claim.row[2] not in beside
        }
        for regime, view in by_regime.items()
    }
    for name, first in next(iter(judged.values())).items():
        found = {regime: claims[name] for regime, claims in judged.items() if name in claims}
        yield f"{first.claim.row[2]} against {first.claim.reference[2]}, {first.claim.column.name}:"
        yield from (f"  {REGIMES[regime]}: {answer(one)}" for regime, one in found.items())
        if found.keys() == REGIMES.keys():
            alone = rate_alone(by_regime["tuned"], first.claim)
            both = InBothRegimes(found["printed"], found["tuned"], rate_alone=alone)
            yield f"  so: {both.outcome}, {both.meaning}"
    if by_regime.keys() == {"printed"}:
        searched = "the learning rate alone was" if by_regime["printed"].asked.trials else "nothing was"
        yield f"as printed, {searched} searched: hyper-parameters below may explain a difference"
    yield ""
    yield from _board(by_regime)


def answer(judged: JudgedClaim) -> str:
    """The difference with its interval, the verdict, and what could have been confirmed."""
    verdict, unit = judged.verdict, judged.claim.column.unit
    if verdict.paired is None or verdict.p_adjusted is None:
        return f"{verdict.kind}: {verdict.reason}"
    points = " points" * (unit == "percent")
    alone = ", one question alone" if verdict.family and verdict.family.size == 1 else ""
    known = f"p {p(verdict.p_adjusted)}{alone}, {counted(verdict.paired.n, 'replicate')}"
    sure = f"; smallest difference that could be confirmed: {size(verdict.confirmable, unit)}{points}"
    least = "" if verdict.confirmable is None else sure
    return f"{paired(judged.gains, unit)}{points}, paired: {WORDS.get(verdict.kind, verdict.kind)} ({known}){least}"


def _board(by_regime: Mapping[Regime, TableView]) -> Iterator[str]:
    """A line a row and regime, the best of the last regime first: its mean, its cost, and its hyper-parameters."""
    order = {row.key: _goodness(row, view) for view in by_regime.values() for row in view.rows}
    for regime, view in by_regime.items():
        rows = sorted(view.rows, key=lambda row: order[row.key], reverse=True)
        base = _seconds(view.rows[0])
        width = max(len(row.shown) for row in rows)
        first = view.rows[0].shown
        several = len({len(row.records) for row in rows}) > 1
        relative = f" seconds relative to {first}," if base else ""
        yield f"{view.columns[0].name}, {REGIMES[regime]}: mean,{relative} median hyper-parameters"
        for row in rows:
            seconds = _seconds(row)
            cost = "" if not base else f"  {times(seconds / base) if seconds else DASH}"
            of = f" ({counted(len(row.records), 'replicate')})" if several else ""
            yield f"  {row.shown:<{width}}  {measured(row.cells[0])}{of}{cost}  {', '.join(_values(row)) or row.gap}"
        yield from _best_line(view)


def _best(rows: Iterable[TableRow], view: TableView) -> TableRow:
    """The row with the best mean on the first column."""
    return max(rows, key=lambda row: _goodness(row, view))


def _goodness(row: TableRow, view: TableView) -> float:
    """Its mean on the first column, turned where lower is better; without runs, behind all others."""
    mean = row.cells[0].mean
    return -inf if mean is None else -mean if view.columns[0].better == "lower" else mean


def _best_line(view: TableView) -> Iterator[str]:
    """Of three rows or more: which is the best, and than which others it is significantly better."""
    ranks = [(row, rank) for row in view.rows if (rank := view.rank(row, row.cells[0]))]
    if len(ranks) > 2:
        best = _best((row for row, _ in ranks), view)
        name = row_name(best.key)
        beaten = [row.shown for row, rank in ranks if name in rank.beaten_by]
        tied = [row.shown for row, rank in ranks if name in rank.tied_with]
        told = [f"significantly better than {', '.join(beaten)}"] if beaten else []
        told += [f"not significantly better than {', '.join(tied)}"] if tied else []
        pairs = len(ranks) * (len(ranks) - 1) // 2
        yield (
            f"best mean: {', '.join([best.shown, *told])} (paired t-tests, Holm over all {pairs} pairs, which takes "
            "larger differences than a question about one pair)"
        )


def _seconds(row: TableRow) -> float | None:
    """None where runs were measured on another machine."""
    seconds = [float(record.cost["seconds"]) for record in row.records if record.digest not in shipped_digests()]
    return fmean(seconds) if seconds and len(seconds) == len(row.records) else None


def _values(row: TableRow) -> Iterator[str]:
    """Hyper-parameters and the learning rate: the median over replicates, with the range where they differ."""
    found: dict[str, list[float]] = {}
    for record in row.records:
        method = record.method
        rate = {} if method.learning_rate is None else {"learning rate": method.learning_rate}
        for name, value in {**method.hyperparameters, **rate}.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                found.setdefault(name, []).append(float(value))
    for name, values in found.items():
        spread = f" ({min(values):.3g} to {max(values):.3g})" if min(values) < max(values) else ""
        yield f"{name} {median(values):.3g}{spread}"


def first_runs(view: TableView) -> dict[str, Record]:
    """By row, its run in the first replicate, so that it is not chosen by its test score."""
    first = min((record.seed for record in view.runs), default=0)
    return {row.shown: record for row in view.rows for record in row.records if record.seed == first}


def run_lines(view: TableView, results: Path) -> Iterator[str]:
    """Those runs, and the command that writes the weights of the best row's, if they are kept."""
    if runs := first_runs(view):
        named = ", ".join(f"{shown} {record.run_id}" for shown, record in runs.items())
        yield f"runs of the first replicate, {REGIMES[view.asked.regime]}: {named}"
        best = runs.get(_best(view.rows, view).shown)
        if best and best.weights:
            yield f"next:    benchsuite weights {best.run_id} --results {quote(str(results))} --out towers"


def latex_rows(views: Sequence[TableView]) -> Iterator[str]:
    """Ours, a row a method and regime, as `export --format latex` has them."""
    for view in views:
        table = PaperTable(view, ExportOptions("ours"))
        yield f"% {', '.join(column.name for column in table.columns)}; {REGIMES[view.asked.regime]}"
        yield from (text for line in table.lines for text in row_lines(table, line))
