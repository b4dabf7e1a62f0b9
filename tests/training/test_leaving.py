"""Whether a process is still in its group after a block that ended in order, or did not.

In a copy of this process: other tests train in the group that this one would leave.
"""

from contextlib import nullcontext

import pytest
import torch.distributed as dist
from support.copies import in_a_copy

from benchsuite.training.distributed import leave_processes, leaving_at_the_end


def is_left_in(backend: str, error: BaseException | None) -> bool:
    if backend:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.get_backend = lambda: backend
    with pytest.raises(type(error)) if error else nullcontext(), leaving_at_the_end():
        assert dist.is_initialized() == bool(backend)
        if error:
            raise error
    found = dist.is_initialized()
    if found:
        dist.destroy_process_group()
    return found


def groups() -> dict[str, bool]:
    leave_processes()
    ends = {"in order": None, "failed": SystemExit(4)}
    left = {f"{end}, {name}": is_left_in(name, error) for end, error in ends.items() for name in ("gloo", "nccl")}
    return {**left, "no group": is_left_in("", ValueError("first"))}


@pytest.fixture(scope="module")
def stays() -> dict[str, bool]:
    found: dict[str, bool] = in_a_copy(groups)
    return found


def test_a_group_is_left_after_the_block(stays: dict[str, bool]) -> None:
    assert not stays["in order, gloo"]
    assert not stays["in order, nccl"]


def test_after_a_failure_nobody_waits_for_processes_that_may_hang(stays: dict[str, bool]) -> None:
    assert not stays["failed, gloo"]
    assert stays["failed, nccl"]


def test_nothing_is_left_where_no_group_was_joined(stays: dict[str, bool]) -> None:
    assert not stays["no group"]
