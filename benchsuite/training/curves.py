"""Training curves of about a hundred points."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.methods.base import Loss
from benchsuite.methods.batch import PairBatch

POINTS = 100


class Curves:
    """Loss, terms, gauges, rate, gradient norm and metrics during training; NaN where a curve has no value."""

    def __init__(self, steps: int) -> None:
        self._stride = math.ceil(steps / POINTS)
        self._last = steps - 1
        self.points: dict[str, list[float]] = {"step": []}

    @property
    def last(self) -> int:
        """After how many steps the last point was taken; 0 before the first."""
        return int(self.points["step"][-1]) + 1 if self.points["step"] else 0

    @property
    def latest(self) -> dict[str, float]:
        """The values of the last point, all but the step; without those that it does not have."""
        return {
            name: values[-1] for name, values in self.points.items() if name != "step" and not math.isnan(values[-1])
        }

    def keeps(self, step: int) -> bool:
        return step % self._stride == 0 or step == self._last

    def add(self, step: int, losses: Sequence[Loss], more: Mapping[str, float]) -> None:
        """Add this step if it is one of the points: the mean over its losses, and the values in `more`."""
        if not self.keeps(step):
            return
        seen = [{"loss": loss.total, **loss.terms, **loss.gauges} for loss in losses]
        means = {name: fmean(number(values[name]) for values in seen) for name in seen[0]}
        before = len(self.points["step"])
        for name, value in {"step": step, **means, **more}.items():
            self.points.setdefault(name, [math.nan] * before).append(value)
        for values in self.points.values():
            values += [math.nan] * (before + 1 - len(values))


@torch.no_grad()
def centroid_gap(batch: PairBatch) -> Tensor:
    """The modality gap of a batch: the distance between the centroids of its normalised images and texts."""
    image, text = (normalize(side, dim=-1).mean(0) for side in (batch.image, batch.text))
    return torch.dist(image, text)


def number(value: Tensor | float) -> float:
    """A scalar tensor or a number as a number."""
    return float(value.item() if isinstance(value, Tensor) else value)
