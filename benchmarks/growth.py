"""How the cost of each evaluation grows with its size, up to ImageNet-1k and 100,000 × 500,000 pairs.

    python benchmarks/growth.py                              # small inputs, seconds
    python benchmarks/growth.py --size full [--work knn]     # four sizes each; about ten minutes

One thread, in processor seconds. The exponent is that of queries × candidates, by least squares of the logarithms: 1
where every pair costs the same. Of a work with more than `PAIRS` pairs, a slice of the queries is measured against all
candidates and multiplied: the cost of a block of queries does not depend on the others. `--whole` measures all.
"""

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from bench import timed
from cases import Numbers
from evaluation import neighbours
from retrieval import pairs, pictures_of_classes

from benchsuite.evaluation import geometry
from benchsuite.evaluation.knn import vote_ranks
from benchsuite.evaluation.labelled import LabelledRows
from benchsuite.evaluation.linear_probe import probe_ranks
from benchsuite.evaluation.multi_instance import score
from benchsuite.evaluation.ranks import ranks_both_ways, ranks_of_columns

PAIRS = 3e9
"""Of a larger work, so many pairs are measured."""
Call = Callable[[], Numbers]
Size = tuple[int, int, int]
"""Queries, candidates, width."""


def retrieval(queries: int, candidates: int, width: int, part: float) -> Call:
    """Ranks of pictures and captions, both ways."""
    image, text, owner = pairs(queries, candidates, width)
    first = image[: round(len(image) * part)]
    return lambda: {"mean": float(ranks_both_ways(first, text, owner)[0].mean())}


def zero_shot(queries: int, candidates: int, width: int, part: float) -> Call:
    """Ranks of classes."""
    rows, classes, labels = pictures_of_classes(queries, candidates, width)
    few = slice(round(len(rows) * part))
    return lambda: {"mean": float(ranks_of_columns(rows[few], classes, labels[few]).mean())}


def knn(queries: int, candidates: int, width: int, part: float) -> Call:
    """Weighted votes of 200 neighbours."""
    rows, bank, labels, truth = neighbours(queries, candidates, width, 0.5)
    few = slice(round(len(rows) * part))
    return lambda: {"mean": float(vote_ranks(rows[few], bank, labels, truth[few], 200, 0.1).mean())}


def linear_probe(queries: int, candidates: int, width: int, part: float) -> Call:
    """Logistic regression of all candidates."""
    rows, bank, labels, truth = neighbours(queries, candidates, width, 0.12)
    known, asked = LabelledRows(bank, labels), LabelledRows(rows, truth)
    return lambda: {"mean": float(probe_ranks(known, asked, 1.0, 1000)[0].mean())}


def all_geometry(queries: int, candidates: int, width: int, part: float) -> Call:
    """All measures of two towers, and histograms of pairs."""
    rng = np.random.default_rng(0)
    image = rng.normal(size=(queries, width)) + 0.5
    text = image + rng.normal(size=(queries, width))
    return lambda: {"bins": float(geometry.histograms(image, text).negatives.sum())} | geometry.score(image, text)


def multi_instance(queries: int, candidates: int, width: int, part: float) -> Call:
    """Soft mAP and nDCG, both ways, of relevancies with few levels, most of them zero."""
    rng = np.random.default_rng(0)
    worth = rng.choice([0.0, 0.25, 0.5, 0.75], p=[0.9, 0.05, 0.03, 0.02], size=(queries, candidates))
    worth[np.arange(queries), np.arange(queries) % candidates] = 1.0
    similarity = worth + rng.normal(size=worth.shape)
    return lambda: score(similarity, worth)


WORKS: dict[str, tuple[Callable[[int, int, int, float], Call], Sequence[Size]]] = {
    "retrieval": (
        retrieval,
        [(5_000, 25_000, 64), (10_000, 50_000, 64), (30_000, 150_000, 64), (100_000, 500_000, 64)],
    ),
    "zero-shot": (zero_shot, [(6_250, 125, 512), (12_500, 250, 512), (25_000, 500, 512), (50_000, 1_000, 512)]),
    "knn": (knn, [(1_250, 12_500, 512), (2_500, 25_000, 512), (5_000, 50_000, 512), (50_000, 100_000, 512)]),
    "linear-probe": (linear_probe, [(1_000, n, 512) for n in (12_500, 25_000, 50_000, 100_000)]),
    "geometry": (all_geometry, [(n, n, 512) for n in (2_500, 5_000, 10_000, 20_000)]),
    "multi-instance": (
        multi_instance,
        [(1_000, 400, 1), (2_400, 960, 1), (4_800, 1_920, 1), (9_668, 3_842, 1)],
    ),
}
"""Each evaluation at four sizes. The last of zero-shot is ImageNet-1k's, that of multi-instance EPIC-KITCHENS-100's."""
SLICED = (retrieval, zero_shot, knn)
"""Works in which a query costs the same whatever others there are."""
SMALLER = 16
"""For a try: queries and candidates divided by it."""


@dataclass(frozen=True)
class Growth:
    """Cost by size."""

    seconds: tuple[float, ...]
    megabytes: tuple[float | None, ...]
    """Highest, over the inputs."""
    measured: tuple[float, ...]
    """Which part of each size was measured; the seconds are those of the whole."""
    exponent: float


def growth(make: Callable[[int, int, int, float], Call], sizes: Sequence[Size], most: float = PAIRS) -> Growth:
    """Processor seconds and memory at each size."""
    seconds, megabytes, parts = [], [], []
    for queries, candidates, width in sizes:
        part = min(1.0, most / queries / candidates) if make in SLICED else 1.0
        call = make(queries, candidates, width, part)
        found, _, memory = timed(partial(processor_seconds, call))
        seconds.append(found["seconds"] / part)
        megabytes.append(memory)
        parts.append(part)
        del call
        gc.collect()
    counts = [queries * candidates for queries, candidates, _ in sizes]
    slope = np.polyfit(np.log(counts), np.log(seconds), 1)[0]
    return Growth(tuple(seconds), tuple(megabytes), tuple(parts), float(slope))


def processor_seconds(call: Call) -> Numbers:
    """Of the call alone."""
    start = time.process_time()
    call()
    return {"seconds": time.process_time() - start}


def main() -> None:
    """Print how cost grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--work", choices=WORKS, action="append")
    parser.add_argument("--whole", action="store_true", help="measure all of the largest sizes, not a slice")
    given = parser.parse_args()
    torch.set_num_threads(1)
    smaller = SMALLER if given.size == "small" else 1
    for work in given.work or WORKS:
        make, full = WORKS[work]
        sizes = [(n // smaller, m // smaller, width) for n, m, width in full]
        found = growth(make, sizes, float("inf") if given.whole else PAIRS)
        print(f"{work}: seconds grow with queries × candidates to the power of {found.exponent:.2f}", flush=True)
        for size, seconds, memory, part in zip(sizes, found.seconds, found.megabytes, found.measured, strict=True):
            text = "{:,} × {:,} × {}".format(*size)
            sliced = "" if part == 1 else f", from {part:.1%} of the queries"
            print(f"  {text:<26}{seconds:>8.3g} s{memory or 0:>7.0f} MB over the inputs{sliced}", flush=True)


if __name__ == "__main__":
    main()
