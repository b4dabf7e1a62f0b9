"""What must be equal on a GPU and on a CPU (`pytest -m gpu`); benchmarks/gpu.py compares whole trainings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.resuming import STEPS, require_equal, served, stopped_and_resumed, trained
from torch import Tensor

from benchsuite.conformance.subject import Subject
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared
from benchsuite.evaluation.retrieval import rank_both
from benchsuite.execution.preflight import has_compiler
from benchsuite.methods import Clock, PairBatch
from benchsuite.models.tokenizer import words_for
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.setup import Augmentation, Setup
from benchsuite.training.distributed import _Gather, _Together
from benchsuite.training.engine import join_processes
from benchsuite.training.feed import Feed

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
COMPILED = pytest.param({"compiled": True}, marks=pytest.mark.skipif(not has_compiler(), reason="no C++ compiler"))
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device on this machine"),
]


@pytest.mark.parametrize("sizes", [Sizes(), Sizes(whole=0, rows=3)], ids=["whole", "blocks"])
@pytest.mark.parametrize("name", ["infonce", "temo", "sogclr", "amclr", "siglip", "max-margin"])
def test_losses_and_gradients(make_batch: Callable[..., PairBatch], name: str, sizes: Sizes) -> None:
    def found(device: torch.device) -> list[Tensor]:
        parts = ("image", "text", "image_view", "text_view", "index")
        rows = {part: getattr(make_batch(8), part).to(device) for part in parts}
        leaves = [row.requires_grad_() for row in rows.values() if row.is_floating_point()]
        with sized(sizes):
            total = Subject(name).make(width=4).to(device)(PairBatch(**rows), Clock(1, 4)).total
        gradients = torch.autograd.grad(total, leaves, allow_unused=True)
        return [each.cpu() for each in (total, *gradients) if each is not None]

    for ours, expected in zip(found(GPU), found(CPU), strict=True):
        assert torch.allclose(ours, expected, rtol=1e-9, atol=1e-12)


def test_inputs_of_a_step(make_setup: Callable[..., Setup], split: Split) -> None:
    everything = dict.fromkeys(("brightness", "contrast", "saturation", "hue", "grayscale"), 0.3)
    setup = make_setup().model_copy(update={"augmentation": Augmentation(crop=(0.5, 1.0), flip=True, **everything)})
    words, plan = words_for(setup.text, setup.data, split), BatchPlan(split, 16, setup.augmentation, 0)
    needs = frozenset({"image_view"})
    expected, ours = (Feed(setup, plan, words, needs, Prepared(), on=device)(0, 0) for device in (CPU, GPU))
    assert ours.pixels.keys() == expected.pixels.keys() == {"image", "image_view"}
    for name, pixels in expected.pixels.items():
        assert torch.allclose(ours.pixels[name].cpu(), pixels, atol=1e-4), name
    tokens: Any = (ours.tokens["text"], expected.tokens["text"])
    assert torch.equal(tokens[0].ids.cpu(), tokens[1].ids)


def test_ranks_are_equal_with_ties_too() -> None:
    rows = torch.nn.functional.normalize(torch.randn(2, 300, 16, generator=torch.Generator().manual_seed(0)), dim=-1)
    image, text = torch.cat([rows[0], rows[0, :50]]), torch.cat([rows[1], rows[1, :50]])
    expected, ours = (rank_both(image.to(on), text.to(on), torch.arange(350).to(on)) for on in (CPU, GPU))
    for direction in ("i2t", "t2i"):
        assert (ours[direction] == expected[direction]).all()


@pytest.mark.parametrize(
    "settings",
    [{}, {"resnet": True}, {"zero_stage": 2, "precision": "bf16"}, {"processes": 2}, COMPILED],
    ids=str,
)
@pytest.mark.parametrize("name", ["infonce-learnable", "moco", "sogclr"])
def test_a_stopped_training_goes_on_to_the_same_bits(
    name: str, settings: dict[str, Any], make_setup: Callable[..., Setup], split: Split, tmp_path: Path
) -> None:
    setup = served(make_setup(steps=STEPS, **settings), name)
    require_equal(trained(name, setup, split), stopped_and_resumed(name, setup, split, tmp_path / "run"))


def test_nccls_collectives_of_one_process_change_nothing() -> None:
    join_processes()
    assert dist.get_backend() == "nccl"
    rows = torch.randn(8, 4, device=GPU, requires_grad=True)
    for function in (_Gather, _Together):
        out: Tensor = function.apply(rows)  # type: ignore[no-untyped-call]
        assert torch.equal(out, rows)
        assert torch.equal(*torch.autograd.grad(out.square().sum(), rows), 2 * rows)
