"""Compiled towers: the same arithmetic in other kernels, in training alone."""

from collections.abc import Callable

import pytest
import torch
from torch._dynamo.utils import counters

from benchsuite.data.base import Split
from benchsuite.execution.preflight import has_compiler
from benchsuite.methods import create_method
from benchsuite.setup import Setup
from benchsuite.training import shares
from benchsuite.training.loop import Trained, train


@pytest.mark.slow
@pytest.mark.skipif(not has_compiler(), reason="there is no C++ compiler")
def test_losses_are_those_of_plain_towers_and_evaluation_compiles_nothing(
    make_setup: Callable[..., Setup], split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(**settings: bool) -> Trained:
        setup = make_setup(dropout=0.0, lr=1e-3, processes=2, **settings)
        return train(setup, create_method("infonce", tau=0.1), split, 0, watch)

    in_order: list[bool] = []

    def watch(step: int) -> None:
        in_order.append(torch.are_deterministic_algorithms_enabled())

    monkeypatch.setattr(shares, "drops_activations", lambda count: True)  # as on a GPU
    torch._dynamo.reset()
    before, plain = counters["stats"]["unique_graphs"], trained()
    assert not any(in_order)
    assert counters["stats"]["unique_graphs"] == before
    compiled = trained(compiled=True)
    assert in_order[len(in_order) // 2 :] == [True] * (len(in_order) // 2), "in any order, bits differ on a GPU"
    assert not torch.are_deterministic_algorithms_enabled()
    after = counters["stats"]["unique_graphs"]
    assert after >= before + 2
    assert compiled.curves["loss"] == pytest.approx(plain.curves["loss"], rel=1e-4)
    with torch.no_grad():
        compiled.encoder.image(torch.rand(3, 3, 32, 32))
    assert counters["stats"]["unique_graphs"] == after
