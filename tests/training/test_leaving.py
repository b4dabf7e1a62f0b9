"""Whether a process is still in its group after a block that ended in order, or did not.

In a process of its own: other tests train in the group that this one would leave. A copy of this process would not do:
it has that group without its threads, and to leave it ends a copy by signal 11.
"""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch.distributed as dist
from support.forked import in_processes

from benchsuite.training.distributed import leaving_at_the_end


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


def leave(_: int, found: Path) -> None:
    ends = {"in order": None, "failed": SystemExit(4)}
    left = {f"{end}, {name}": is_left_in(name, error) for end, error in ends.items() for name in ("gloo", "nccl")}
    found.write_text(json.dumps({**left, "no group": is_left_in("", ValueError("first"))}))


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    found = tmp_path_factory.mktemp("leaving") / "stays.json"
    in_processes(leave, (found,))
    stays: dict[str, bool] = json.loads(found.read_text())
    return stays


def test_a_group_is_left_after_the_block(stays: dict[str, bool]) -> None:
    assert not stays["in order, gloo"]
    assert not stays["in order, nccl"]


def test_after_a_failure_nobody_waits_for_processes_that_may_hang(stays: dict[str, bool]) -> None:
    assert not stays["failed, gloo"]
    assert stays["failed, nccl"]


def test_nothing_is_left_where_no_group_was_joined(stays: dict[str, bool]) -> None:
    assert not stays["no group"]
