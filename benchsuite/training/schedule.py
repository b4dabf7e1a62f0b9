"""The learning rate at a step."""

import math

from benchsuite.setup import Setup


def learning_rate(setup: Setup, step: int) -> float:
    """Linear from 0 over the warm-up, then half a cosine from the optimizer's rate to the final one."""
    peak, final, warmup = setup.optimizer.lr, setup.schedule.final_lr, setup.schedule.warmup_steps
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, setup.training.steps - warmup)
    return final + 0.5 * (peak - final) * (1 + math.cos(math.pi * min(1.0, progress)))
