"""The checks by name. Each raises a NotMetError that says what failed, and where."""

import io
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.conformance.declared import check_acts, check_contains, check_hyperparameters, check_needs
from benchsuite.conformance.processes import check_processes
from benchsuite.conformance.report import Outcome
from benchsuite.conformance.subject import (
    SAMPLES,
    WIDTH,
    NotMetError,
    Subject,
    differentiable,
    modes,
    nasty,
    parts,
    tensors,
    unlike,
)
from benchsuite.errors import BenchsuiteError, UnknownError, UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method, with_heads
from benchsuite.methods.batch import TEACHER_PARTS, PairBatch
from benchsuite.methods.queue import Queue
from benchsuite.training.teachers import follow_student, teacher_of


@dataclass(frozen=True)
class Check:
    """A check: its name, what it requires in one line, and the function that tests it."""

    name: str
    description: str
    run: Callable[[Subject], None]

    def __call__(self, subject: Subject) -> Outcome:
        """The outcome for one method, whatever it throws."""
        for excused in subject.excuses:
            if excused not in CHECKS:
                return Outcome(self.name, "failed", str(UnknownError("check", excused, CHECKS, where="excuses: ")))
        if self.name in subject.excuses:
            return Outcome(self.name, "excused", subject.excuses[self.name])
        try:
            self.run(subject)
        except NotMetError as failure:
            return Outcome(self.name, "failed", str(failure))
        except UsageError as error:
            return Outcome(self.name, "failed", f"refused: {error}")
        except Exception as error:
            return Outcome(self.name, "failed", f"{type(error).__name__}: {error}")
        return Outcome(self.name, "passed")


def check_finite(subject: Subject) -> None:
    """Losses and gradients are finite at the lowest temperatures, on batches that are numerically difficult."""
    for dtype in (torch.float32, torch.float64):
        for mode in modes(subject.template):
            for kind, rows in nasty(parts(subject.template, mode), 6, dtype):
                method = subject.make_cold()
                for step in range(4):
                    require_finite(method, rows, Clock(step, 3), f"{kind} batch, {mode}, {dtype}, step {step} of 3")
    bare = subject.make(width=None)
    require_finite(bare, tensors(parts(bare, modes(bare)[0]), 6, seed=0), Clock(0, 3), "made without a width")
    require_no_other_error(subject)


def require_no_other_error(subject: Subject) -> None:
    """With its own defaults, but for sizes: numbers, or an error of ours, on difficult batches; no number from NaN."""
    sizes = {name: value for name, value in subject.cls.miniature.items() if isinstance(value, int)}
    for mode in modes(subject.template):
        method = create_method(subject.name, num_samples=SAMPLES, width=WIDTH, **sizes)
        batches = dict(nasty(parts(method, mode), SAMPLES, torch.float32))
        nothing = {n: rows * math.nan if rows.is_floating_point() else rows for n, rows in batches["random"].items()}
        for kind, rows in {**batches, "not-a-number": nothing}.items():
            where = f"its defaults, {kind} batch, {mode}"
            try:
                total = method(PairBatch(**differentiable(rows)), Clock(1, 3)).total
            except BenchsuiteError:
                continue
            except Exception as error:
                raise NotMetError(f"{where}: {type(error).__name__}: {error}") from error
            if total.isfinite().item() == (rows is nothing):
                raise NotMetError(f"{where}: the total is {total:g}.")


def require_finite(method: Method, rows: Mapping[str, Tensor], clock: Clock, where: str) -> None:
    """One loss and its gradients."""
    leaves = differentiable(rows)
    torch.manual_seed(clock.step)
    loss = method(PairBatch(**leaves), clock)
    expected = leaves[next(iter(leaves))].dtype
    if loss.total.dtype != expected:
        raise NotMetError(f"{where}: the total is {loss.total.dtype}, the embeddings are {expected}.")
    for name, value in {"total": loss.total, **loss.terms, **loss.gauges}.items():
        if not math.isfinite(number := torch.as_tensor(value).detach().item()):
            raise NotMetError(f"{where}: {name} is {number:g}.")
    if not loss.total.requires_grad:
        raise NotMetError(f"{where}: no gradient reaches the embeddings.")
    method.zero_grad()
    loss.total.backward()
    gradients = {n: t.grad for n, t in (*leaves.items(), *method.named_parameters())}
    if all(gradients[name] is None for name in leaves):
        raise NotMetError(f"{where}: no gradient reaches the embeddings.")
    for name, gradient in gradients.items():
        if gradient is not None and not torch.isfinite(gradient).all():
            raise NotMetError(f"{where}: the gradient of {name} is not finite.")


