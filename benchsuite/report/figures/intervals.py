"""Forest plots for papers: what a table's claims ask, and a method beside the reference on every board.

A figure holds differences of one unit: percentage points and plain numbers have a figure each.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchsuite.analysis.against import Against
from benchsuite.analysis.judged_claims import JudgedClaim
from benchsuite.analysis.table_view import TableView
from benchsuite.papers.schema import row_name
from benchsuite.report.figures.model import Axis, Figure, Trace, distinct, unique
from benchsuite.report.figures.words import seeds_of

SUFFIX = {"percent": "", "number": "-in-numbers"}
"""Of a figure's name by unit."""


@dataclass(frozen=True)
class Line:
    """A line of a forest plot: a gain, so more is better, in the unit of the measure."""

    heading: str
    label: str
    verdict: str
    unit: str
    mean: float | None = None
    interval: tuple[float, float] | None = None
    seeds: Sequence[int] = ()
    gains: Sequence[float] = ()
    published: float | None = None
    confirmable: float | None = None


def claims_figures(view: TableView, judged: Sequence[JudgedClaim], name: str = "Claims") -> list[Figure]:
    """Headline claims, then further ones: a figure for each unit. Without headline claims all are in one."""
    both = {True: "claims", False: "further-claims"}
    if len({judge.claim.headline for judge in judged}) < 2:
        both = dict.fromkeys(both, "claims")
    figures: list[Figure] = []
    for headline in (True, False):
        lines = [line_of_claim(judge, view) for judge in judged if judge.claim.headline == headline]
        what = {"claims": name, "further-claims": "Further claims"}[both[headline]]
        where = f"scale {view.request.at}" + f", {view.on_stand_ins}" * bool(view.on_stand_ins)
        title = f"{what} of {view.request.table} ({where})"
        axis = "Difference in favour of the claim"
        figures += _figures(lines, unique(f"{view.request.name} forest"), both[headline], title, axis)
    return distinct(figures)


def difference_figures(name: str, title: str, found: Sequence[Against]) -> list[Figure]:
    """A method's rows beside the reference of their boards, better to the right: a figure for each unit."""
    lines = [line_of_row(one) for one in found]
    bases = ", ".join(dict.fromkeys(one.reference.record.method.title for one in found))
    heading = f"{title} against {bases}"
    return list(
        _figures(lines, f"method-{unique(name)}", "differences", heading, f"Difference to {bases}, better is +")
    )


def line_of_claim(judged: JudgedClaim, view: TableView) -> Line:
    """The claim as a line under its column."""
    claim, verdict = judged.claim, judged.verdict
    pair, sign = verdict.paired, -1 if claim.column.better == "lower" else 1
    same = claim.row[0] == claim.reference[0]
    row, reference = (row_name(("", *key[1:]) if same else key) for key in (claim.row, claim.reference))
    where = f"{claim.row[0]}: " if same and len(view.backbones) > 1 else ""
    interval = None
    if pair and pair.low is not None and pair.high is not None:
        low, high = sorted((sign * pair.low, sign * pair.high))
        interval = low, high
    same_unit = claim.column.unit == "percent" or isinstance(claim.column.measure, str)
    factor = 100 if claim.column.unit == "percent" else 1
    return Line(
        claim.column.name,
        f"{where}{row} vs. {reference}",
        verdict.kind,
        claim.column.unit,
        judged.gain,
        interval,
        pair.seeds if pair else (),
        [sign * difference for difference in pair.differences] if pair else [],
        None if claim.published is None or not same_unit else claim.published / factor,
        verdict.confirmable,
    )


def line_of_row(one: Against) -> Line:
    """A board's row as a line under its board."""
    heading, label = f"{one.board.title}: {one.row.label}", f"{one.task.protocol}, {one.task.metric}"
    return Line(heading, label, one.outcome, one.task.unit, one.gain, one.interval, one.pair.seeds, one.gains)


def _figures(lines: Sequence[Line], name: str, slug: str, title: str, axis: str) -> Iterator[Figure]:
    headings = list(dict.fromkeys(line.heading for line in lines))
    ordered = sorted(lines, key=lambda line: headings.index(line.heading))
    for unit, suffix in SUFFIX.items():
        shown = [line for line in ordered if line.unit == unit]
        if any(line.mean is not None for line in shown):
            short = f"{slug}{suffix}"
            x = Axis(f"{axis} (percentage points)" if unit == "percent" else axis, points=unit == "percent")
            traces = [trace for number, line in enumerate(shown, 1) for trace in _traces(number, line)]
            yield Figure(f"{name}-{short}", short, "forest", title, _caption(shown), x, Axis("Line"), traces)


def _traces(number: int, line: Line) -> Iterator[Trace]:
    """What lies on a line, from the back to the front; the mean is always there, as a gap where nothing is known."""
    mean = Trace(line.label, [math.nan if line.mean is None else line.mean], [number])
    mean = replace(mean, panel=line.heading, note=line.verdict)
    if line.confirmable is not None:
        yield replace(mean, part="band", x=[0.0], low=[-line.confirmable], high=[line.confirmable])
    if line.published is not None:
        yield replace(mean, part="published", x=[line.published])
    if len(line.gains) > 1:
        yield replace(mean, part="seed", x=line.gains, y=[number] * len(line.gains), seeds=line.seeds)
    yield replace(mean, low=[line.interval[0]], high=[line.interval[1]]) if line.interval else mean


def _caption(lines: Sequence[Line]) -> str:
    seeds = [len(line.seeds) for line in lines if line.seeds]
    said = f"Large marks: means over {seeds_of(seeds)}, paired by seed, with 95% CI; small marks: single seeds."
    if any(line.confirmable is not None for line in lines):
        said += " Grey band: differences that these seeds could not have confirmed."
    if any(line.published is not None for line in lines):
        said += " Published: the paper's difference, which may be of other data."
    return said
