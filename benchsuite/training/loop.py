"""The loop: the same for every method."""

import math
from collections.abc import Callable, Mapping, Set
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.canonical import short_digest
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared
from benchsuite.errors import DivergedError, UsageError
from benchsuite.methods.base import Clock, Loss, Method, all_heads
from benchsuite.methods.batch import TEACHER, encoded
from benchsuite.models.clip_models import Side
from benchsuite.models.dual_encoder import DualEncoder, seeded_encoder
from benchsuite.models.tokenizer import Words
from benchsuite.models.towers import weights_digest
from benchsuite.models.vectors import text_reader
from benchsuite.objectives.shares import shared
from benchsuite.records.method_version import file_digest
from benchsuite.records.schema import Resumption
from benchsuite.setup import Setup
from benchsuite.streams import derived_seed
from benchsuite.training.checkpoint import Checkpoints, Saver
from benchsuite.training.curves import Curves, Meter, centroid_gap, number
from benchsuite.training.distributed import ProcessShares, gather_batch, rank, world_size
from benchsuite.training.embedded_once import embedded_once, sides_once
from benchsuite.training.engine import (
    finish_step,
    gradient_norm,
    join_processes,
    one_order,
    parameter_groups,
    set_learning_rate,
    start_engine,
)
from benchsuite.training.feed import Feed, Inputs
from benchsuite.training.needs import require_served
from benchsuite.training.shares import encoded_in_shares, keeping, seed_torch
from benchsuite.training.teachers import evaluated, follow_student, teacher_of
from benchsuite.training.tracking import tracked

NOTHING = Prepared()
SKIPPED = "skipped_pictures"
"""How many training pairs were replaced because of their pictures, and the digest of their rows; none if none was."""


@dataclass(frozen=True)
class Trained:
    """A finished training."""

    encoder: DualEncoder
    """The one that the method has evaluated: the trained one, or its averaged copy."""
    words: Words | None
    curves: dict[str, list[float]]
    cost: dict[str, Any]
    digests: dict[str, str]
    resumptions: list[Resumption]


Probe = Callable[[int, int, DualEncoder, Words | None], Mapping[str, float]]
"""Evaluates after so many steps, the last point of the curves having been after so many (0: none yet)."""


class Trainee(nn.Module):
    """What the engine wraps: encoders, then the method on the gathered batch, in one forward pass.

    The teacher runs in train mode: its dropout is drawn after the encoder's, its batch norms see this batch.
    """

    def __init__(
        self,
        encoder: DualEncoder,
        method: Method,
        seed: int,
        shares: int = 1,
        compiled: bool = False,
        once: Set[Side] = frozenset(),
    ) -> None:
        """`shares`: in how many equal parts a batch is encoded, by as many processes or by fewer.

        `compiled`: the encoder's passes are compiled here alone; whoever evaluates it calls it as it is. `once`: the
        sides of which the inputs are what their frozen towers give.
        """
        super().__init__()
        self.encoder = encoder
        self.passes = _passes(encoder, once, torch.compile if compiled else None)
        self.teacher = teacher_of(encoder, method)
        self.taught = _passes(self.teacher, once) if self.teacher else {}
        self.method = method
        self.seed = seed
        self.shares = shares
        self.watched = True
        """Whether this step is a point of the curves; what only curves show is not computed at others."""
        self.number = 0
        """Of the loss, over all steps: several of a step have their own draws."""

    def forward(self, inputs: Inputs, clock: Clock) -> Loss:
        return self.loss(self.parts(inputs, clock), clock)

    def parts(self, inputs: Inputs, clock: Clock) -> dict[str, Tensor]:
        """This process's rows of the batch, encoded share by share."""
        modules = [self.encoder, *([self.teacher] if self.teacher else [])]
        rows = encoded_in_shares(self.embeddings, modules, inputs, self.shares, self.seed, self.number)
        return rows | inputs.extra

    def loss(self, parts: dict[str, Tensor], clock: Clock) -> Loss:
        """The method's loss on the global batch; objectives may compute this process's rows of it alone."""
        seed_torch(derived_seed(self.seed, "method", self.number))
        batch = gather_batch(parts)
        with torch.autocast(parts["index"].device.type, enabled=False), shared(ProcessShares()):
            loss: Loss = self.method(batch, clock)
        if self.watched and batch.is_pair:
            return replace(loss, gauges={**loss.gauges, "gap": centroid_gap(batch)})
        return loss

    def embeddings(self, inputs: Inputs) -> dict[str, Tensor]:
        """What the method reads: embeddings by the encoder, and by the teacher without gradient."""
        needs = self.method.needs
        given: dict[Side, dict[str, Any]] = {"image": {**inputs.pixels}, "text": {**inputs.tokens}}
        views = [(side, name, view) for side, own in given.items() for name, view in own.items()]
        rows = {name: self.passes[side](view) for side, name, view in views if encoded(name, needs)}
        if self.teacher:
            with torch.no_grad():
                taught = [(side, name + TEACHER, view) for side, name, view in views if name + TEACHER in needs]
                rows |= {name: self.taught[side](view) for side, name, view in taught}
        return rows