def trained(method: Method, batches: list[dict[str, Tensor]]) -> tuple[list[Tensor], list[dict[str, Tensor]]]:
    """Losses, and gradients of the parts, of one visit after another; no optimiser."""
    losses, gradients = [], []
    for step, rows in enumerate(batches):
        leaves = differentiable(rows)
        torch.manual_seed(step)
        loss = method(PairBatch(**leaves), Clock(step + 1, len(batches) + 1)).total
        loss.backward()
        losses.append(loss.detach())
        gradients.append({n: t.grad for n, t in leaves.items() if t.grad is not None})
    return losses, gradients


def check_precision(subject: Subject) -> None:
    """float32 and float64 agree up to rounding."""
    for mode in modes(subject.template):
        names = parts(subject.template, mode)
        by_dtype = []
        weights = subject.template.state_dict()
        for dtype in (torch.float64, torch.float32):
            method = subject.make()
            method.load_state_dict(weights)
            by_dtype.append(trained(method.to(dtype), [tensors(names, 6, seed, dtype) for seed in (1, 1, 2)]))
        (exact, exact_gradients), (rough, rough_gradients) = by_dtype
        for step, (a, b) in enumerate(zip(exact, rough, strict=True)):
            if abs(a.item() - b.item()) > 1e-3 * max(1.0, abs(a.item())):
                raise NotMetError(f"{mode}, step {step}: {a.item():g} in float64, {b.item():g} in float32.")
            for name, gradient in exact_gradients[step].items():
                if (gap := unlike(gradient, rough_gradients[step][name])) > 1e-2:
                    raise NotMetError(
                        f"{mode}, step {step}: gradients of {name} differ by {gap:.1%} between precisions."
                    )


def check_permutation(subject: Subject) -> None:
    """Loss, gradients and state do not depend on the order of the pairs in the batch."""
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    for mode in modes(subject.template):
        batches = [tensors(parts(subject.template, mode), 6, seed) for seed in (1, 2, 1)]
        mixed = [{name: rows[order] for name, rows in batch.items()} for batch in batches]
        plain, other = subject.make().double(), subject.make().double()
        other.load_state_dict(plain.state_dict())
        (losses, gradients), (losses_other, gradients_other) = trained(plain, batches), trained(other, mixed)
        for step, (a, b) in enumerate(zip(losses, losses_other, strict=True)):
            if abs(a.item() - b.item()) > 1e-6 * max(1.0, abs(a.item())):
                raise NotMetError(
                    f"{mode}, step {step}: the loss is {a.item():g}, with the pairs reordered {b.item():g}."
                )
            for name, gradient in gradients[step].items():
                if unlike(gradient[order], gradients_other[step][name]) > 1e-6:
                    raise NotMetError(f"{mode}, step {step}: the gradient of {name} depends on the order of the pairs.")
        ours, theirs = comparable(plain), comparable(other)
        for name, buffer in ours.items():
            if unlike(buffer, theirs[name]) > 1e-6:
                raise NotMetError(f"{mode}: the state {name} depends on the order of the pairs.")


def comparable(method: Method) -> dict[str, Tensor]:
    """The state, with the rows of queues sorted: they are kept in the order of the batch, and used as a set."""
    queues = {f"{name}.rows" for name, module in method.named_modules() if isinstance(module, Queue)}
    state = method.state_dict()
    return {name: rows[rows[:, 0].argsort()] if name in queues else rows for name, rows in state.items()}


STEPS, LR = 6, 1e-2
"""Of the training that goes on from a checkpoint."""


