"""A training step beside its towers alone, and objectives beside the same arithmetic written plainly.

Loss and gradient are both in the time. A method with state moves it at each call, and its peer moves one of its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import torch
from cases import OURS, Case, Numbers
from torch import Tensor
from torch.nn.functional import batch_norm, linear, logsigmoid, normalize, relu

from benchsuite.conformance.subject import modes, parts
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.setup import Setup

TOWERS = "towers alone"
PLAIN = "written plainly"
SAMPLES = 1000
WIDTH = 128


def cases(size: str) -> Iterator[Case]:
    """A step of two recipes, then the objectives."""
    small = size == "small"
    yield step("scenes-small", 1 if small else 8, aims={TOWERS: 1 / 1.10})
    yield step("latents-pairs", 2 if small else 40)
    for name, plain in PLAINLY.items():
        yield objective(name, plain, batch=16 if small else 128)


def step(recipe: str, steps: int, aims: Mapping[str, float] | None = None) -> Case:
    """So many steps of a training with InfoNCE; the towers' forward and backward pass on one batch as often."""
    from benchsuite.planning.plan import plan_run

    training = Training(plan_run("infonce", recipe, "RN50", 0, {}).setup)
    what = f"{steps} training steps at {recipe}, InfoNCE, in CPU time of its own"
    calls = {OURS: partial(training.steps, steps), TOWERS: partial(training.towers, steps)}
    return Case(f"step-{recipe}", what, calls, aims or {})


class Training:
    """A training that has begun: all that `train` makes."""

    def __init__(self, setup: Setup, encoder: DualEncoder | None = None) -> None:
        """Of new towers, or of `encoder`."""
        from benchsuite.data.batches import BatchPlan
        from benchsuite.data.prepared import Prepared
        from benchsuite.execution.evaluate import opened
        from benchsuite.models.dual_encoder import seeded_encoder
        from benchsuite.models.vectors import text_reader
        from benchsuite.training.curves import Curves
        from benchsuite.training.engine import join_processes, parameter_groups, start_engine
        from benchsuite.training.feed import Feed
        from benchsuite.training.loop import Trainee

        self.setup = setup
        join_processes()
        split = opened(setup.data).split("train")
        words = text_reader(setup, split)
        assert words is not None
        self.encoder = encoder or seeded_encoder(setup, words.size, 0, image_inputs=split.images.shape[-1])
        method = create_method("infonce", num_samples=len(split), tau=0.05)
        training = setup.training
        self.trainee = Trainee(self.encoder, method, 0, training.processes, training.compiled)
        self.engine = start_engine(self.trainee, parameter_groups(self.encoder, method, setup), setup)
        self.engine.train()
        plan = BatchPlan(split, setup.training.batch, setup.augmentation, 0)
        self.feed = Feed(setup, plan, words, method.needs, Prepared())
        self.curves = Curves(setup.training.steps)
        self.inputs = self.feed(0, 0)
        self.next = 0

    def steps(self, number: int) -> Numbers:
        """The next steps, as `train` does them."""
        from benchsuite.training.loop import one_step

        for _ in range(number):
            here, self.next = self.next, (self.next + 1) % self.setup.training.steps
            self.trainee.watched = self.curves.keeps(here)
            passes = one_step(self.engine, self.feed, self.setup, here)
            if self.trainee.watched:
                self.curves.add(here, [loss for loss, _ in passes], {"gradient_norm": passes[-1][1]})
        return {}

    def towers(self, number: int) -> Numbers:
        """As many forward and backward passes of the towers."""
        precision = self.setup.training.precision
        for _ in range(number):
            with torch.autocast(self.inputs.extra["index"].device.type, torch.bfloat16, enabled=precision == "bf16"):
                rows = [*self.trainee.embeddings(self.inputs).values()]
            torch.autograd.backward(rows, [torch.ones_like(row) for row in rows])
            for parameter in self.encoder.parameters():
                parameter.grad = None
        return {}

    def end(self) -> None:
        """Let go of its memory and its workers."""
        self.feed.close()
        self.engine.destroy()


