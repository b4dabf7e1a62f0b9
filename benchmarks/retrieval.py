"""Ranks of retrieval and of zero-shot classification beside others, and how their cost grows.

python benchmarks/bench.py --only retrieval      # beside others
python benchmarks/retrieval.py [--size full]     # growth, up to 50,000 x 1,000 and 100,000 x 500,000
"""

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from cases import OURS, Case, Numbers
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.evaluation.rank_metrics import CUTS, recalls
from benchsuite.evaluation.ranks import ranks_both_ways, ranks_of_columns
from benchsuite.evaluation.retrieval import rank_both, score

SIZES = {"small": (500, 2_500, 64), "full": (5_000, 25_000, 512)}
"""Pictures, captions, width."""
CLASSIFIED = {"small": (2_000, 100, 64), "full": (50_000, 1_000, 512)}
"""Pictures, classes, width."""
GROWTH = {
    "small": {"retrieval": [(125, 625, 64), (250, 1_250, 64), (500, 2_500, 64), (1_000, 5_000, 64)]},
    "full": {
        "retrieval": [(5_000, 25_000, 64), (10_000, 50_000, 64), (30_000, 150_000, 64), (100_000, 500_000, 64)],
        "zero-shot": [(6_250, 125, 512), (12_500, 250, 512), (25_000, 500, 512), (50_000, 1_000, 512)],
    },
}
"""Queries, candidates, width. Zero-shot's last is that of ImageNet-1k."""
PAIRS = 3e9
"""Of a larger work, so many pairs are measured: a slice of the queries against all candidates."""


def cases(size: str) -> Iterator[Case]:
    """Image-text retrieval, several captions a picture."""
    image, text, owner = pairs(*SIZES[size])
    what = "{:,} × {:,} × {}".format(*SIZES[size])

    def ours() -> Numbers:
        return recalls(rank_both(image, text, owner))

    def product() -> Numbers:
        _ = text @ image.T
        return {}

    def clip_benchmark() -> Numbers:
        """What its `evaluate` does after embedding, with a batch of 64."""
        from clip_benchmark.metrics.zeroshot_retrieval import batchify, recall_at_k

        scores = text @ image.t()
        positive = torch.zeros_like(scores, dtype=torch.bool)
        positive[torch.arange(len(scores)), owner] = True
        found = {}
        for k in CUTS:
            for way, s, p in (("i2t", scores.T, positive.T), ("t2i", scores, positive)):
                found[f"{way}_r{k}"] = float((batchify(recall_at_k, s, p, 64, "cpu", k=k) > 0).float().mean())
        return {**found, "r_mean": float(np.mean(list(found.values())))}

    def sorted_numpy() -> Numbers:
        scores, owners = image.numpy() @ text.numpy().T, owner.numpy()
        texts, pictures = (np.argsort(-s, axis=1)[:, : max(CUTS)] for s in (scores, scores.T))
        hits = {"i2t": owners[texts] == np.arange(len(image))[:, None], "t2i": pictures == owners[:, None]}
        found = {f"{way}_r{k}": float(hit[:, :k].any(1).mean()) for way, hit in hits.items() for k in CUTS}
        return {**found, "r_mean": float(np.mean(list(found.values())))}

    yield Case(
        "retrieval",
        f"Ranks both ways, {what}, single precision",
        {
            OURS: ours,
            "one float32 product": product,
            "clip-benchmark": clip_benchmark,
            "numpy, all sorted": sorted_numpy,
        },
        {"one float32 product": 0.5, "clip-benchmark": 25} if size == "full" else {},
        apart=3 / len(image),  # theirs rounds
        megabytes=400,
    )
    doubles = image.double(), text.double()
    yield Case(
        "retrieval-double",
        f"`score`, both ways, {what}, double precision",
        {OURS: lambda: score(*doubles, owner), "one float32 product": product},
        {"one float32 product": 0.5} if size == "full" else {},
        megabytes=400,
    )
    collapsed = image[:1].expand(image.shape).clone(), image[:1].expand(text.shape).clone()
    yield Case(
        "retrieval-collapsed",
        f"Ranks both ways, {what}, all embeddings equal",
        {OURS: lambda: recalls(rank_both(*collapsed, owner)), "one float32 product": product},
        megabytes=400,
        repeats=1,
    )
    queries, classes, labels = pictures_of_classes(*CLASSIFIED[size])

    def ranks() -> Numbers:
        found = ranks_of_columns(queries, classes, labels)
        return {f"top{k}": float((found <= k).mean()) for k in (1, 5)}

    def topk() -> Numbers:
        hits = (queries @ classes.T).topk(5).indices == labels[:, None]
        return {f"top{k}": float(hits[:, :k].any(1).double().mean()) for k in (1, 5)}

    yield Case(
        "zero-shot",
        "Ranks of classes, {:,} × {:,} × {}".format(*CLASSIFIED[size]),
        {OURS: ranks, "torch, topk": topk},
        apart=3 / len(queries),
    )