class Training:
    """A linear encoder and its averaged copy, the method and one AdamW, as the training would set them up."""

    def __init__(self, subject: Subject, mode: str) -> None:
        torch.manual_seed(0)
        self.mode = mode
        self.method: Method = subject.make()
        self.encoder = nn.Linear(WIDTH, WIDTH)
        self.teacher = teacher_of(self.encoder, self.method)
        groups: list[dict[str, Any]] = [{"params": list(self.encoder.parameters())}]
        for own in with_heads(self.method):
            decay = 0.01 if own.weight_decay is None else own.weight_decay
            groups.append({"params": list(own.parameters), "weight_decay": decay, "lr": LR * own.lr_factor})
        self.optimizer = torch.optim.AdamW(groups, lr=LR)

    def run(self, first: int, last: int) -> list[Tensor]:
        """Losses of the steps from `first` on, before `last`."""
        losses = []
        for step in range(first, last):
            rows = tensors(parts(self.method, self.mode), 6, seed=step, dtype=torch.float32)
            batch = {n: self.embed(n, t) if n in PairBatch.EMBEDDINGS else t for n, t in rows.items()}
            torch.manual_seed(step)
            clock = Clock(step, STEPS)
            loss = self.method(PairBatch(**batch), clock).total
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.method.after_step()
            follow_student(self.teacher, self.encoder, self.method, clock)
            losses.append(loss.detach())
        return losses

    def embed(self, part: str, inputs: Tensor) -> Tensor:
        out: Tensor = (self.teacher if self.teacher and part in TEACHER_PARTS else self.encoder)(inputs)
        return out

    def save(self) -> bytes:
        file = io.BytesIO()
        torch.save([part.state_dict() for part in self.parts()], file)
        return file.getvalue()

    def load(self, saved: bytes) -> None:
        for part, state in zip(self.parts(), torch.load(io.BytesIO(saved), weights_only=True), strict=True):
            part.load_state_dict(state)

    def parts(self) -> list[Any]:
        return [*([self.teacher] if self.teacher else []), self.encoder, self.method, self.optimizer]


def check_state(subject: Subject) -> None:
    """Six steps against three, a checkpoint, and three more. Evaluation leaves the state unchanged."""
    for mode in modes(subject.template):
        whole, before, after = (Training(subject, mode) for _ in range(3))
        losses = whole.run(0, STEPS)
        before.run(0, STEPS // 2)
        after.load(before.save())
        # a hint at state that no checkpoint carries: plain attributes that training changed
        fresh, mine = vars(subject.make()), vars(before.method)
        changed = [n for n, v in mine.items() if n[0] != "_" and n != "training" and repr(v) != repr(fresh.get(n))]
        hint = f" (not in the checkpoint: {', '.join(changed)}; keep state in buffers)" if changed else ""
        for step, loss in enumerate(after.run(STEPS // 2, STEPS), STEPS // 2):
            if not torch.equal(loss, losses[step]):
                raise NotMetError(
                    f"{mode}: with a checkpoint loaded before step {STEPS // 2}, the loss at step {step} is "
                    f"{loss.item():.9g} instead of {losses[step].item():.9g}{hint}."
                )
        for (name, a), (_, b) in zip(tensors_of(whole), tensors_of(after), strict=True):
            if not torch.equal(a, b):
                raise NotMetError(f"{mode}: {name} differs after a checkpoint was saved and loaded{hint}.")
        require_quiet_evaluation(whole, mode)


def tensors_of(training: Training) -> Iterator[tuple[str, Tensor]]:
    """Every parameter and buffer, by name."""
    for part in training.parts()[:-1]:
        yield from part.state_dict().items()


def require_quiet_evaluation(training: Training, mode: str) -> None:
    """Computing a loss in eval mode must not change the state."""
    method = training.method.eval()
    before = {name: value.clone() for name, value in method.state_dict().items()}
    method(PairBatch(**tensors(parts(method, mode), 6, seed=SAMPLES, dtype=torch.float32)), Clock(1, STEPS))
    for name, value in method.state_dict().items():
        if not torch.equal(value, before[name]):
            raise NotMetError(f"{mode}: in eval mode, loss changes the state {name}.")


CHECKS = {
    check.name: check
    for check in (
        Check("finite", "finite losses and gradients on difficult batches; NaN in a batch is not hidden", check_finite),
        Check("precision", "float32 and float64 agree up to rounding", check_precision),
        Check("permutation", "the result does not depend on the order of the pairs", check_permutation),
        Check("processes", "two processes compute the same gradients as one", check_processes),
        Check("state", "training continues bit-identically from a checkpoint", check_state),
        Check("needs", "the method reads what it declares in `needs`, and nothing else", check_needs),
        Check("hyperparameters", "unknown and impossible hyper-parameters are refused", check_hyperparameters),
        Check("acts", "the gauges that show whether its mechanism acts are those of its loss", check_acts),
        Check("contains", "at the values that it says, its loss and gradients are another method's", check_contains),
    )
}