Rows = dict[str, Tensor]
Plain = Callable[[Method, Rows, Rows], Tensor]
"""Loss of a method's parameters on unit rows, with tensors of its own to remember things in."""


def objective(name: str, plain: Plain, batch: int) -> Case:
    """Loss and gradient of a method and of InfoNCE, and of what is written here in its place."""
    what = f"{name}'s objective of {batch} rows of {WIDTH} numbers after InfoNCE's, loss and gradient"
    calls = {OURS: partial(Objective(name, batch).ours), PLAIN: partial(Objective(name, batch).plainly, plain)}
    return Case(name, what, calls, aims={PLAIN: 0.5}, apart=1e-4)


@dataclass
class Objective:
    """A method with a batch; each call is a step."""

    name: str
    batch: int

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(0)
        torch.manual_seed(0)
        self.method = create_method(self.name, num_samples=SAMPLES, width=WIDTH)
        self.infonce = create_method("infonce")
        ids = {"index": torch.arange(self.batch), "cluster": torch.zeros(self.batch, dtype=torch.long)}
        names = {"image", "text", *parts(self.method, modes(self.method)[0])}
        self.rows = {
            n: ids[n] if n in ids else torch.randn(self.batch, WIDTH, generator=generator).requires_grad_()
            for n in sorted(names)
        }
        self.state: Rows = {}
        self.step = count()

    def ours(self) -> Numbers:
        """As a training calls them."""
        batch, clock = PairBatch(**self.rows), Clock(next(self.step) % 100, 100)
        return self._numbers(self.infonce(batch, clock).total + self.method(batch, clock).total)

    def plainly(self, plain: Plain) -> Numbers:
        """The same with torch alone."""
        unit = {n: normalize(row, dim=1) if row.requires_grad else row for n, row in self.rows.items()}
        return self._numbers(info_nce(unit, 0.01) + plain(self.method, unit, self.state))

    def _numbers(self, loss: Tensor) -> Numbers:
        loss.backward()
        given = [p for p in (*self.rows.values(), *self.method.parameters()) if p.grad is not None]
        norm = torch.nn.utils.get_total_norm([p.grad for p in given if p.grad is not None])
        for parameter in given:
            parameter.grad = None
        return {"loss": loss.item(), "gradient": float(norm)}


def info_nce(rows: Rows, tau: Tensor | float) -> Tensor:
    """Both directions."""
    logits = rows["image"] @ rows["text"].T / tau
    positive = logits.diagonal()
    return ((torch.logsumexp(logits, 1) - positive).mean() + (torch.logsumexp(logits, 0) - positive).mean()) / 2


