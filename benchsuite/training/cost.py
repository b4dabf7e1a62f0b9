"""What a run cost: time, throughput, memory, parameters."""

import re
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn


class Meter:
    """Started at a run's first step; `read` gives the cost up to then."""

    def __init__(self) -> None:
        _reset_peak()
        self._start, self._cpu = time.perf_counter(), time.process_time()

    def now(self, pairs: int) -> dict[str, float]:
        """What shows how a run is doing after `pairs` pairs: its rate so far, and its memory at most."""
        seconds = time.perf_counter() - self._start
        return {"pairs_per_second": pairs / seconds, "peak_memory_bytes": _peak()}

    def read(self, model: nn.Module, pairs: int) -> dict[str, Any]:
        """Cost of having trained on `pairs` pairs."""
        seconds = time.perf_counter() - self._start
        return {
            "seconds": round(seconds, 3),
            "cpu_seconds": round(time.process_time() - self._cpu, 3),
            "pairs_per_second": round(pairs / seconds, 2),
            "peak_memory_bytes": _peak(),
            "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        }


def _reset_peak() -> None:
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Peak bytes on the GPU, or of this process (of its whole life where the peak cannot be reset)."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    with suppress(OSError):
        if match := re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return int(match[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
