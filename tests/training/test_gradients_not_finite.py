"""A gradient that is not finite under a finite loss ends the run: ZeRO alone would leave the step out and go on."""

import math
from collections.abc import Callable

import pytest
import torch

from benchsuite.data.base import Split
from benchsuite.errors import DivergedError
from benchsuite.methods import Clock, Loss, PairBatch
from benchsuite.methods.infonce import InfoNCE
from benchsuite.setup import Setup
from benchsuite.training.loop import train

Make = Callable[..., Setup]
FIRST = 2


class Poisoned(InfoNCE):
    """InfoNCE whose gradient for the images is infinite from a step on."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        if clock.step >= FIRST and batch.image.requires_grad:
            batch.image.register_hook(lambda gradient: gradient * math.inf)  # type: ignore[no-untyped-call]
        return super().loss(batch, clock)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(("stage", "accumulation"), [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)])
def test_a_step_that_is_not_taken_ends_the_run(
    make_setup: Make, split: Split, stage: int, accumulation: int, precision: str
) -> None:
    setup = make_setup(zero_stage=stage, accumulation=accumulation, precision=precision)
    with pytest.raises(DivergedError, match=rf"infonce: the gradient of encoder\.\S+ is not finite at step {FIRST}, "):
        train(setup, Poisoned(tau=0.1), split, 0)


@pytest.mark.parametrize("clip", [0.0, 1.0])
def test_it_is_seen_at_the_last_step_with_and_without_clipping(make_setup: Make, split: Split, clip: float) -> None:
    setup = make_setup(steps=FIRST + 1, clip_gradient=clip)
    with pytest.raises(DivergedError, match=f"at step {FIRST}"):
        train(setup, Poisoned(tau=0.1), split, 0)


def test_a_gradient_that_is_large_is_no_divergence(make_setup: Make, split: Split) -> None:
    class Steep(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            batch.image.register_hook(lambda gradient: gradient * 1e15)  # type: ignore[no-untyped-call]
            return super().loss(batch, clock)

    for stage in (0, 2):
        trained = train(make_setup(zero_stage=stage), Steep(tau=0.1), split, 0)
        assert all(torch.isfinite(p).all() for p in trained.encoder.parameters())
