"""Forest plots for papers: a line for each comparison, its name to the left, its numbers to the right.

A figure may have columns, such as one for each regime: they share lines and scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchsuite.report.figures.canvas import HUES, QUIET, RULE, Canvas, Look, fitted, segments
from benchsuite.report.figures.chart import FOOT, Drawn, Sample, Scale, area_sample, draw_scale, mark_sample
from benchsuite.report.figures.model import Axis, Comparison, Forest


@dataclass(frozen=True)
class Layout:
    """What takes how much of the width, in 1/72 inch."""

    left: float
    """Names of lines, and published differences."""
    plot: float
    right: float
    """Numbers; of each column, as the plot is."""
    letters: int
    """Of a name."""
    several: bool = False
    """Columns: verdicts are marks then, and no words."""

    def start(self, column: int) -> float:
        return self.left + column * (self.plot + self.right)


ALONE = Layout(210, 150, 180, 36)
MOST, LETTER, PUBLISHED = 90, 5, 52
"""Letters of a name, the width of one, and that of a published difference, with its margins."""
STEP = 17
"""A line's height."""
AHEAD, BEHIND = ("o", HUES[4], 6.5, False), ("X", HUES[1], 6.5, False)
LOOKS: Mapping[str, tuple[str, str, float, bool]] = {
    "reproduced": AHEAD, "better": AHEAD, "opposite": BEHIND, "worse": BEHIND,
    "equivalent": ("s", HUES[0], 6.5, False),
}  # fmt: skip
"""Of marks by verdict."""
OTHERS = ("o", QUIET, 6.5, True)
OPACITY = 0.6
"""Of grey bands."""


def forest(figure: Forest, canvas: Canvas) -> Drawn:
    """Marks with intervals, seeds and grey bands. Headings stand above their lines, published differences beside.

    The scale holds zero, means, intervals and seeds: a band that few seeds make wide is cut off there.
    """
    every = [one for line in figure.lines for one in line]
    columns = list(dict.fromkeys(one.column for one in every))
    layout = ALONE if len(columns) == 1 else _beside(every)
    heights = _heights(figure, layout)
    foot = heights[-1] + STEP
    values = [value for one in every if one.estimate for value in replace(one.estimate, unconfirmable=None).values]
    for number, column in enumerate(columns):
        axis, start = Axis(figure.axis if column == columns[-1] else ""), layout.start(number)
        scale = Scale.over(axis, [0.0, *values], start, start + layout.plot, 0.06)
        there = [(at, one) for at, line in zip(heights, figure.lines, strict=True) for one in line]
        _draw_column([(at, one) for at, one in there if one.column == column], canvas, foot, scale, layout)
    _draw_headings(figure, columns, canvas, heights, layout)
    return layout.start(len(columns)), foot + FOOT, _legend(every, layout)


def _beside(lines: Sequence[Comparison]) -> Layout:
    """Of columns: as wide to the left as the longest name asks for."""
    letters = min(MOST, max(len(one.label) for one in lines))
    return Layout(PUBLISHED + LETTER * letters, 116, 86, letters, several=True)


def _heights(figure: Forest, layout: Layout) -> list[float]:
    """How far from the top each line stands; a heading takes a line, and so do the names of columns."""
    heights: list[float] = []
    heading, at = None, 0.6 if layout.several else -0.4
    for first, *_ in figure.lines:
        at += 1 if first.heading == heading else 2 if heights or first.heading else 1
        heights.append(at * STEP)
        heading = first.heading
    return heights


