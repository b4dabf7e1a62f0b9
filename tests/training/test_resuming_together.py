"""Several processes that are stopped and go on, as many as before or not."""

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.forked import in_processes
from support.resuming import STEPS, STOP, KilledError, Outcome, checkpoints_of, require_equal, served, trained

from benchsuite.data.base import Split
from benchsuite.errors import Interrupted, RunError
from benchsuite.records.checkpoints import checkpoints_in
from benchsuite.setup import Optimizer, Setup

pytestmark = pytest.mark.slow

Make = Callable[..., Setup]
CASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "plain": ("isogclr", {}),
    "stage 1": ("infonce-learnable", {"zero_stage": 1}),
    "stage 2, batch norms": ("moco", {"zero_stage": 2, "resnet": True}),
    "batch norms": ("byol", {"resnet": True}),
}
PARTED = ("plain", "stage 1", "stage 2")


def join(number: int, folder: Path, name: str) -> None:
    torch.set_num_threads(1)
    os.environ["LOCAL_RANK"] = str(number)
    dist.init_process_group("gloo", init_method=f"file://{folder}/{name}", rank=number, world_size=2)


def by_norms(setup: Setup) -> Setup:
    """With an optimizer that keeps a number for each process's part."""
    return setup.model_copy(update={"optimizer": Optimizer(name="nvnovograd", lr=0.1)})


def until_stopped(
    number: int, folder: Path, setups: Mapping[str, Setup], parted: Mapping[str, Setup], split: Split
) -> None:
    """Everything straight; then stopped after a step, by an exception or by a signal to one process."""
    join(number, folder, "first")
    straight = {case: trained(CASES[case][0], setup, split) for case, setup in setups.items()}
    torch.save(straight, folder / f"straight-{number}.pt")
    for case, setup in setups.items():
        with pytest.raises(KilledError):
            trained(CASES[case][0], setup, split, checkpoints_of(folder / case), STOP)
    for case, setup in parted.items():
        with pytest.raises(KilledError):
            trained("infonce-learnable", setup, split, checkpoints_of(folder / f"two {case}"), STOP)
    setup = setups["stage 1"]
    with pytest.raises(KilledError):
        trained("infonce", by_norms(parted["stage 1"]), split, checkpoints_of(folder / "norms"), STOP)
    asked = {STOP - 1: signal.SIGTERM} if number else {}
    with pytest.raises(Interrupted, match=rf"stopped.* after step {STOP} of {STEPS}; it is saved"):
        trained("infonce-learnable", setup, split, checkpoints_of(folder / "asked"), signals=asked)
    dist.destroy_process_group()


def afterwards(
    number: int, folder: Path, setups: Mapping[str, Setup], parted: Mapping[str, Setup], split: Split
) -> None:
    """Other processes go on."""
    join(number, folder, "second")
    resumed = {
        case: trained(CASES[case][0], setup, split, checkpoints_of(folder / case)) for case, setup in setups.items()
    }
    resumed["asked"] = trained("infonce-learnable", setups["stage 1"], split, checkpoints_of(folder / "asked"))
    for case, setup in parted.items():
        resumed[f"one {case}"] = trained("infonce-learnable", setup, split, checkpoints_of(folder / f"one {case}"))
    torch.save(resumed, folder / f"resumed-{number}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def smooth(make_setup: Make) -> Callable[..., dict[str, Setup]]:
    """Setups under which rounding does not grow, by ZeRO stage."""
    optimizer = {"optimizer": Optimizer(lr=0.5, eps=1.0)}

    def make(**sizes: Any) -> dict[str, Setup]:
        made = [make_setup(dropout=0.0, steps=STEPS, zero_stage=stage, **sizes) for stage in range(3)]
        return {case: setup.model_copy(update=optimizer) for case, setup in zip(PARTED, made, strict=True)}

    return make


@pytest.fixture(scope="module")
def folder(
    make_setup: Make, smooth: Callable[..., dict[str, Setup]], split: Split, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Where two processes were trained straight, were stopped, and two others went on."""
    folder = tmp_path_factory.mktemp("together")
    setups = {
        case: served(make_setup(steps=STEPS, processes=2, **settings), name) for case, (name, settings) in CASES.items()
    }
    parted = smooth(processes=2)
    in_processes(until_stopped, args=(folder, setups, parted, split), nprocs=2)
    for case, setup in smooth().items():
        with pytest.raises(KilledError):
            trained("infonce-learnable", setup, split, checkpoints_of(folder / f"one {case}"), STOP)
    in_processes(afterwards, args=(folder, setups, parted, split), nprocs=2)
    return folder


def outcomes(folder: Path, what: str) -> list[dict[str, Outcome]]:
    """Of both processes."""
    return [torch.load(folder / f"{what}-{number}.pt", weights_only=False) for number in range(2)]


@pytest.mark.parametrize("case", CASES)
def test_two_processes_go_on_to_the_same_bits(folder: Path, case: str) -> None:
    for straight, resumed in zip(outcomes(folder, "straight"), outcomes(folder, "resumed"), strict=True):
        require_equal(straight[case], resumed[case])


def test_so_do_they_after_a_signal_to_one_of_them(folder: Path) -> None:
    for straight, resumed in zip(outcomes(folder, "straight"), outcomes(folder, "resumed"), strict=True):
        require_equal(straight["stage 1"], resumed["asked"])


def require_close(straight: Outcome, resumed: Outcome, processes: tuple[int, int]) -> None:
    (resumption,) = resumed.resumptions
    assert (resumption.from_processes, resumption.to_processes) == processes
    assert resumption.step == STOP
    for curve in ("loss", "temperature", "gap"):
        assert resumed.curves[curve] == pytest.approx(straight.curves[curve], abs=5e-5)
    for part, value in straight.state.items():
        assert torch.allclose(resumed.state[part], value, atol=5e-5), part


@pytest.mark.parametrize("case", PARTED)
def test_one_process_goes_on_where_two_were_and_two_where_one_was(
    folder: Path, smooth: Callable[..., dict[str, Setup]], split: Split, case: str
) -> None:
    setup = smooth()[case]
    straight = trained("infonce-learnable", setup, split)
    require_close(straight, trained("infonce-learnable", setup, split, checkpoints_of(folder / f"two {case}")), (2, 1))
    for resumed in outcomes(folder, "resumed"):
        require_close(straight, resumed[f"one {case}"], (1, 2))


def test_an_optimizer_that_cannot_be_parted_anew_is_refused(
    smooth: Callable[..., dict[str, Setup]], split: Split, folder: Path
) -> None:
    assert checkpoints_in(folder / "norms")
    with pytest.raises(RunError, match=r"exp_avg_sq is a number of its own .* Take as many as before"):
        trained("infonce", by_norms(smooth()["stage 1"]), split, checkpoints_of(folder / "norms"))
