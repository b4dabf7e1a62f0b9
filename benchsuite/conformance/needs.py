"""A method must declare in `needs` and `heads` exactly what it uses: less breaks the training, more costs time."""

from collections.abc import Set
from typing import Any

import torch
from torch import Tensor

from benchsuite.conformance.subject import NotMetError, Subject, modes, of_tower, parts, tensors
from benchsuite.methods.base import Clock, Method, averaged_heads
from benchsuite.methods.batch import PARTS, PairBatch
from benchsuite.training.teachers import momentum


class Recorder(PairBatch):
    """A batch that remembers which of its parts were read and which were only asked after."""

    def __init__(self, read: set[str], request: set[str], **given: Tensor) -> None:
        super().__init__(**given)
        self.read = read
        self.request = request

    def has(self, name: str) -> bool:
        self.request.add(name)
        return super().has(name)

    def normalized(self) -> PairBatch:
        return Recorder(self.read, self.request, **super().normalized()._given)

    def _get(self, name: str) -> Tensor:
        self.read.add(name)
        return super()._get(name)


def check_needs(subject: Subject) -> None:
    """Compare the declaration with what is read at the start, in the middle and at the end of a training."""
    method = subject.template
    if invalid := method.needs - set(PARTS):
        raise NotMetError(f"needs {', '.join(sorted(invalid))}: no batch carries that (there are {', '.join(PARTS)}).")
    read: set[str] = set()
    for mode in modes(method):
        given = parts(method, mode)
        seen, request = reads(subject, given)
        if undeclared := seen - set(given):
            raise NotMetError(f"{mode}: reads {listed(undeclared)}, which it does not declare in needs.")
        if request - set(given):
            richer, _ = reads(subject, of_tower(mode))
            if undeclared := richer - set(given):
                raise NotMetError(
                    f"{mode}: reads {listed(undeclared)} if it is there, and does not declare it in needs."
                )
        read |= seen
    if unread := method.needs - read:
        raise NotMetError(f"declares {listed(unread)} in needs and never reads it.")
    if unused := set(getattr(method, "head", ())) - used_heads(subject):
        raise NotMetError(f"declares {listed(unused)} in heads and never uses it.")
    if method.copies_towers or averaged_heads(method):
        for step in range(5):
            momentum(method, Clock(step, 4))


def used_heads(subject: Subject) -> set[str]:
    """Heads that are called in the middle of a training, in any mode."""
    used: set[str] = set()
    method: Any = subject.make()
    for name, head in getattr(method, "head", {}).items():
        head.register_forward_hook(lambda *_, name=name: used.add(name))
    for mode in modes(method):
        method(PairBatch(**tensors(parts(method, mode), 6, seed=1)), Clock(2, 4))
    return used


def reads(subject: Subject, given: list[str]) -> tuple[set[str], set[str]]:
    """Parts that were read, and parts that were asked after, when the batch carries `given`."""
    read: set[str] = set()
    request: set[str] = set()
    method: Method = subject.make()
    for step in range(5):
        torch.manual_seed(step)
        batch = Recorder(read, request, **tensors(given, 6, seed=step))
        try:
            method(batch, Clock(step, 4))
        except ValueError:
            if read <= set(given):
                raise
            return read, request
    return read, request


def listed(names: Set[str]) -> str:
    """Names in a sentence."""
    return ", ".join(sorted(names))