def _draw_column(
    lines: Sequence[tuple[float, Comparison]], canvas: Canvas, foot: float, scale: Scale, layout: Layout
) -> None:
    """What lies on one scale, from the back to the front."""
    for at, one in lines:
        if one.estimate and (band := one.estimate.unconfirmable) is not None:
            left, right = scale.at(max(-band, scale.low)), scale.at(min(band, scale.high))
            top, bottom = at - STEP / 2, at + STEP / 2
            canvas.area([(left, top), (right, top), (right, bottom), (left, bottom)], RULE, OPACITY)
    draw_scale(canvas, scale, foot, layout.start(1), grid=True)
    canvas.line([(scale.at(0), 0), (scale.at(0), foot)], QUIET)
    for at, one in lines:
        if one.published is not None:
            _text(canvas, layout.left - 8, at, _signed(one.published, one.unit), "end")
        if one.estimate and one.estimate.seeds:
            places = [scale.at(seed) for seed in one.estimate.seeds]
            canvas.line(segments(((x, at + 3), (x, at + 7)) for x in places), QUIET, 0.8)
        _draw_mean(canvas, one, at, scale, layout)


def _draw_headings(
    figure: Forest, columns: Sequence[str], canvas: Canvas, heights: Sequence[float], layout: Layout
) -> None:
    """Above the first line of each heading; above the first of all what the columns of numbers are."""
    top = heights[0] - STEP * (2 if layout.several else 1)
    for number, column in enumerate(columns):
        if layout.several:
            _text(canvas, layout.start(number), top, column, "dark", "bold")
        else:
            _text(canvas, layout.left + layout.plot + 8, top, "mean [95% CI]")
    if any(one.published is not None for line in figure.lines for one in line):
        _text(canvas, layout.left - 8, top, "published", "end")
    heading = None
    for at, (first, *_) in zip(heights, figure.lines, strict=True):
        if first.heading != heading:
            beside_head = heading is None and not layout.several
            wide = layout.letters if beside_head else 2 * layout.letters
            _text(canvas, 1, at - STEP, fitted(first.heading, wide), "dark", "bold")
        heading = first.heading


def _draw_mean(canvas: Canvas, one: Comparison, at: float, scale: Scale, layout: Layout) -> None:
    """With its interval, its name and its numbers."""
    said = one.verdict
    if estimate := one.estimate:
        look = LOOKS.get(one.verdict, OTHERS)
        reach = ""
        if estimate.low is not None and estimate.high is not None:
            low, high = estimate.low, estimate.high
            canvas.line([(scale.at(low), at), (scale.at(high), at)], look[1], 1.6)
            reach = f" [{_signed(low, one.unit)}, {_signed(high, one.unit)}]"
            if layout.several:
                reach = f" ± {_signed((high - low) / 2, one.unit)[1:]}"
        canvas.marks([(scale.at(estimate.mean), at)], *look)
        said = f"{_signed(estimate.mean, one.unit)}{reach}" + f" {one.verdict}" * (not layout.several)
    if scale.start == layout.left:
        _text(canvas, 8, at, fitted(one.label, layout.letters), "dark")
    _text(canvas, scale.end + 8, at, said)


def _legend(lines: Sequence[Comparison], layout: Layout) -> list[tuple[str, Sample]]:
    notes = dict.fromkeys(one.verdict for one in lines if one.verdict in LOOKS) if layout.several else ()
    legend = [("mean, 95% CI", mark_sample(*OTHERS)), *((note, mark_sample(*LOOKS[note])) for note in notes)]
    known = [one.estimate for one in lines if one.estimate]
    if any(estimate.seeds for estimate in known):
        legend.append(
            ("single seeds", lambda canvas, x, y: canvas.line([(x + 15.5, y - 2), (x + 15.5, y + 2)], QUIET, 0.8))
        )
    if any(estimate.unconfirmable is not None for estimate in known):
        legend.append(("not confirmable", area_sample(RULE, OPACITY)))
    return legend


def _text(canvas: Canvas, x: float, middle: float, text: str, *looks: Look) -> None:
    canvas.text(x, middle + 3.3, text, "small", *looks)


def _signed(value: float, unit: str) -> str:
    """With its sign: in percentage points, or a plain number."""
    return (f"{value:+.2f}" if unit == "percent" else f"{value:+.3g}").replace("-", "−")
