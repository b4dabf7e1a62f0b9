"""CPU milliseconds and bytes of a figure of each kind, as large as those of a real table, in one process.

python benchmarks/figures.py [--repeats 51]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchsuite.report.figures.inline_svg import svg
from benchsuite.report.figures.model import Axis, Figure, Trace
from benchsuite.report.figures.saving import save

RNG = np.random.default_rng(0)
SEEDS = (0, 1, 2)


def curves() -> Figure:
    """Four rows of three seeds and their means, 81 points each."""
    steps = np.arange(1, 811, 10.0)
    series: list[Trace] = []
    x = steps.tolist()
    for row in range(4):
        runs = 3 - np.log(steps) / 4 + row / 10 + RNG.normal(0, 0.03, (len(SEEDS), len(steps)))
        series += [
            Trace(f"Row {row}", steps.tolist(), run.tolist(), "seed", row, [seed]) for seed, run in enumerate(runs)
        ]
        series.append(Trace(f"Row {row}", x, runs.mean(0).tolist(), "mean", row))
    return Figure("a", "a", "curves", "Loss", "", Axis("Training step", whole=True), Axis("Loss"), series)


def points() -> Figure:
    """Eight rows of three seeds and their means."""
    series: list[Trace] = []
    for row in range(8):
        x, y = (RNG.random((2, len(SEEDS))) + row) / 10
        series.append(Trace(f"Row {row}", x.tolist(), y.tolist(), "seed", row, SEEDS))
        series.append(Trace(f"Row {row}", [x.mean()], [y.mean()], "mean", row))
    return Figure("b", "b", "points", "R@1", "", Axis("Gap"), Axis("R@1", percent=True), series)


def histogram() -> Figure:
    """Six rows, two sides, 40 bins."""
    edges = np.linspace(-1, 1, 41)
    series: list[Trace] = []
    for row in range(6):
        for style, (side, mean) in enumerate((("Positive pairs", 0.5), ("Negative pairs", 0.0))):
            shares = np.histogram(RNG.normal(mean + row / 20, 0.1, 2000), edges)[0] / 2000
            series.append(Trace(side, edges[:-1].tolist(), shares.tolist(), "mean", style))
    return Figure("c", "c", "histogram", "Pairs", "", Axis("Cosine"), Axis("Share", percent=True), series)


def cpu(draw: Callable[[], object], repeats: int) -> float:
    """Median of milliseconds; the first time is left out: it imports what is needed."""
    clock: list[float] = []
    for _ in range(repeats + 1):
        start = time.process_time()
        draw()
        clock.append(1e3 * (time.process_time() - start))
    return statistics.median(clock[1:])


def main() -> None:
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=51)
    repeats = parser.parse_args().repeats
    print("kind        page ms   bytes  PDF ms")
    with TemporaryDirectory() as folder:
        for make in (curves, points, histogram):
            figure = make()
            page = cpu(partial(svg, figure), repeats)
            file = cpu(partial(save, figure, Path(folder) / "figure.pdf", 72), repeats)
            print(f"{make.__name__:11} {page:7.1f} {len(svg(figure).encode()):7} {file:7.1f}")


if __name__ == "__main__":
    main()