def cosines(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Of both views' rows with those of both, oneself at -inf, [2B, 2B]; and of each with its other view, [2B]."""
    both = torch.cat([first, second])
    s = both @ both.T
    positive = (first * second).sum(1).repeat(2)
    return s.fill_diagonal_(-math.inf), positive


def without_positives(s: Tensor) -> Tensor:
    """The same matrix with each row's other view at -inf."""
    places = torch.arange(len(s))
    return s.index_put((places, places.roll(len(s) // 2)), torch.tensor(-math.inf))


def slip(method: Any, rows: Rows, state: Rows) -> Tensor:
    """CLIP, and NT-Xent behind the head."""
    other = rows.get("image_view2", rows["image"])
    s, positive = cosines(*(normalize(project(method, x), dim=-1) for x in (rows["image_view"], other)))
    ssl = (torch.logsumexp(s / method.ssl_tau, 1) - positive / method.ssl_tau).mean()
    return info_nce(rows, torch.exp(-method.learned)) + method.ssl_scale * ssl


def project(method: Any, x: Tensor) -> Tensor:
    """The head: three products with batch norms between."""
    first, norm, _, second, norm2, _, last = method.projector
    x = relu(batch_norm(linear(x, first.weight), None, None, norm.weight, norm.bias, training=True))
    x = relu(batch_norm(linear(x, second.weight), None, None, norm2.weight, norm2.bias, training=True))
    return linear(x, last.weight, last.bias)


def dclw(method: Any, rows: Rows, state: Rows) -> Tensor:
    """Decoupled, weighed positives."""
    s, positive = cosines(rows["image"], rows["image_view"])
    weight = 2 - len(s) * torch.softmax(positive / method.sigma, 0)
    return (torch.logsumexp(without_positives(s) / method.tau, 1) - weight * positive / method.tau).mean()


def macl(method: Any, rows: Rows, state: Rows) -> Tensor:
    """A temperature that follows the alignment; -log P / (1 - P), the factor as a constant."""
    s, positive = cosines(rows["image"], rows["image_view"])
    tau = method.tau * (1 + method.alpha * (positive.detach().mean() - method.a_0))
    odds = torch.logsumexp(without_positives(s) / tau, 1) - positive / tau
    return (-logsigmoid(-odds) / torch.sigmoid(odds).detach()).mean()


def moved(state: Rows, name: str, log_g: Tensor, index: Tensor, gamma: float) -> Tensor:
    """log u after this step: the moving average of exp(log_g)."""
    log_u = state.setdefault(name, torch.full((SAMPLES,), -math.inf, dtype=torch.float64))
    before, now = log_u[index], log_g.detach().double()
    mixed = torch.logaddexp(math.log1p(-gamma) + before, math.log(gamma) + now)
    log_u[index] = torch.where(torch.isneginf(before), now, mixed)
    return log_u[index].to(log_g.dtype)


def exponents(s: Tensor) -> Tensor:
    """S_ij - S_ii with -inf on the diagonal."""
    return (s - s.diagonal()[:, None]).masked_fill(torch.eye(len(s), dtype=torch.bool), -math.inf)


def pulled(log_g: Tensor, log_u: Tensor, tau: Tensor | float) -> Tensor:
    """tau log g in value, with the gradient (tau / u) dg."""
    value, pull = tau * log_g, tau * (log_g.detach() - log_u).exp() * log_g
    return (value.detach() + pull - pull.detach()).mean()


def tempnet(method: Any, rows: Rows, state: Rows) -> Tensor:
    """SogCLR with a predicted temperature for each row, and the networks' own loss."""
    total = torch.zeros(())
    s = rows["image"] @ rows["text"].T
    for side, similarity in (("image", s), ("text", s.T)):
        first, _, last = method.networks[side]
        hidden = torch.sigmoid(linear(rows[side].detach(), first.weight, first.bias))
        share = torch.sigmoid(linear(hidden, last.weight, last.bias)).squeeze(1)
        predicted = method.tau_min + (method.tau_max - method.tau_min) * share
        tau = predicted.detach()
        logits = exponents(similarity) / tau[:, None]
        log_g = torch.logsumexp(logits, 1) - math.log(len(s) - 1)
        log_u = moved(state, side, log_g, rows["index"], method.gamma)
        with torch.no_grad():
            weighed = (torch.softmax(logits, 1) * logits.nan_to_num(neginf=0.0)).sum(1)
            slope = log_u + method.rho - (log_g - log_u).exp() * weighed
        total = total + pulled(log_g, log_u, tau) + method.rho * tau.mean() + (slope * predicted).mean()
    return total


def amclr(method: Any, rows: Rows, state: Rows) -> Tensor:
    """Eight pairings, one u a modality that is moved by their mean."""
    kinds = {side: (side, f"{side}_view") for side in ("image", "text")}
    s = {(a, c): rows[a] @ rows[c].T for a in kinds["image"] for c in kinds["text"]}
    total = torch.zeros(())
    for side, matrices in (("image", [*s.values()]), ("text", [each.T for each in s.values()])):
        log_g = [torch.logsumexp(exponents(m) / method.tau, 1) - math.log(len(m) - 1) for m in matrices]
        mean = torch.logsumexp(torch.stack(log_g).detach(), 0) - math.log(len(log_g))
        log_u = moved(state, side, mean, rows["index"], method.gamma)
        total = total + torch.stack([pulled(each, log_u, method.tau) for each in log_g]).sum()
    return total


PLAINLY: Mapping[str, Plain] = {
    "slip": slip,
    "isogclr-tempnet": tempnet,
    "macl": macl,
    "dclw": dclw,
    "amclr": amclr,
}
