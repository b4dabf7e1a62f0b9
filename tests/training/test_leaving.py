"""Whether a process is still in its group after a block that ended in order, or did not.

In a process of its own: other tests train in the group that this one would leave.
"""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json
import torch.distributed as dist
from benchsuite.training.distributed import leaving_at_the_end

def stays(backend, error):
    if backend:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.get_backend = lambda: backend
    try:
        with leaving_at_the_end():
            assert dist.is_initialized() == bool(backend)
            if error:
                raise error
    except (SystemExit, ValueError) as raised:
        assert raised is error
    found = dist.is_initialized()
    if found:
        dist.destroy_process_group()
    return found

ends = {"in order": None, "failed": SystemExit(4)}
groups = {f"{end}, {backend}": stays(backend, error) for end, error in ends.items() for backend in ("gloo", "nccl")}
print(json.dumps({**groups, "no group": stays("", ValueError("first"))}))
"""


@pytest.fixture(scope="module")
def stays() -> dict[str, bool]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout)
    return found


def test_a_group_is_left_after_the_block(stays: dict[str, bool]) -> None:
    assert not stays["in order, gloo"]
    assert not stays["in order, nccl"]


def test_after_a_failure_nobody_waits_for_processes_that_may_hang(stays: dict[str, bool]) -> None:
    assert not stays["failed, gloo"]
    assert stays["failed, nccl"]


def test_nothing_is_left_where_no_group_was_joined(stays: dict[str, bool]) -> None:
    assert not stays["no group"]
