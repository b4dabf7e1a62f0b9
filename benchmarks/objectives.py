"""What objectives cost in blocks of rows: time beside the dense form, memory at a large batch, and work of a process.

    python benchmarks/objectives.py time [METHOD...] [--batch 1024] [--repeats 9]
    python benchmarks/objectives.py memory [METHOD...] [--batch 16384]
    python benchmarks/objectives.py work [METHOD...] [--batch 1024]

Loss and gradient of random unit vectors of 512 numbers, one thread, in float32. `time`: medians of both forms, measured
in turns in one process, and their ratio. `memory`: the highest resident size above that of the inputs, in a process of
its own for each method (Linux). `work`: entries of matrices of similarities, as computed by one process, and by the
first of two.
"""

import argparse
import gc
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.multiprocessing.spawn import spawn
from torch.utils._python_dispatch import TorchDispatchMode

from benchsuite.conformance.subject import Subject, modes, parts
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import TEACHER_PARTS, PairBatch
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.objectives.shares import shared
from benchsuite.training.distributed import ProcessShares, gather_batch, share

METHODS = (
    *("infonce", "infonce-learnable", "ts", "dystress", "dystress-shifted", "cwcl", "mm-ts", "mm-ts-margin"),
    *("max-margin", "temo", "sogclr", "isogclr", "isogclr-tempnet", "amclr", "xamclr", "amclr-robust", "fastclip"),
    *("siglip", "simclr", "dcl", "dclw", "macl", "softclip", "slip"),
)
"""Those whose objectives are computed in blocks; others of their families inherit it."""
WIDTH = 512
DENSE, BLOCKS = Sizes(whole=2**62), Sizes(whole=0)


def make(name: str, batch: int) -> Method:
    """The method, with defaults."""
    return create_method(name, num_samples=batch, width=WIDTH)


def inputs(method: Method, batch: int, device: str = "cpu") -> dict[str, Tensor]:
    """What the method reads: unit vectors, ids in order, one cluster."""
    generator = torch.Generator().manual_seed(0)
    ids = {"index": torch.arange(batch), "cluster": torch.zeros(batch, dtype=torch.long)}
    names = parts(method, modes(method)[0])
    return {
        n: ids[n].to(device)
        if n in ids
        else torch.nn.functional.normalize(torch.randn(batch, WIDTH, generator=generator).to(device)).requires_grad_(
            n not in TEACHER_PARTS
        )
        for n in names
    }


def one_pass(method: Method, rows: dict[str, Tensor]) -> None:
    """Loss and gradient."""
    method(PairBatch(**rows), Clock(500, 1000)).total.backward()


def times(name: str, batch: int, repeats: int) -> dict[str, Any]:
    """Medians of both forms, and the ratio."""
    method = make(name, batch)
    rows = inputs(method, batch)
    seconds: dict[Sizes, list[float]] = {DENSE: [], BLOCKS: []}
    for repeat in range(repeats + 1):
        for sizes, taken in seconds.items():
            start = time.perf_counter()
            with sized(sizes):
                one_pass(method, rows)
            if repeat:
                taken.append(time.perf_counter() - start)
    dense, blocks = (statistics.median(taken) for taken in seconds.values())
    return {"method": name, "batch": batch, "dense_s": dense, "blocks_s": blocks, "ratio": blocks / dense}


def memory_here(name: str, batch: int) -> dict[str, Any]:
    """The highest resident size above that of the inputs; to be called in a new process."""
    method = make(name, batch)
    rows = inputs(method, batch)
    few = make(name, 64)
    one_pass(few, inputs(few, 64))  # what libraries allocate once
    gc.collect()
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    start = time.perf_counter()
    one_pass(method, rows)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"method": name, "batch": batch, "mib_over_inputs": (peak - before) / 2**20, "seconds": seconds}


def memory(name: str, batch: int) -> dict[str, Any]:
    """`memory_here` of a process of its own."""
    command = [sys.executable, __file__, "memory-here", name, "--batch", str(batch)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


class Entries(TorchDispatchMode):
    """Counts entries of products that have a column for each row of the batch."""

    def __init__(self, batch: int) -> None:
        super().__init__()
        self.batch, self.count = batch, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mm.default and result.shape[1] >= self.batch - 1 and result.shape[1] != WIDTH:
            self.count += result.numel()
        return result


def entries(name: str, batch: int) -> int:
    """Entries that this process computes of the loss and gradient of a batch."""
    method = make(name, batch)
    mine = {n: t.detach()[share(batch)].requires_grad_(t.requires_grad) for n, t in inputs(method, batch).items()}
    torch.manual_seed(0)
    with Entries(batch) as counted, shared(ProcessShares()), sized(BLOCKS):
        method(gather_batch(mine), Clock(500, 1000)).total.backward()
    return counted.count


def _join(number: int, folder: str, names: Sequence[str], batch: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=number, world_size=2)
    found = {name: entries(name, batch) for name in names}
    if number == 0:
        Path(folder, "found.json").write_text(json.dumps(found), "utf-8")
    dist.destroy_process_group()


def work(names: Sequence[str], batch: int) -> Iterator[dict[str, Any]]:
    """Entries that one process computes, and those of the first of two."""
    with tempfile.TemporaryDirectory() as folder:
        spawn(_join, args=(folder, list(names), batch), nprocs=2)  # type: ignore[no-untyped-call]
        shares = json.loads(Path(folder, "found.json").read_text("utf-8"))
    for name in names:
        alone = entries(name, batch)
        yield {"method": name, "batch": batch, "one": alone, "of_two": shares[name], "ratio": shares[name] / alone}


def main() -> None:
    """Print one line of JSON for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["time", "memory", "memory-here", "work"])
    parser.add_argument("methods", nargs="*", metavar="METHOD", default=METHODS)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    batch = options.batch or (16384 if options.what.startswith("memory") else 1024)
    for name in options.methods:
        Subject(name)
    if options.what == "work":
        for line in work(options.methods, batch):
            print(json.dumps(line), flush=True)
        return
    measure = {"memory": memory, "memory-here": memory_here}.get(options.what)
    for name in options.methods:
        line = measure(name, batch) if measure else times(name, batch, options.repeats)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
