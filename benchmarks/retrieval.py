"""Ranks of retrieval and of zero-shot classification beside others.

python benchmarks/bench.py --only retrieval
"""

from collections.abc import Iterator

import numpy as np
import torch
from cases import OURS, Case, Numbers
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.evaluation.rank_metrics import CUTS, recalls
from benchsuite.evaluation.ranks import ranks_of_columns
from benchsuite.evaluation.retrieval import rank_both, score

SIZES = {"small": (500, 2_500, 64), "full": (5_000, 25_000, 512)}
"""Pictures, captions, width."""
CLASSIFIED = {"small": (2_000, 100, 64), "full": (50_000, 1_000, 512)}
"""Pictures, classes, width."""


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
        {"one float32 product": 0.3, "clip-benchmark": 14} if size == "full" else {},
        apart=3 / len(image),  # theirs rounds
        megabytes=400,
    )
    doubles = image.double(), text.double()
    yield Case(
        "retrieval-double",
        f"Ranks both ways, {what}, double precision",
        {OURS: lambda: score(*doubles, owner), "one float32 product": product},
        {"one float32 product": 0.3} if size == "full" else {},
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