def _passes(encoder: DualEncoder, once: Set[Side], made: Any = None) -> dict[Side, Callable[[Any], Tensor]]:
    """What embeds each side. Bound methods: a module here would be a second time among the trainee's own."""
    encodes: dict[Side, Any] = {"image": encoder.image, "text": encoder.text}
    return {
        side: getattr(encoder, f"{side}_projection").forward if side in once else made(encode) if made else encode
        for side, encode in encodes.items()
    }


def train(
    setup: Setup,
    method: Method,
    split: Split,
    seed: int,
    watch: Callable[[int], None] = lambda step: None,
    prepared: Prepared = NOTHING,
    probe: Probe | None = None,
    checkpoints: Checkpoints | None = None,
) -> Trained:
    """Train new encoders with `method` under `setup`; `watch` is called with the number of finished steps.

    `probe` evaluates during training: it is called at each point of the curves and returns values to add, or none.
    With `checkpoints`, the training goes on from the last one, to the same result as if it had never stopped; asked to
    stop by a signal, it is saved and raises `Interrupted`.
    """
    require_served(method, setup)
    join_processes()
    if (shares := setup.training.processes) % world_size():
        raise UsageError(f"{world_size()} processes are running; the setup is for {shares}, or fewer that divide it.")
    plan = BatchPlan(split, setup.training.batch, setup.augmentation, seed, setup.training.window)
    words = text_reader(setup, split)
    encoder = seeded_encoder(setup, words.size if words else 0, seed, image_inputs=split.images.shape[-1])
    digests = {"initial_weights": weights_digest(encoder), "batches": plan.digest()}
    digests |= {"words": words.digest} if words else {}
    for head in all_heads(method):
        head.build(setup.projection.width)
    once = sides_once(setup, plan)
    trainee = Trainee(encoder, method, seed, shares, setup.training.compiled, once)
    engine = start_engine(trainee, parameter_groups(encoder, method, setup), setup)
    judged = evaluated(method, encoder, trainee.teacher)
    feed = Feed(setup, *embedded_once(once, setup, plan, words, encoder, method.needs), method.needs, prepared)
    curves = Curves(setup.training.steps)
    meter = Meter()
    made_of = {**digests, "method's file": file_digest(method.card)}
    steps = setup.training.steps
    saver = Saver(checkpoints, engine, curves, meter, steps, made_of, feed.skipped) if checkpoints else None
    with ExitStack() as last, closing(feed), saver or nullcontext():
        last.callback(engine.destroy)
        last.enter_context(keeping(encoder))
        last.enter_context(one_order(setup.training.compiled))
        engine.train()
        for step in range(saver.resume() if saver else 0, steps):
            trainee.watched = curves.keeps(step)
            passes = one_step(engine, feed, setup, step)
            if trainee.watched:
                probed = probe(step + 1, curves.last, judged.eval(), words) if probe else {}
                judged.train()
                about = {"lr": learning_rate(setup, step), "gradient_norm": passes[-1][1]}
                curves.add(step, [loss for loss, _ in passes], {**about, **probed})
                if rank() == 0:
                    pairs = (step + 1) * setup.training.accumulation * setup.training.batch
                    tracked.get()(step, curves.latest | meter.now(pairs))
            if saver:
                saver.after(step + 1)
            watch(step + 1)
        if saver:
            saver.finish()
        cost = meter.read(engine.module, steps * setup.training.accumulation * setup.training.batch)
        if skipped := feed.skipped_by_all():
            cost |= {SKIPPED: len(skipped)}
            digests |= {SKIPPED: short_digest(skipped)}
    return Trained(judged.eval(), words, curves.points, cost, digests, saver.resumptions if saver else [])


