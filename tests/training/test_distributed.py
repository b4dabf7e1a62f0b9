import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn

from benchsuite.data.base import Split
from benchsuite.methods import Clock, create_method
from benchsuite.setup import Optimizer, Setup
from benchsuite.training.distributed import gather_batch, rank, share, world_size
from benchsuite.training.loop import train

METHODS = ("infonce", "infonce-learnable", "temo")
ROWS = 6


def encoder() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(5, 4, dtype=torch.float64)


def inputs() -> dict[str, Tensor]:
    names = ("image", "text", "image_view", "text_view")
    rows = torch.randn(len(names), ROWS, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return dict(zip(names, rows, strict=True))


def gradients(method_name: str) -> list[Tensor]:
    """Loss and gradients as this process has them, averaged over processes as the engine does."""
    model, method, mine = encoder(), create_method(method_name).double(), share(ROWS)
    parts = {name: model(rows[mine]) for name, rows in inputs().items()}
    batch = gather_batch({**parts, "index": torch.arange(ROWS)[mine]})
    assert batch.index.tolist() == list(range(ROWS))
    loss = method(batch, Clock(3, 10)).total
    loss.backward()
    found = [p.grad for p in (*model.parameters(), *method.parameters()) if p.grad is not None]
    if world_size() > 1:
        for gradient in found:
            dist.all_reduce(gradient)
            gradient /= world_size()
    return [loss.detach(), *found]


def join(number: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ["LOCAL_RANK"] = str(number)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2)


def compute(number: int, folder: str) -> None:
    join(number, folder)
    assert (rank(), world_size(), share(ROWS)) == (number, 2, slice(3 * number, 3 * number + 3))
    torch.save({name: gradients(name) for name in METHODS}, f"{folder}/{number}.pt")
    dist.destroy_process_group()


def test_gathered_gradients_of_two_processes_equal_those_of_one(tmp_path: Path) -> None:
    mp.spawn(compute, args=(str(tmp_path),), nprocs=2)
    for number in range(2):
        found = torch.load(tmp_path / f"{number}.pt")
        for name in METHODS:
            alone = gradients(name)
            assert len(found[name]) == len(alone) == (4 if name == "infonce-learnable" else 3)
            for together, expected in zip(found[name], alone, strict=True):
                assert torch.allclose(together, expected, atol=1e-6, rtol=0), name


def train_part(number: int, folder: str, setup: Setup, split: Split) -> None:
    join(number, folder)
    trained = train(setup, create_method("infonce-learnable"), split, 0)
    torch.save((trained.curves, trained.encoder.state_dict()), f"{folder}/{number}.pt")
    dist.destroy_process_group()


def test_two_processes_train_as_one(make_setup: Callable[..., Setup], split: Split, tmp_path: Path) -> None:
    smooth = {"optimizer": Optimizer(lr=0.5, eps=1.0)}
    one, two = (
        make_setup(dropout=0.0, **sizes).model_copy(update=smooth) for sizes in ({}, {"processes": 2, "zero_stage": 2})
    )
    alone = train(one, create_method("infonce-learnable"), split, 0)
    mp.spawn(train_part, args=(str(tmp_path), two, split), nprocs=2)
    for number in range(2):
        curves, weights = torch.load(tmp_path / f"{number}.pt")
        assert curves["loss"] == pytest.approx(alone.curves["loss"], abs=1e-5)
        assert curves["temperature"] == pytest.approx(alone.curves["temperature"], abs=1e-5)
        for name, value in alone.encoder.state_dict().items():
            assert torch.allclose(weights[name], value, atol=1e-5), name


def test_one_process_gathers_nothing() -> None:
    rows = torch.ones(2, 3)
    assert gather_batch({"image": rows}).image is rows
