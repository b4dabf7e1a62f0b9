"""A dry forward and backward before a run: the towers on two training samples, the method on a whole batch.

The method's batch is the two samples' embeddings, repeated with noise, because a method may refuse a small batch.
Classes that serve as clusters are real, but experts' vectors and token ids are not: no tokenizer is trained for the
pass and nothing embedded. It has no optimizer, runs on the processor, and keeps the process's random state as it was.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchsuite.conformance.cost import kept_tensors
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared, labelled_clusters
from benchsuite.errors import BenchsuiteError
from benchsuite.execution.measure import sizes_from
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Loss, Method, averaged_heads
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.tokenizer import Words
from benchsuite.models.vectors import text_reader
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.records.schema import MethodPart
from benchsuite.setup import Setup
from benchsuite.training.engine import device
from benchsuite.training.feed import Feed, Inputs
from benchsuite.training.loop import Trainee, require_finite
from benchsuite.training.teachers import momentum

SAMPLES = 2
ROWS = 1024
"""Rows of the method's batch, unless it refuses so few; all rows of a smaller batch."""
EXPERT_WIDTH = 8
ALL = 2**62
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Objective:
    """What a method's objective holds in memory."""

    bytes_per_pair: float
    """Of matrices with an entry for each pair of rows of a batch that are kept for the gradient, and one gradient.

    A matrix is seen by its shape: [B, B + 1] and the like are not.
    """
    state_bytes: float
    """The method's parameters and buffers, for all training samples."""
    block_bytes: float = 0
    """Of blocks of rows, where matrices are computed in blocks."""
    tower_parameters: int = 0
    """Of the towers and their projections, which are no part of `bytes`."""

    def bytes(self, batch: int) -> float:
        """At least, for a batch."""
        return self.bytes_per_pair * batch**2 + self.block_bytes + self.state_bytes


class DryPass:
    """Dry passes of several runs; the towers of the last one are kept."""

    def __init__(self) -> None:
        self._towers: tuple[object, DualEncoder, Words | None] | None = None
        self._unmade: dict[str, Exception] = {}

    def __call__(self, setup: Setup, part: MethodPart, split: Split) -> Objective:
        """Raises what a run of this setup and method would raise at its first or last step."""
        batch, prepared = setup.training.batch, _prepared(setup, split)
        options = part.hyperparameters | sizes_from(prepared, part)

        def method(samples: int) -> Method:
            return create_method(part.name, num_samples=samples, width=setup.projection.width, **options)

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            encoder, words = self._encoder(setup, split)
            small = setup.training.model_copy(update={"batch": SAMPLES, "processes": 1})
            plan = BatchPlan(split, SAMPLES, setup.augmentation, seed=0)
            needs = method(1).needs
            feed = Feed(setup.model_copy(update={"training": small}), plan, words, needs, prepared, CPU, workers=0)
            inputs = feed(0, 0)
            for rows in dict.fromkeys((_fewer(batch, setup.projection.width), batch)):
                try:
                    whole = Sizes().whole if rows == batch else int(Sizes().whole * (rows / batch) ** 2)
                    with sized(Sizes(whole)):  # fewer rows as a whole, or in blocks, as a batch is
                        kept = _pass(setup, method(rows), encoder, inputs, rows, len(split))
                    with sized(Sizes() if rows == batch else Sizes(whole=ALL)):
                        held = _kept(setup, method(rows), encoder, inputs, rows)[0]
                    break
                except BenchsuiteError:
                    if rows == batch:
                        raise
            kinds = ((*of.parameters(), *of.buffers()) for of in (method(rows), method(2 * rows)))
            few, many = (sum(tensor.nbytes for tensor in own) for own in kinds)
        state = many + (many - few) / rows * (len(split) - 2 * rows)
        towers = sum(weights.numel() for weights in encoder.parameters())
        if held == kept:
            return Objective(kept / rows**2 + 4, state, tower_parameters=towers)
        in_blocks = ((held - kept) / rows**2 + 4) * Sizes().of_block(batch, device()) * batch
        return Objective(kept / rows**2 + 4 * (kept > 0), state, in_blocks, towers)

    def _encoder(self, setup: Setup, split: Split) -> tuple[DualEncoder, Words | None]:
        key = (setup.image, setup.text, setup.projection, setup.data.name, split.images.shape[-1])
        if error := self._unmade.get(repr(key)):
            raise error  # at once: a hub that does not answer takes half a minute
        if self._towers is None or self._towers[0] != key:
            self._towers = None
            try:
                words = _words(setup, split)
                encoder = DualEncoder(setup, words.size if words else 0, image_inputs=split.images.shape[-1])
            except Exception as error:
                self._unmade[repr(key)] = error
                raise
            self._towers = (key, encoder.train(), words)
        return self._towers[1:]


