"""What a process says that waits in vain, or for one that is gone."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from support.forked import in_processes

from benchsuite.training.distributed import lost_contact, patience

pytestmark = pytest.mark.slow


def wait_in_vain(number: int, folder: str) -> None:
    """The second process takes no part in a collective of a group of short patience, and then exits."""
    os.environ["BENCHSUITE_TIMEOUT"] = "2"
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=number, world_size=2)
    short = dist.new_group(timeout=timedelta(seconds=2))
    waited = Path(folder, "waited")
    if number == 1:
        while not waited.exists():
            time.sleep(0.05)
        os._exit(0)
    reasons = []
    for group in (short, None):
        try:
            dist.all_reduce(torch.zeros(2), group=group)
        except RuntimeError as error:
            reasons.append(lost_contact(error))
        waited.touch()
    Path(folder, "reasons").write_text("\n".join(reasons))
    os._exit(0)


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the first process said of a second one that did not answer, and of one that had exited."""
    folder = tmp_path_factory.mktemp("lost")
    in_processes(wait_in_vain, args=(str(folder),), nprocs=2)
    return (folder / "reasons").read_text().splitlines()


def test_a_process_that_waited_in_vain_says_how_long(reasons: list[str]) -> None:
    assert reasons[0].startswith("the other processes did not answer for 2 s (")


def test_a_process_whose_partner_is_gone_says_so(reasons: list[str]) -> None:
    assert reasons[1].startswith("contact with another process was lost (")


def test_other_errors_are_no_lost_contact() -> None:
    assert lost_contact(RuntimeError("expected scalar type Float but found Double")) == ""
    assert lost_contact(TimeoutError("the hub timed out")) == ""


def test_processes_wait_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHSUITE_TIMEOUT", raising=False)
    assert patience() == timedelta(hours=1)
