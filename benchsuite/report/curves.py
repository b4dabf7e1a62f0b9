"""A figure's points as CSV, for drawing them anywhere."""

import csv
import io

from benchsuite.analysis.plots import series
from benchsuite.analysis.table import TableView

HEAD = ("plot", "backbone", "variant", "row", "seed", "curve", "x", "y")


def curves_csv(view: TableView) -> str:
    """All plots of a table, a line a point; numbers as stored, so fractions and not percent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for plot in view.table.plots:
        for one in series(view, plot):
            seeds = one.seeds if plot.x != "step" else [one.seeds[0]] * len(one.x)
            for seed, x, y in zip(seeds, one.x, one.y, strict=True):
                row = one.row
                writer.writerow(
                    [plot.title, row.backbone, row.variant, row.label, seed, one.name, f"{x:.8g}", f"{y:.8g}"]
                )
    return text.getvalue()