def _pass(setup: Setup, method: Method, encoder: DualEncoder, inputs: Inputs, rows: int, samples: int) -> int:
    """Forward and backward at the first step, and of the method alone at the last; the bytes of its matrices."""
    steps, per_epoch = setup.training.steps, samples // setup.training.batch
    kept, loss, trainee, parts = _kept(setup, method, encoder, inputs, rows)
    require_finite(loss, method, 0)
    loss.total.backward()  # type: ignore[no-untyped-call]
    encoder.zero_grad(set_to_none=True)
    leaves = {
        name: part.detach().requires_grad_() if part.is_floating_point() else part for name, part in parts.items()
    }
    first, last = Clock(0, steps), Clock(steps - 1, steps, (steps - 1) * setup.training.accumulation // per_epoch)
    trainee.loss(leaves, last).total.backward()  # type: ignore[no-untyped-call]
    if method.copies_towers or averaged_heads(method):
        for clock in (first, last):
            momentum(method, clock)
    return kept


def _kept(
    setup: Setup, method: Method, encoder: DualEncoder, inputs: Inputs, rows: int
) -> tuple[int, Loss, Trainee, dict[str, Tensor]]:
    """The forward pass of the first step: bytes of its matrices, its loss, and the parts of the batch."""
    trainee, first = Trainee(encoder, method, seed=0), Clock(0, setup.training.steps)
    generator = torch.Generator().manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16, enabled=setup.training.precision == "bf16"):
        parts = {name: _widened(part, rows, generator) for name, part in trainee.parts(inputs, first).items()}
    parts["index"] = torch.arange(rows)
    with kept_tensors(rows) as kept:
        loss = trainee.loss(parts, first)
    return kept.bytes, loss, trainee, parts


def _fewer(batch: int, width: int) -> int:
    """A batch, halved as long as it is larger than ROWS and has many more rows than dimensions."""
    while batch % 2 == 0 and batch // 2 >= max(ROWS, 4 * width):
        batch //= 2
    return batch


def _widened(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Rows, repeated up to `count`; vectors with noise of their own size."""
    repeated = rows[torch.arange(count) % len(rows)]
    if not rows.is_floating_point():
        return repeated
    size = rows.detach().square().mean().sqrt()
    return repeated + size * torch.randn(repeated.shape, generator=generator)


def _prepared(setup: Setup, split: Split) -> Prepared:
    """Clusters of the right number and, where they are classes, the right ones; experts' vectors of ones."""
    ids, sizes = np.broadcast_to(np.int64(0), (len(split),)), None
    if setup.clusters:
        labels = labelled_clusters(setup.clusters, split)
        ids = ids if labels is None else labels
        each = [math.ceil(len(split) / setup.clusters.k)] * setup.clusters.k
        sizes = tuple(each if labels is None else map(int, np.bincount(labels)))
    vectors = np.broadcast_to(np.ones(EXPERT_WIDTH, np.float32), (len(split), EXPERT_WIDTH))
    return Prepared(ids, sizes, vectors, vectors)


def _words(setup: Setup, split: Split) -> Words | None:
    """Any words of the longest length, for a tower that is trained from scratch; the tokenizer is not trained yet."""
    if (tower := setup.text) is None or tower.vocabulary is None:
        return text_reader(setup, split)
    vocabulary: Mapping[str, int] = {str(i): i for i in range(tower.vocabulary)}
    longest = [i % tower.vocabulary for i in range(tower.max_tokens)]
    return Words(lambda texts, _: [longest for _ in texts], tower.max_tokens, vocabulary)
