"""A figure as a file for a paper or for slides, or its numbers as CSV. matplotlib writes the pictures, and lays
nothing out."""

import math
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.patches import Polygon

from benchsuite.errors import UsageError
from benchsuite.files import write_named
from benchsuite.harmless import spelled
from benchsuite.report.figures.canvas import INK, PAPER, QUIET, Look, Point, runs
from benchsuite.report.figures.drawing import draw
from benchsuite.report.figures.model import Figure, Forest

METADATA: Mapping[str, Mapping[str, Any]] = {
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}
"""Kinds of files, and what they would say of the program and the time: equal records give equal files."""
SETTINGS: Mapping[Any, Any] = {
    **{name: value for name, value in rcParamsDefault.items() if not name.startswith("backend")},
    "lines.scale_dashes": False, "pdf.fonttype": 42, "svg.fonttype": "none", "text.parse_math": False,
}  # fmt: skip
"""matplotlib's defaults, whatever the user has set, with text that stays text in fonts that can be embedded."""
LOOKS: Mapping[Look, Mapping[str, Any]] = {
    "word": {"color": INK, "size": 12}, "dark": {"color": INK}, "small": {"size": 9}, "bold": {"weight": "bold"},
    "mid": {"ha": "center"}, "end": {"ha": "right"},
}  # fmt: skip


def save(figure: Figure | Forest, file: Path, dpi: int = 300) -> None:
    """Save it as what the file's name ends with: in the light theme's colours, on white, or its numbers as CSV."""
    kind = file.suffix.lower()
    if kind == ".csv":
        write_named(file, "--out", figure.csv.encode())
        return
    if kind not in METADATA:
        raise UsageError(f"--out {file}: a figure ends with {', '.join(METADATA)}, its numbers with .csv.")
    content = BytesIO()
    with rc_context({**SETTINGS, "svg.hashsalt": figure.id}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a reader's fonts may have it
        sheet = sheet_of(figure)
        sheet.savefig(content, format=kind[1:], dpi=dpi, facecolor="white", metadata=METADATA[kind])
    write_named(file, "--out", content.getvalue())


def sheet_of(figure: Figure | Forest) -> Sheet:
    """The figure as matplotlib has it: axes without a frame, as large as the sheet, on which everything lies."""
    sheet = Sheet()
    axes = sheet.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    width, height = draw(figure, SheetCanvas(axes))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    sheet.set_size_inches(width / 72, height / 72)
    return sheet


class SheetCanvas:
    """matplotlib's artists, one above the other in the order in which they come."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes

    def line(self, points: Sequence[Point], colour: str, width: float = 1, dash: Sequence[float] = ()) -> None:
        """A line, with a round mark at points between gaps, of which a line shows nothing."""
        alone = {run[0] for run in runs(points) if len(run) == 1}
        self.axes.plot(
            *zip(*points, strict=True), color=colour, linewidth=width, linestyle=(0, dash) if dash else "-",
            marker="o", markersize=width, markeredgewidth=0, clip_on=False, zorder=1,
            markevery=[number for number, point in enumerate(points) if point in alone],
        )  # fmt: skip

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        self.axes.add_patch(Polygon(points, color=colour, alpha=opacity, linewidth=0, clip_on=False, zorder=1))

    def marks(self, points: Sequence[Point], mark: str, colour: str, size: float, hollow: bool = False) -> None:
        shown = [point for point in points if math.isfinite(sum(point))]
        self.axes.plot(
            [x for x, _ in shown], [y for _, y in shown], color=colour, linestyle="none", marker=mark, markersize=size,
            markeredgewidth=1.2, markerfacecolor=PAPER if hollow else colour, clip_on=False, zorder=1,
        )  # fmt: skip

    def text(self, x: float, y: float, text: str, *looks: Look) -> None:
        look: dict[str, Any] = {"color": QUIET, "size": 11}
        for name in looks:
            look |= LOOKS[name]
        self.axes.text(x, y, spelled(text), va="baseline", zorder=1, **look)