def pairs(pictures: int, captions: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings of pictures and captions, and the picture of each caption."""
    generator = torch.Generator().manual_seed(0)
    owner = torch.arange(pictures).repeat_interleave(captions // pictures)
    image = normalize(torch.randn(pictures, width, generator=generator), dim=1)
    noise = torch.randn(len(owner), width, generator=generator) / width**0.5
    return image, normalize(image[owner] + 4 * noise, dim=1), owner


def pictures_of_classes(pictures: int, classes: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings of pictures and of classes, and the class of each picture."""
    each, centre, label = pairs(classes, pictures, width)
    return centre, each, label


@dataclass(frozen=True)
class Growth:
    """Cost by size."""

    seconds: tuple[float, ...]
    megabytes: tuple[float | None, ...]
    """Highest, over the inputs."""
    measured: tuple[float, ...]
    """Which part of each size was measured; the seconds are those of the whole."""
    exponent: float
    """Of the number of pairs, by least squares of the logarithms."""


def growth(sizes: Sequence[tuple[int, int, int]], work: str = "retrieval", most: float = PAIRS) -> Growth:
    """Processor seconds and memory of "retrieval", both ways, or of "zero-shot", at each size."""
    from bench import timed

    seconds, megabytes, parts = [], [], []
    for queries, candidates, width in sizes:
        call, part = slice_of(work, queries, candidates, width, most)
        start = time.process_time()
        megabytes.append(timed(call)[2])
        seconds.append((time.process_time() - start) / part)
        parts.append(part)
        del call
        gc.collect()
    pairs_ = [queries * candidates for queries, candidates, _ in sizes]
    slope = np.polyfit(np.log(pairs_), np.log(seconds), 1)[0]
    return Growth(tuple(seconds), tuple(megabytes), tuple(parts), float(slope))


def slice_of(work: str, queries: int, candidates: int, width: int, most: float) -> tuple[Callable[[], Numbers], float]:
    """The call, and its part of the whole: the cost of a block of queries does not depend on the others."""
    part = min(1.0, most / queries / candidates)
    if work == "zero-shot":
        rows, classes, labels = pictures_of_classes(queries, candidates, width)
        few = slice(round(len(rows) * part))
        return lambda: {"mean": float(ranks_of_columns(rows[few], classes, labels[few]).mean())}, part
    image, text, owner = pairs(queries, candidates, width)
    first = image[: round(len(image) * part)]
    return lambda: {"mean": float(ranks_both_ways(first, text, owner)[0].mean())}, part


def main() -> None:
    """Print how cost grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=GROWTH, default="small")
    parser.add_argument("--work", choices=GROWTH["full"], action="append")
    parser.add_argument("--whole", action="store_true", help="measure all of the largest sizes, not a slice")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for work, sizes in GROWTH[given.size].items():
        if given.work and work not in given.work:
            continue
        found = growth(sizes, work, float("inf") if given.whole else PAIRS)
        print(f"{work}: seconds grow with pairs to the power of {found.exponent:.2f}")
        for size, seconds, memory, part in zip(sizes, found.seconds, found.megabytes, found.measured, strict=True):
            text = "{:,} × {:,} × {}".format(*size)
            sliced = "" if part == 1 else f", from {part:.1%} of the queries"
            print(f"  {text:<26}{seconds:>8.3g} s{memory or 0:>7.0f} MB over the inputs{sliced}")


if __name__ == "__main__":
    main()
