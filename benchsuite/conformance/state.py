"""Training that continues from a checkpoint is bit-identical to uninterrupted training."""

import io
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from benchsuite.conformance.subject import SAMPLES, WIDTH, NotMetError, Subject, modes, parts, tensors
from benchsuite.methods.base import Clock, Method, with_heads
from benchsuite.methods.batch import TEACHER_PARTS, PairBatch
from benchsuite.training.teachers import follow_student, teacher_of

STEPS = 6
LR = 1e-2


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
        hint = python_side(subject, before.method)
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


def python_side(subject: Subject, method: Method) -> str:
    """A hint at state that no checkpoint carries: plain attributes that training changed."""
    fresh = vars(subject.make())
    changed = [n for n, v in vars(method).items() if n[0] != "_" and n != "training" and repr(v) != repr(fresh.get(n))]
    return f" (not in the checkpoint: {', '.join(changed)}; keep state in buffers)" if changed else ""


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
