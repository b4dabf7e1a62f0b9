"""Golden values: what each method's arithmetic gave when it was last looked at.

Losses and gradient norms on seeded batches, in float64, over a few steps, so that schedules and state show. They prove
nothing right; they tell which method a change has moved. `benchsuite check-method --all --update-golden` writes them.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import torch

from benchsuite.conformance.subject import Subject, differentiable, modes, parts, tensors
from benchsuite.methods.base import Clock, PairBatch
from benchsuite.paths import baselines

SIZE, STEPS = 6, 3
TOLERANCE = 1e-6
"""As a share of the value; sums are ordered differently on other processors."""

Golden = Mapping[str, Mapping[str, list[float]]]
"""For each kind of towers: losses, and gradient norms over embeddings and parameters, by step."""


def golden_values(name: str) -> Golden:
    """The values of a method as it is now."""
    subject = Subject(name)
    return {mode: _trace(subject, mode) for mode in modes(subject.template)}


def stored_file() -> Path:
    """Where the values are kept."""
    return baselines() / "regression" / "golden.json"


def stored_values() -> dict[str, Golden]:
    """The values as they were."""
    file = stored_file()
    found: dict[str, Golden] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def update(names: list[str]) -> list[str]:
    """Store the values of these methods as they are now; returns those that moved or are new."""
    before = stored_values()
    now = {name: golden_values(name) for name in names}
    moved = [name for name in names if name not in before or differences(before[name], now[name])]
    kept = {name: before[name] for name in before if name not in moved}
    stored_file().parent.mkdir(exist_ok=True)
    stored_file().write_text(json.dumps(dict(sorted({**kept, **{n: now[n] for n in moved}}.items())), indent=1) + "\n")
    return moved


def differences(expected: Golden, found: Golden) -> list[str]:
    """Where two sets of values part, in words."""
    told = []
    for mode in sorted({*expected, *found}):
        for what in sorted({*expected.get(mode, {}), *found.get(mode, {})}):
            left, right = expected.get(mode, {}).get(what, []), found.get(mode, {}).get(what, [])
            if len(left) != len(right) or not all(map(_alike, left, right)):
                told.append(f"{mode}, {what}: was {left}, is {right}")
    return told


def _alike(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(abs(a), 1e-3)


def _trace(subject: Subject, mode: str) -> dict[str, list[float]]:
    torch.manual_seed(0)
    method = subject.make().double()
    trace: dict[str, list[float]] = {"loss": [], "gradient": []}
    for step in range(STEPS):
        rows = differentiable(tensors(parts(method, mode), SIZE, seed=step))
        torch.manual_seed(step)
        loss = method(PairBatch(**rows), Clock(step, STEPS)).total
        leaves = [t for t in (*rows.values(), *method.parameters()) if t.requires_grad]
        gradients = [g for g in torch.autograd.grad(loss, leaves, allow_unused=True) if g is not None]
        trace["loss"].append(loss.item())
        trace["gradient"].append(float(torch.stack([g.double().norm() for g in gradients]).norm()))
    return trace
