"""The same gradients on two processes that gather the batch, and share its rows, as on one.

Starting processes takes seconds, so two of them serve all methods. Their values are compared with those of one process.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn

from benchsuite.conformance.subject import WIDTH, NotMetError, Subject, Together, Values, modes, parts, tensors, unlike
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import TEACHER_PARTS, PairBatch
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.objectives.shares import shared
from benchsuite.registry import load_plugin, methods
from benchsuite.training.distributed import ProcessShares, gather_batch, share, world_size

ROWS = 6
STEPS = 3
WHOLE, SMALL = Sizes(), Sizes(whole=0, rows=2)
"""Two processes compute objectives by their own rows and in blocks of a few, one process as a whole."""
TOLERANCE = 1e-5
GRADIENT = ": the gradient of "
"""In the name of a gradient. Gradients are measured by the largest one: a gradient that is 0 in theory is rounding."""
OTHER = "the other process failed"
PATIENCE = timedelta(seconds=120)


def on_two_processes(names: Sequence[str]) -> dict[str, Together]:
    """Losses, gradients and state of each method as two processes have them; spawns once for all."""
    if not names:
        return {}
    files = {name: methods.card(name).file for name in names}
    with tempfile.TemporaryDirectory() as folder:
        spawn(_process, args=(folder, files), nprocs=2)  # type: ignore[no-untyped-call]
        saved = [torch.load(Path(folder, f"{number}.pt"), weights_only=True) for number in range(2)]
    return {name: [values[name] for values in saved] for name in names}


def check_processes(subject: Subject) -> None:
    """Compare the values of one process with those of two."""
    together = subject.together
    if together is None:
        raise NotMetError("it was not run on two processes.")
    errors = [(number, outcome) for number, outcome in enumerate(together, 1) if isinstance(outcome, str)]
    for number, error in sorted(errors, key=lambda numbered: OTHER in numbered[1]):
        raise NotMetError(f"on two processes, process {number}: {error}")
    alone = compute(subject)
    largest = max((t.abs().max().item() for name, t in alone.items() if GRADIENT in name and t.numel()), default=0.0)
    for values in together:
        assert not isinstance(values, str)
        for name, expected in alone.items():
            least, whose = (largest, "the largest gradient's") if GRADIENT in name else (0.0, "its")
            if name not in values or (gap := unlike(expected, values[name], least)) > TOLERANCE:
                how = f"differs by {gap:.2g} of {whose} size" if name in values else "is missing"
                raise NotMetError(f"{name} on two processes {how}, compared with one process.")


def compute(subject: Subject) -> Values:
    """Losses, gradients and state after a few steps on the gathered batch, on however many processes there are."""
    values: Values = {}
    for mode in modes(subject.template):
        torch.manual_seed(0)
        method, encoder = subject.make().double(), nn.Linear(WIDTH, WIDTH, dtype=torch.float64)
        for step in range(STEPS):
            rows = tensors(parts(method, mode), ROWS, seed=step % 2)
            mine = {n: encoder(t[share(ROWS)]) if t.is_floating_point() else t[share(ROWS)] for n, t in rows.items()}
            mine |= {n: mine[n].detach() for n in TEACHER_PARTS if n in mine}
            batch = gather_batch(mine)
            torch.manual_seed(step)
            with sized(SMALL if world_size() > 1 else WHOLE), shared(ProcessShares()):
                loss = _forward(method, batch, Clock(step, STEPS))
            loss.backward()  # type: ignore[no-untyped-call]
            values[f"{mode}: the loss at step {step}"] = loss.detach()
        for name, parameter in (*encoder.named_parameters(prefix="encoder"), *method.named_parameters()):
            if parameter.grad is not None:
                whole = parameter.grad.clone()
                if world_size() > 1:
                    dist.all_reduce(whole)
                values[f"{mode}{GRADIENT}{name}"] = whole / world_size()  # the mean, as the engine takes it
        values |= {f"{mode}: the state {name}": buffer.clone() for name, buffer in method.named_buffers()}
    return values


def _process(number: int, folder: str, files: dict[str, str]) -> None:
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # off the terminal: values come back in a file
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", timeout=PATIENCE, rank=number, world_size=2)
    for name, file in files.items():
        if name not in methods:  # it is of a plugin, or of any module that was imported
            load_plugin(Path(file))
    torch.save({name: _attempt(name) for name in files}, Path(folder, f"{number}.pt"))
    dist.barrier()  # a process that leaves while the other still talks to it may end the other
    dist.destroy_process_group()


def _attempt(name: str) -> Values | str:
    try:
        return compute(Subject(name))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _forward(method: Method, batch: PairBatch, clock: Clock) -> Tensor:
    """The loss, or an error on both processes where one has it: the other would wait for it in the backward pass."""
    problem: Exception | None = None
    try:
        loss: Tensor = method(batch, clock).total
    except Exception as error:
        problem = error
    failed = torch.tensor(float(problem is not None))
    if world_size() > 1:
        dist.all_reduce(failed)
    if problem:
        raise problem
    if failed:
        raise RuntimeError(OTHER)
    return loss
