"""What a method costs relative to InfoNCE. It is shown but not checked: it depends on the machine."""

import time
from statistics import median

import torch

from benchsuite.conformance.matrices import kept_matrices
from benchsuite.conformance.report import Cost
from benchsuite.conformance.subject import Subject, differentiable, modes, parts
from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Sizes, sized

SAMPLES = 1000
BATCH = 128
WIDTH = 128
CALLS = 9
FEW = 101
"""Rows of a batch that stands for a large one; of no other size that a method has is it a divisor."""


def measure(subject: Subject) -> Cost:
    """Time of loss and gradient relative to InfoNCE's, measured alternately; bytes of parameters and state."""
    method = _made(subject)
    baseline = create_method("infonce")
    batches = [_batch(each) for each in (method, baseline)]
    seconds: tuple[list[float], list[float]] = ([], [])
    for call in range(CALLS + 1):
        for timed, batch, times in zip((method, baseline), batches, seconds, strict=True):
            taken = _time(timed, batch, call)
            if call:
                times.append(taken)
    tensors = (*method.parameters(), *method.buffers())
    state = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return Cost(round(median(seconds[0]) / median(seconds[1]), 2), state, SAMPLES, _pair_bytes(method))


def _made(subject: Subject) -> Method:
    """With its defaults; with its miniature sizes if it refuses a batch as small as those here."""
    method = create_method(subject.name, num_samples=SAMPLES, width=WIDTH)
    try:
        method(_batch(method, FEW), Clock(0, CALLS))
    except UsageError:
        return create_method(subject.name, num_samples=SAMPLES, width=WIDTH, **subject.cls.miniature)
    return create_method(subject.name, num_samples=SAMPLES, width=WIDTH)


def _pair_bytes(method: Method) -> float:
    """What the loss of a large batch keeps for each pair of its rows."""
    with sized(Sizes(whole=0)), kept_matrices(FEW) as kept:
        method(_batch(method, FEW), Clock(CALLS, CALLS))
    return round(kept.bytes / FEW**2, 1)


def _batch(method: Method, size: int = BATCH) -> PairBatch:
    generator = torch.Generator().manual_seed(0)
    ids = {"index": torch.arange(size), "cluster": torch.zeros(size, dtype=torch.long)}
    names = parts(method, modes(method)[0])
    rows = {n: ids[n] if n in ids else torch.randn(size, WIDTH, generator=generator) for n in names}
    return PairBatch(**differentiable(rows))


def _time(method: Method, batch: PairBatch, step: int) -> float:
    start = time.perf_counter()
    method(batch, Clock(step, CALLS)).total.backward()
    return time.perf_counter() - start
