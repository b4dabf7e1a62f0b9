"""The loop: the same for every method."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan, Draw
from benchsuite.data.pixels import augment, standardize, to_unit
from benchsuite.data.prepared import Prepared
from benchsuite.errors import RunError, UsageError
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.models.dual_encoder import DualEncoder, seeded_encoder, weights_digest
from benchsuite.models.tokenizer import Tokens, Words, words_for
from benchsuite.setup import Setup
from benchsuite.streams import derived_seed
from benchsuite.training.cost import Meter
from benchsuite.training.distributed import gather_batch, rank, share, world_size
from benchsuite.training.engine import (
    device,
    finish_step,
    join_processes,
    parameter_groups,
    set_learning_rate,
    start_engine,
)
from benchsuite.training.needs import require_served
from benchsuite.training.schedule import learning_rate

CURVE_POINTS = 100
NOTHING = Prepared()


@dataclass(frozen=True)
class Trained:
    """A finished training."""

    encoder: DualEncoder
    words: Words | None
    curves: dict[str, list[float]]
    cost: dict[str, Any]
    digests: dict[str, str]


@dataclass(frozen=True)
class Inputs:
    """One process's rows of one step, on its device: what goes through the towers, and what only travels with it."""

    pixels: dict[str, Tensor]
    tokens: dict[str, Tokens]
    extra: dict[str, Tensor]


