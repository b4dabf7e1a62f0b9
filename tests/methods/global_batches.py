"""What the tests of SogCLR's family share: small batches whose samples come back, and contrasts by loops."""

from collections.abc import Iterator

import torch
from torch import Tensor

from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch

PARTS = ("image", "text", "image_view", "text_view")
NOW = Clock(step=0, total_steps=9)
SAMPLES = 8
IDS = [[0, 3, 5, 6], [3, 1, 6, 7], [0, 3, 7, 2], [6, 5, 3, 0]]
Gaps = list[list[list[Tensor]]]  # for each contrast, for each anchor: S_ij - S_ii of what is counted


def batches(tower: str = "pair", steps: int = 4, dtype: torch.dtype = torch.float64) -> Iterator[PairBatch]:
    """One small batch a step: of a tower, a pair, or a pair with views. Samples come back, their embeddings move."""
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        parts = PARTS if tower == "views" else ("image", "text") if tower == "pair" else (tower, f"{tower}_view")
        rows = {p: torch.randn(4, 3, generator=generator, dtype=torch.float64).to(dtype) for p in parts}
        yield PairBatch(**{p: r.requires_grad_() for p, r in rows.items()}, index=torch.tensor(IDS[step % len(IDS)]))


def leaves(batch: PairBatch) -> list[Tensor]:
    return [getattr(batch, part) for part in PARTS if batch.has(part)]


def gradients(total: Tensor, batch: PairBatch) -> list[Tensor]:
    return list(torch.autograd.grad(total, leaves(batch), retain_graph=True))


def assert_close(ours: list[Tensor], twins: list[Tensor], tolerance: float = 1e-8) -> None:
    for mine, twin in zip(ours, twins, strict=True):
        torch.testing.assert_close(mine, twin, atol=tolerance, rtol=tolerance)


def naive_contrasts(batch: PairBatch, positive: bool) -> dict[str, tuple[str, Gaps]]:
    rows = {p: [row / torch.sqrt((row * row).sum()) for row in getattr(batch, p)] for p in PARTS if batch.has(p)}

    def gaps(anchors: list[Tensor], *candidates: list[Tensor]) -> list[list[Tensor]]:
        own = [(a * c).sum() for a, c in zip(anchors, candidates[0], strict=True)]
        gaps_of: list[list[Tensor]] = []
        for i, anchor in enumerate(anchors):
            others = [(anchor * kind[j]).sum() - own[i] for kind in candidates for j in range(len(kind)) if j != i]
            gaps_of.append(others + [own[i] - own[i]] * positive)
        return gaps_of

    if batch.is_pair:
        x, y = rows["image"], rows["text"]
        return {"i2t": ("image", [gaps(x, y)]), "t2i": ("text", [gaps(y, x)])}
    side = "image" if batch.has("image") else "text"
    x, y = rows[side], rows[f"{side}_view"]
    return {"views": (side, [gaps(x, y, x), gaps(y, x, y)])}
