"""Figures of the pages: what they show as data, and their drawing as SVG. matplotlib is imported when one is drawn."""

from benchsuite.report.figures.cost import cost_figures
from benchsuite.report.figures.method import method_figures
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.figures.picture import svg
from benchsuite.report.figures.spark import sparkline
from benchsuite.report.figures.table import table_figures

__all__ = [
    "Axis",
    "Figure",
    "Trace",
    "cost_figures",
    "method_figures",
    "sparkline",
    "svg",
    "table_figures",
]