def one_step(engine: Any, feed: Feed, setup: Setup, step: int) -> list[tuple[Loss, float]]:
    """All of one optimizer step: the losses that were accumulated, each with its gradient norm, if it is watched."""
    trainee: Trainee = engine.module
    set_learning_rate(engine.optimizer, learning_rate(setup, step))
    clock = Clock(step, setup.training.steps, feed.epoch(step))
    passes = [one_pass(engine, feed, part, clock) for part in range(setup.training.accumulation)]
    for loss, _ in passes:  # not before its backward pass: that would wait there for the GPU
        require_finite(loss, trainee.method, step)
    if not engine.was_step_applied():
        raise not_finite(engine, feed, clock, passes[-1][0])
    finish_step(engine, trainee.method)
    follow_student(trainee.teacher, trainee.encoder, trainee.method, clock)
    return passes


def one_pass(engine: Any, feed: Feed, part: int, clock: Clock) -> tuple[Loss, float]:
    """Forward, backward, and the engine's step, which updates weights once enough losses are in.

    Also the norm of the gradients accumulated so far, before clipping, if the step is watched.
    """
    loss = one_loss(engine, feed, part, clock)
    engine.backward(loss.total)
    feed.make_next()  # before the step, which waits for the GPU
    watched = engine.module.watched
    norm = gradient_norm(engine, stepped=False) if watched else math.nan
    engine.step()
    return loss, gradient_norm(engine, stepped=True) if watched and math.isnan(norm) else norm


def one_loss(engine: Any, feed: Feed, part: int, clock: Clock) -> Loss:
    """Loss number `part` of a step, with draws of its own."""
    engine.module.number = clock.step * engine.gradient_accumulation_steps() + part
    loss: Loss = engine(feed(clock.step, part), clock)
    return loss


def not_finite(engine: Any, feed: Feed, clock: Clock, loss: Loss) -> DivergedError:
    """Why a step was not taken: the first parameter whose gradient is not finite, found by doing its passes again."""
    named = {name: p for name, p in engine.module.named_parameters() if p.requires_grad}
    found: list[str] = []
    for part in range(engine.gradient_accumulation_steps()):
        total = one_loss(engine, feed, part, clock).total
        gradients = torch.autograd.grad(total, [*named.values()], allow_unused=True)
        found += [name for name, g in zip(named, gradients, strict=True) if g is not None and not g.isfinite().all()]
    return DivergedError(
        f"{engine.module.method.card.name}: the gradient{f' of {found[0]}' if found else ''} is not finite at step "
        f"{clock.step}, though the loss is {number(loss.total):g}; the step is not taken."
    )


def require_finite(loss: Loss, method: Method, step: int) -> None:
    """Stop the run at the first loss that is not a number."""
    if torch.isfinite(loss.total):
        return
    terms = ", ".join(f"{name} {number(value):g}" for name, value in {**loss.terms, **loss.gauges}.items())
    raise DivergedError(
        f"{method.card.name}: the loss is {number(loss.total)} at step {step}"
        f"{f' ({terms})' if terms else ''}. A temperature that is too small or a rate that is too high does this."
    )


def learning_rate(setup: Setup, step: int) -> float:
    """Linear from 0 over the warm-up, then half a cosine from the optimizer's rate to the final one."""
    peak, final, warmup = setup.optimizer.lr, setup.schedule.final_lr, setup.schedule.warmup_steps
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, setup.training.steps - warmup)
    return final + 0.5 * (peak - final) * (1 + math.cos(math.pi * min(1.0, progress)))
