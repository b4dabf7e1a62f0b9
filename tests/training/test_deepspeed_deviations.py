"""Each deviation from DeepSpeed: it works, and DeepSpeed still needs it. One that fails here may be taken out."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from packaging.requirements import Requirement
from torch import Tensor, nn

from benchsuite.setup import Setup
from benchsuite.training.deepspeed_deviations import (
    SHARED_MEMORY_OPERATOR,
    divided_anew,
    engine_class,
    import_deepspeed,
    optimizer_state,
    restore,
)
from benchsuite.training.engine import start_engine

ROOT = Path(__file__).parents[2]
Make = Callable[..., Setup]


class Numbers(nn.Module):
    """Two vectors and a single number."""

    def __init__(self) -> None:
        super().__init__()
        self.long, self.short = nn.Parameter(torch.arange(5.0)), nn.Parameter(torch.arange(3.0))
        self.number = nn.Parameter(torch.tensor(2.0))

    def forward(self) -> Tensor:
        return self.number * self.long.square().sum() + self.short.square().sum()


@pytest.fixture
def started(make_setup: Make) -> Callable[..., Any]:
    """`started(zero_stage=, ...)`: an engine around `Numbers`."""

    def make(**training: Any) -> Any:
        model = Numbers()
        return start_engine(model, [{"params": [*model.parameters()]}], make_setup(**training))

    return make


def step(engine: Any) -> None:
    engine.backward(engine())
    engine.step()


def test_the_range_of_versions_ends_after_those_that_were_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (stated,) = (each for each in map(Requirement, project["dependencies"]) if each.name == "deepspeed")
    constraints = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    (tested,) = (line.removeprefix("deepspeed==") for line in constraints if line.startswith("deepspeed=="))
    major, minor, _ = map(int, tested.split("."))
    assert tested in stated.specifier
    assert f"{major}.{minor + 1}.0" not in stated.specifier
    assert import_deepspeed().__version__ in stated.specifier


START = """
import shutil
assert not any(shutil.which(name) for name in ("c++", "g++", "gcc", "cc", "clang", "ninja"))
import torch
from benchsuite.setup import Data, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower, TextTower
from benchsuite.training.engine import start_engine
setup = Setup(data=Data(name="x"), image=ImageTower(timm="x"), text=TextTower(transformer="x", vocabulary=1),
              projection={"width": 1}, optimizer=Optimizer(lr=0.1), training=Training(batch=2, steps=1),
              protocols={"x": Protocol(task="x")})
model = torch.nn.Linear(2, 1)
engine = start_engine(model, [{"params": list(model.parameters())}], setup)
before = model.weight.detach().clone()
engine.backward(engine(torch.ones(2, 2)).sum())
engine.step()
assert not torch.equal(before, model.weight)
"""


@pytest.mark.slow
def test_an_engine_starts_and_steps_where_there_is_no_compiler(tmp_path: Path) -> None:
    apart = ("CC", "CXX", "DS_ACCELERATOR", "DS_BUILD_OPS")
    settings = {name: value for name, value in os.environ.items() if name not in apart}
    settings |= {"PATH": str(tmp_path), "TORCH_EXTENSIONS_DIR": str(tmp_path / "ops"), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, env=settings, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not (tmp_path / "ops").exists()


def test_deepspeed_would_build_its_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    deepspeed = import_deepspeed()
    backend = import_module("deepspeed.comm.torch")
    built: list[str] = []
    builder = SimpleNamespace(NAME=SHARED_MEMORY_OPERATOR, load=lambda: built.append("built"), absolute_name=str)
    monkeypatch.setattr(backend, "get_accelerator", lambda: SimpleNamespace(create_op_builder=lambda name: builder))
    backend.build_shm_op()
    assert not built
    monkeypatch.setitem(deepspeed.ops.__compatible_ops__, SHARED_MEMORY_OPERATOR, True)
    backend.build_shm_op()
    assert built


def test_deepspeed_cannot_broadcast_single_numbers_and_ours_is_called(
    started: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = started()
    with pytest.raises(RuntimeError, match=r"self\.dim"):
        import_deepspeed().DeepSpeedEngine._broadcast_model(engine)
    called: list[Any] = []
    monkeypatch.setattr(engine_class(), "_broadcast_model", lambda engine: called.append(engine))
    engine = started()
    assert called == [engine]


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_single_numbers_are_clipped_with_all_others(started: Callable[..., Any], stage: int) -> None:
    engine = started(clip_gradient=0.5, zero_stage=stage)
    seen: list[Tensor] = []
    engine.basic_optimizer.register_step_pre_hook(
        lambda optimizer, *_: seen.extend(p.grad.flatten() for p in optimizer.param_groups[0]["params"])
    )
    step(engine)
    assert float(torch.cat(seen).norm()) == pytest.approx(0.5, rel=1e-4)


def test_deepspeed_cannot_clip_single_numbers(started: Callable[..., Any]) -> None:
    engine = started(clip_gradient=0.5)
    engine.backward(engine())
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        import_deepspeed().DeepSpeedEngine.clip_fp32_gradients(engine)


def test_a_single_process_would_send_its_gradients_to_itself(
    started: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, sent = started(), []
    all_reduce = dist.all_reduce
    monkeypatch.setattr(dist, "all_reduce", lambda *given, **named: (sent.append(1), all_reduce(*given, **named))[1])
    step(engine)
    assert not sent
    engine.enable_backward_allreduce = True
    step(engine)
    assert sent


class Bomb:
    """Makes a folder where it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (str(self.folder),)


