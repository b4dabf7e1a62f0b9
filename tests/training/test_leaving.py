"""Whether a process is still in its group after a block that ended in order, or did not."""

from collections.abc import Iterator

import pytest
import torch.distributed as dist

from benchsuite.training.distributed import leaving_at_the_end


@pytest.fixture
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A group of one process, which calls itself one of this backend."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    monkeypatch.setattr(dist, "get_backend", lambda: request.param)
    yield request.param
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.mark.parametrize("backend", ["gloo", "nccl"], indirect=True)
def test_a_group_is_left_after_the_block(backend: str) -> None:
    with leaving_at_the_end():
        assert dist.is_initialized()
    assert not dist.is_initialized()


@pytest.mark.parametrize("backend", ["gloo", "nccl"], indirect=True)
def test_after_a_failure_nobody_waits_for_processes_that_may_hang(backend: str) -> None:
    with pytest.raises(SystemExit), leaving_at_the_end():
        raise SystemExit(4)
    assert dist.is_initialized() == (backend == "nccl")


def test_nothing_is_left_where_no_group_was_joined() -> None:
    with pytest.raises(ValueError, match="first"), leaving_at_the_end():
        raise ValueError("first")
