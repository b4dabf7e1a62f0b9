import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from deepspeed.runtime.zero import stage_1_and_2
from support.forked import in_processes
from torch import Tensor

from benchsuite.data.base import Split
from benchsuite.methods import create_method, method_class
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.towers import weights_digest
from benchsuite.setup import Optimizer, Setup
from benchsuite.training.distributed import gather_batch, rank, share, world_size
from benchsuite.training.loop import train

pytestmark = pytest.mark.slow

TAUGHT = ("byol", "moco", "dino")


def join(number: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ["LOCAL_RANK"] = str(number)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2)


def compute(number: int, folder: str, setup: Setup, split: Split) -> None:
    join(number, folder)
    assert (rank(), world_size(), share(6)) == (number, 2, slice(3 * number, 3 * number + 3))
    trained = train(setup, create_method("infonce-learnable"), split, 0)
    taught = {name: teach(name, setup, split) for name in TAUGHT}
    overlapped = [under_zero(stage, overlap, setup, split) for stage in (1, 2) for overlap in (False, True)]
    torch.save((trained.curves, trained.encoder.state_dict(), taught, overlapped), f"{folder}/{number}.pt")
    dist.destroy_process_group()


def under_zero(stage: int, overlap: bool, setup: Setup, split: Split) -> tuple[int, str]:
    """How many buffers the gradients were put in, and the trained weights."""
    training = setup.training.model_copy(update={"zero_stage": stage, "overlap": overlap})
    buffers: list[int] = []
    before = stage_1_and_2.DeepSpeedZeroOptimizer.setup_buckets

    def watched(self: Any) -> None:
        before(self)
        buffers.append(len(self.ipg_buckets[torch.float32].buffer))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage_1_and_2.DeepSpeedZeroOptimizer, "setup_buckets", watched)
        trained = train(setup.model_copy(update={"training": training}), create_method("infonce"), split, 0)
    return max(buffers), weights_digest(trained.encoder)


def fine_tune(number: int, folder: str, setup: Setup, split: Split) -> None:
    join(number, folder)
    trained = train(setup, create_method("infonce-learnable"), split, 0)
    torch.save((trained.curves, trained.encoder.state_dict()), f"{folder}/{number}.pt")
    dist.destroy_process_group()


def teach(name: str, setup: Setup, split: Split) -> dict[str, Tensor]:
    """The encoder that is evaluated and the method's own state, after a training of one tower."""
    torch.manual_seed(0)
    method = create_method(name, num_samples=64, **{**method_class(name).miniature, "momentum": 0.5})
    trained = train(setup.model_copy(update={"text": None}), method, split, 0)
    return {**trained.encoder.state_dict(), **method.state_dict()}


@pytest.fixture(scope="module")
def smooth_setup(make_setup: Callable[..., Setup]) -> Callable[..., Setup]:
    """A setup under which rounding does not grow."""
    return lambda **sizes: make_setup(dropout=0.0, **sizes).model_copy(update={"optimizer": Optimizer(lr=0.5, eps=1.0)})


@pytest.fixture(scope="module")
def together(
    smooth_setup: Callable[..., Setup], split: Split, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Any, ...]]:
    """What each of two processes found: curves and weights of a training, and of methods with a teacher."""
    folder = tmp_path_factory.mktemp("together")
    in_processes(compute, args=(str(folder), smooth_setup(processes=2, zero_stage=2), split), nprocs=2)
    return [torch.load(folder / f"{number}.pt") for number in range(2)]


def test_two_processes_train_as_one(
    together: list[tuple[Any, ...]], smooth_setup: Callable[..., Setup], split: Split
) -> None:
    alone = train(smooth_setup(), create_method("infonce-learnable"), split, 0)
    for curves, weights, *_ in together:
        assert curves["loss"] == pytest.approx(alone.curves["loss"], rel=1e-5, abs=1e-5)
        assert curves["temperature"] == pytest.approx(alone.curves["temperature"], abs=1e-5)
        for name, value in alone.encoder.state_dict().items():
            assert torch.allclose(weights[name], value, atol=1e-5), name


def test_gradients_that_are_summed_meanwhile_are_the_same(together: list[tuple[Any, ...]]) -> None:
    for *_, overlapped in together:
        assert [buffers for buffers, _ in overlapped] == [1, 2, 1, 2]
        assert len({weights for _, weights in overlapped}) == 1


@pytest.mark.parametrize("name", TAUGHT)
def test_two_processes_keep_the_teacher_heads_and_queue_of_one(
    together: list[tuple[Any, ...]], smooth_setup: Callable[..., Setup], split: Split, name: str
) -> None:
    alone = teach(name, smooth_setup(), split)
    for _, _, taught, _ in together:
        assert taught[name].keys() == alone.keys()
        for part, value in alone.items():
            assert torch.allclose(taught[name][part], value, atol=1e-5), part


LORA = {"train": "lora", "lora": {"rank": 2}}
FROZEN = {"train": "none", "projection": "new"}


@pytest.mark.parametrize(("image", "text", "stage"), [(LORA, LORA, 0), (FROZEN, {**LORA, "projection": "new"}, 2)])
def test_two_processes_fine_tune_a_pretrained_model_as_one(
    image: dict[str, Any], text: dict[str, Any], stage: int, tuning: Callable[..., Setup], split: Split, tmp_path: Path
) -> None:
    """With updates of low rank, and with pictures that a frozen tower embedded once, for both processes."""
    pytest.importorskip("peft")

    def setup(processes: int, stage: int = 0) -> Setup:
        made = tuning("clip", image, text, processes=processes, zero_stage=stage)
        return made.model_copy(update={"optimizer": Optimizer(lr=0.5, eps=1.0)})

    in_processes(fine_tune, args=(str(tmp_path), setup(2, stage), split), nprocs=2)
    start = seeded_encoder(setup(1), 0, 0).state_dict()
    alone = train(setup(1), create_method("infonce-learnable"), split, 0)
    state = alone.encoder.state_dict()
    assert [name for name, value in start.items() if not torch.allclose(state[name], value, atol=1e-4)]
    for number in range(2):
        curves, weights = torch.load(tmp_path / f"{number}.pt")
        assert curves["loss"] == pytest.approx(alone.curves["loss"], rel=1e-5, abs=1e-5)
        for name, value in state.items():
            assert torch.allclose(weights[name], value, atol=1e-5), name


def test_one_process_gathers_nothing() -> None:
    rows = torch.ones(2, 3)
    assert gather_batch({"image": rows}).image is rows
