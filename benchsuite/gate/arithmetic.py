"""A method's values on fixed embeddings: its loss, terms, gauges and gradient norm, step by step.

In float64, on few samples, through a whole schedule. Each sample comes back, so that schedules and per-sample state
matter. Nothing is trained, so errors do not grow. Equal values do not prove a method right; changed values tell which
method a code change affects.
"""

from collections.abc import Mapping
from typing import Any

import torch

from benchsuite.conformance.subject import Subject, differentiable, modes, parts, tensors
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.training.curves import number

SIZE, STEPS, STEPS_PER_EPOCH = 6, 8, 2
CLUSTER_SIZES = (1, 4, 11)
NOTICEABLE: Mapping[str, Mapping[str, Any]] = {
    name: {"p": 0.5} for name in ("gap-hard-swap", "gap-hard-swap-feature", "gap-soft-swap")
}
"""Hyper-parameters for methods whose default acts in too few steps to affect a short run."""


def arithmetic(name: str) -> dict[str, dict[str, list[float]]]:
    """The values of a method as it is now, by towers, curve and step."""
    subject = Subject(name)
    return {mode: _curves(subject, mode) for mode in modes(subject.template)}


def _curves(subject: Subject, mode: str) -> dict[str, list[float]]:
    options: dict[str, Any] = {**NOTICEABLE.get(subject.name, {})}
    if "cluster_sizes" in subject.fields:
        options["cluster_sizes"] = CLUSTER_SIZES
    torch.manual_seed(0)
    method = subject.make(**options).double()
    curves: dict[str, list[float]] = {}
    for step in range(STEPS):
        rows = differentiable(tensors(parts(method, mode), SIZE, seed=step))
        if "cluster" in rows:
            rows["cluster"] = torch.arange(SIZE) % len(CLUSTER_SIZES)
        torch.manual_seed(step)
        loss = method(PairBatch(**rows), Clock(step, STEPS, epoch=step // STEPS_PER_EPOCH))
        leaves = [leaf for leaf in (*rows.values(), *method.parameters()) if leaf.requires_grad]
        norms = [g.norm() for g in torch.autograd.grad(loss.total, leaves, allow_unused=True) if g is not None]
        values = {"loss": loss.total, **loss.terms, **loss.gauges, "gradient_norm": torch.stack(norms).norm()}
        for curve, value in values.items():
            curves.setdefault(curve, []).append(number(value))
    return curves
