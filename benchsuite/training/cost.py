"""What a run cost: time, throughput, memory, parameters."""

import re
import resource
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn


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