def test_deepspeeds_reader_of_checkpoints_runs_code(started: Callable[..., Any], tmp_path: Path) -> None:
    torch.save({"bomb": Bomb(tmp_path / "exploded")}, tmp_path / "file.pt")
    started().checkpoint_engine.load(str(tmp_path / "file.pt"), map_location="cpu")
    assert (tmp_path / "exploded").exists()


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_weights_and_state_can_be_taken_out_and_put_in(started: Callable[..., Any], stage: int) -> None:
    straight, resumed = started(zero_stage=stage), started(zero_stage=stage)
    step(straight)
    weights = {name: value.clone() for name, value in straight.module.state_dict().items()}
    restore(resumed, weights, torch.load(saved(optimizer_state(straight)), weights_only=True))
    for engine in (straight, resumed):
        step(engine)
    for name, value in straight.module.state_dict().items():
        assert torch.equal(resumed.module.state_dict()[name], value), name


def saved(content: object) -> Any:
    file = BytesIO()
    torch.save(content, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("stage", [1, 2])
def test_zero_lines_parameters_up_in_one_vector(started: Callable[..., Any], stage: int) -> None:
    engine = started(zero_stage=stage)
    step(engine)
    from deepspeed.utils import safe_get_full_optimizer_state

    whole = [safe_get_full_optimizer_state(p, "exp_avg").flatten() for p in engine.module.parameters()]
    (state,) = optimizer_state(engine)["state"].values()
    assert torch.equal(state["exp_avg"][:9], torch.cat(whole))
    assert not state["exp_avg"][9:].any()


def test_parts_of_other_numbers_of_processes_are_joined_and_cut(
    started: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector of nine, for five processes that have two each, taken by one, two and three."""

    def part(number: int) -> dict[str, Any]:
        piece = torch.arange(10.0).where(torch.arange(10) < 9, 0)[2 * number :][:2]
        return {"state": {0: {"step": torch.tensor(7.0), "momentum": piece}}, "param_groups": ["as it was"]}

    parts = [part(number) for number in range(5)]
    for processes, size in ((1, 10), (2, 6), (3, 4)):
        group = {"params": [torch.zeros(size)]}
        engine = SimpleNamespace(basic_optimizer=SimpleNamespace(param_groups=[group]))
        joined = []
        for rank in range(processes):
            monkeypatch.setattr(dist, "get_rank", lambda rank=rank: rank)
            divided = divided_anew(engine, parts)
            assert divided["param_groups"] == ["as it was"]
            assert divided["state"][0]["step"] == 7
            joined.append(divided["state"][0]["momentum"])
        assert {len(piece) for piece in joined} == {size}
        assert torch.equal(torch.cat(joined)[:9], torch.arange(9.0))
        assert not torch.cat(joined)[9:].any()
    parts[1]["state"][0]["step"] += 1
    with pytest.raises(ValueError, match="step is a number of its own"):
        divided_anew(engine, parts)