class Trainee(nn.Module):
    """What the engine wraps: towers, then the method on the gathered batch, in one forward."""

    def __init__(self, encoder: DualEncoder, method: Method, seed: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.method = method
        self.seed = seed

    def forward(self, inputs: Inputs, clock: Clock) -> Loss:
        torch.manual_seed(derived_seed(self.seed, "dropout", clock.step, rank()))
        rows = {name: self.encoder.image(pixels) for name, pixels in inputs.pixels.items()}
        rows |= {name: self.encoder.text(tokens) for name, tokens in inputs.tokens.items()}
        parts = {name: out.float() for name, out in rows.items()} | inputs.extra
        torch.manual_seed(derived_seed(self.seed, "method", clock.step))
        with torch.autocast(inputs.extra["index"].device.type, enabled=False):
            loss: Loss = self.method(gather_batch(parts), clock)
        return loss


def train(
    setup: Setup,
    method: Method,
    split: Split,
    seed: int,
    watch: Callable[[int], None] = lambda step: None,
    prepared: Prepared = NOTHING,
) -> Trained:
    """Train new towers with `method` under `setup`; `watch` is told each finished step."""
    require_served(method, setup)
    join_processes()
    if world_size() != setup.training.processes:
        raise UsageError(f"the setup is for {setup.training.processes} processes; {world_size()} are running.")
    plan = BatchPlan(split, setup.training.batch, setup.augmentation, seed)
    words = words_for(setup.text, setup.data, split) if setup.text else None
    encoder = seeded_encoder(setup, words.size if words else 0, seed)
    digests = {"initial_weights": weights_digest(encoder), "batches": plan.digest()}
    digests |= {"words": words.digest} if words else {}
    engine = start_engine(Trainee(encoder, method, seed), parameter_groups(encoder, method, setup), setup)
    feed = Feed(setup, plan, words, method.needs, prepared)
    curves = Curves(setup.training.steps)
    meter = Meter()
    try:
        engine.train()
        for step in range(setup.training.steps):
            set_learning_rate(engine.optimizer, learning_rate(setup, step))
            clock = Clock(step, setup.training.steps, feed.epoch(step))
            losses = [one_pass(engine, feed(step, part), clock) for part in range(setup.training.accumulation)]
            finish_step(engine, method)
            curves.add(step, losses, engine.optimizer.param_groups[0]["lr"])
            watch(step + 1)
        cost = meter.read(engine.module, setup.training.steps * setup.training.accumulation * setup.training.batch)
    finally:
        engine.destroy()
    return Trained(encoder.eval(), words, curves.points, cost, digests)


def one_pass(engine: Any, inputs: Inputs, clock: Clock) -> Loss:
    """Forward, backward, and the engine's step, which updates weights once enough losses are in."""
    loss: Loss = engine(inputs, clock)
    require_finite(loss, engine.module.method, clock.step)
    engine.backward(loss.total)
    engine.step()
    return loss


class Feed:
    """Makes a step's inputs from its draws: for a pair what the method needs, for one tower always two views."""

    def __init__(
        self, setup: Setup, plan: BatchPlan, words: Words | None, needs: frozenset[str], prepared: Prepared
    ) -> None:
        self._prepared = prepared
        self._setup, self._plan, self._words = setup, plan, words
        self._needs = needs | ONE_TOWER_VIEWS.get(setup.towers, frozenset())
        self._device = device()

    def epoch(self, step: int) -> int:
        """How often the data was gone through before this step."""
        return step * self._setup.training.accumulation // self._plan.steps_per_epoch

    def __call__(self, step: int, part: int) -> Inputs:
        """This process's rows of loss number `part` of an optimizer step."""
        number = step * self._setup.training.accumulation + part
        draws = {"": self._plan.draw(number)}
        if self._needs & {"image_view", "text_view"}:
            draws["_view"] = self._plan.draw_view(number)
        if "image_view2" in self._needs:
            draws["_view2"] = self._plan.draw_third(number)
        mine = share(self._setup.training.batch)
        wanted = {"image", "text", *self._needs}
        pixels = {
            f"image{n}": self._pixels(d, mine) for n, d in draws.items() if f"image{n}" in wanted and self._setup.image
        }
        tokens = {
            f"text{n}": self._tokens(d, mine) for n, d in draws.items() if f"text{n}" in wanted and self._setup.text
        }
        return Inputs(pixels, tokens, self._extra(draws[""].index[mine]))

    def _extra(self, index: NDArray[np.int64]) -> dict[str, Tensor]:
        names = ("cluster", "image_expert", "text_expert")
        rows = {name: getattr(self._prepared, name)[index] for name in names if name in self._needs}
        return {name: torch.from_numpy(part).to(self._device) for name, part in {"index": index, **rows}.items()}

    def _pixels(self, draw: Draw, mine: slice) -> Tensor:
        assert self._setup.image is not None
        pixels = to_unit(self._plan.split.images[draw.index[mine]]).to(self._device)
        tower = self._setup.image
        seen = standardize(augment(pixels, draw.looks[mine]), tower.mean, tower.std)
        return seen.contiguous(memory_format=torch.channels_last) if seen.dim() == 4 else seen

    def _tokens(self, draw: Draw, mine: slice) -> Tokens:
        assert self._words is not None
        return self._words(draw.captions[mine]).to(self._device)


ONE_TOWER_VIEWS = {"image": frozenset({"image_view"}), "text": frozenset({"text_view"})}


class Curves:
    """Loss, terms, gauges and rate over the training, thinned to about a hundred points."""

    def __init__(self, steps: int) -> None:
        self._stride = math.ceil(steps / CURVE_POINTS)
        self._last = steps - 1
        self.points: dict[str, list[float]] = {"step": []}

    def add(self, step: int, losses: Sequence[Loss], rate: float) -> None:
        """Keep this step if it is one of the points: the mean over the losses it was made of."""
        if step % self._stride and step != self._last:
            return
        seen = [{"loss": loss.total, **loss.terms, **loss.gauges} for loss in losses]
        means = {name: fmean(number(one[name]) for one in seen) for name in seen[0]}
        for name, value in {"step": step, "lr": rate, **means}.items():
            self.points.setdefault(name, []).append(value)


def require_finite(loss: Loss, method: Method, step: int) -> None:
    """Stop the run at the first loss that is not a number."""
    if torch.isfinite(loss.total):
        return
    terms = ", ".join(f"{name} {number(value):g}" for name, value in {**loss.terms, **loss.gauges}.items())
    raise RunError(
        f"{method.card.name}: the loss is {number(loss.total)} at step {step}"
        f"{f' ({terms})' if terms else ''}. A temperature that is too small or a rate that is too high does this."
    )


def number(value: Tensor | float) -> float:
    """A scalar tensor or a number as a number."""
    return float(value.item() if isinstance(value, Tensor) else value)
