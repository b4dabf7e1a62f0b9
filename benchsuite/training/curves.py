"""What is kept of how a training went: curves of about fifty points, and its cost."""

import math
import re
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from benchsuite.methods.base import Loss
from benchsuite.methods.batch import PairBatch

POINTS = 50


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


class Meter:
    """Started at a run's first step; `read` gives the cost up to then, of earlier processes too if it was stopped."""

    def __init__(self) -> None:
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._start, self._cpu = time.perf_counter(), time.process_time()
        self._peak = 0

    def spent(self) -> dict[str, float]:
        """Seconds, CPU seconds and peak memory up to now."""
        seconds, cpu = time.perf_counter() - self._start, time.process_time() - self._cpu
        return {"seconds": seconds, "cpu_seconds": cpu, "peak_memory_bytes": max(self._peak, _peak())}

    def add(self, spent: Mapping[str, float]) -> None:
        """What was spent before the training went on here: times add up, of memory the highest counts."""
        self._start -= spent["seconds"]
        self._cpu -= spent["cpu_seconds"]
        self._peak = max(self._peak, int(spent["peak_memory_bytes"]))

    def now(self, pairs: int) -> dict[str, float]:
        """What shows how a run is doing after `pairs` pairs: its rate so far, and its memory at most."""
        spent = self.spent()
        return {"pairs_per_second": pairs / spent["seconds"], "peak_memory_bytes": spent["peak_memory_bytes"]}

    def read(self, model: nn.Module, pairs: int) -> dict[str, Any]:
        spent = self.spent()
        return {
            "seconds": round(spent["seconds"], 3),
            "cpu_seconds": round(spent["cpu_seconds"], 3),
            "pairs_per_second": round(pairs / spent["seconds"], 2),
            "peak_memory_bytes": int(spent["peak_memory_bytes"]),
            "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        }


def _peak() -> int:
    """Peak bytes on the GPU, or of this process (of its whole life where the peak cannot be reset)."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    with suppress(OSError):
        if match := re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return int(match[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
