"""The teacher of a training: averaged copies of the encoder and of heads, which no optimizer touches."""

import copy
from typing import TypeVar

import torch
from torch import nn

from benchsuite.errors import RunError
from benchsuite.methods.base import Clock, Method, averaged_heads
from benchsuite.models.dual_encoder import DualEncoder

Encoder = TypeVar("Encoder", bound=nn.Module)


def teacher_of(encoder: Encoder, method: Method) -> Encoder | None:
    """A copy that starts equal to the encoder, if the method needs one."""
    return copy.deepcopy(encoder).requires_grad_(False) if method.copies_towers else None


def evaluated(method: Method, student: DualEncoder, teacher: DualEncoder | None) -> DualEncoder:
    """The encoder that the method's paper evaluates."""
    chosen = teacher if method.evaluates == "teacher" else student
    assert chosen is not None
    return chosen


def follow_student(teacher: nn.Module | None, student: nn.Module, method: Method, clock: Clock) -> None:
    """Move the averaged copies after an optimizer step, towers and heads, as far as the method says."""
    towers = [(teacher, student)] if teacher else []
    if copies := [*towers, *averaged_heads(method)]:
        share = momentum(method, clock)
        for copied, trained in copies:
            move(copied, trained, share)


def momentum(method: Method, clock: Clock) -> float:
    """The method's momentum at this step, refused where the average would leave the two."""
    share = method.teacher_momentum(clock)
    if not 0 <= share <= 1:
        raise RunError(
            f"{method.card.name}: teacher_momentum is {share} at step {clock.step}; it must be a number in [0, 1]."
        )
    return share


@torch.no_grad()
def move(teacher: nn.Module, student: nn.Module, share: float) -> None:
    """teacher <- share * teacher + (1 - share) * student, for parameters; each has its own buffers."""
    for mine, other in zip(teacher.parameters(), student.parameters(), strict=True):
        mine.lerp_(other.detach(), 1 - share)
