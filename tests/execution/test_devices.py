from collections.abc import Callable

import pytest
import torch

from benchsuite.errors import UsageError
from benchsuite.execution import devices
from benchsuite.execution.devices import Devices

GPUS = ("4", "5", "6", "7")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """`machine(gpus, cores)` is what this machine seems to have."""

    def make(gpus: int, cores: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(devices.os, "cpu_count", lambda: cores)
        monkeypatch.delenv(devices.VISIBLE, raising=False)

    return make


def test_a_machine_offers_its_gpus_or_else_a_process_for_each_core(machine: Callable[[int, int], None]) -> None:
    machine(0, 6)
    assert Devices.here() == Devices(6)
    assert Devices.here(8) == Devices(8, stated=True), "processes on a CPU may be more than its cores"
    machine(2, 6)
    assert Devices.here() == Devices(2, ("0", "1"))
    assert Devices.here(1) == Devices(1, ("0",), stated=True)
    with pytest.raises(UsageError, match="--devices 3: this machine has 2 GPUs"):
        Devices.here(3)


def test_gpus_keep_the_names_that_this_process_sees_them_by(
    machine: Callable[[int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(2, 6)
    monkeypatch.setenv(devices.VISIBLE, "GPU-8a,GPU-3f")
    assert Devices.here().gpus == ("GPU-8a", "GPU-3f")


@pytest.mark.parametrize(
    ("count", "shares", "processes"), [(4, 1, 1), (4, 4, 4), (8, 4, 4), (4, 16, 4), (3, 8, 2), (5, 7, 1), (1, 8, 1)]
)
def test_fewer_devices_take_equal_numbers_of_shares(count: int, shares: int, processes: int) -> None:
    assert Devices(count).processes(shares) == processes


def test_a_stated_number_that_does_not_divide_is_refused_with_those_that_do() -> None:
    stated = Devices(3, stated=True)
    with pytest.raises(UsageError, match=r"for 8 processes, and 3 devices cannot.* one of 1, 2, 4, 8\."):
        stated.processes(8)
    assert [stated.processes(shares) for shares in (1, 2, 3, 6)] == [1, 2, 3, 3]


def test_as_many_runs_at_a_time_as_have_devices_of_their_own() -> None:
    eight = Devices(8)
    assert [eight.at_a_time(processes, 100) for processes in (1, 2, 3, 8)] == [8, 4, 2, 1]
    assert eight.at_a_time(1, 3) == 3
    assert Devices(8, jobs=2).processes(8) == 4, "two runs at a time share eight devices"
    assert Devices(8, jobs=2).at_a_time(4, 100) == 2
    assert Devices(1, jobs=3).at_a_time(1, 100) == 3


def test_runs_side_by_side_see_different_gpus() -> None:
    four = Devices(4, GPUS)
    assert [four.environment(slot, 1)[devices.VISIBLE] for slot in range(4)] == [*GPUS]
    assert [four.environment(slot, 2)[devices.VISIBLE] for slot in range(2)] == ["4,5", "6,7"]
    assert four.environment(5, 1)[devices.VISIBLE] == "5", "more runs than GPUs share them"
    assert Devices(4).environment(0, 2) == {}
