"""Figures: what they show as data, and how it is drawn, on pages as SVG and in files for papers."""

from benchsuite.report.figures.from_table import table_figures
from benchsuite.report.figures.inline_svg import svg
from benchsuite.report.figures.model import Axis, Figure, Trace

__all__ = [
    "Axis",
    "Figure",
    "Trace",
    "svg",
    "table_figures",
]
