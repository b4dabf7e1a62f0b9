"""At a large batch no method but those named here makes a matrix with an entry for each pair, forwards or backwards."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from benchsuite.conformance.subject import Subject, differentiable, modes, parts
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.registry import methods

pytestmark = pytest.mark.slow

DENSE = {
    "zero-cl": "whitens samples: the [B, B] matrix is decomposed as a whole",
}
"""Methods that hold a matrix of pairs, with the reason. docs/at-size.md names them, too."""
BATCH, WIDTH, ROWS = 256, 8, 4
CASES = [(name, mode) for name in sorted(methods) for mode in modes(Subject(name).template)]


class Largest(TorchDispatchMode):
    """The largest tensor that any operation returned, in entries."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        expanded = func in (torch.ops.aten.expand.default, torch.ops.aten.view.default)
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor) and not expanded:
                self.entries = max(self.entries, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result


def batch_for(method: Method, mode: str) -> PairBatch:
    generator = torch.Generator().manual_seed(0)
    ids = {"index": torch.arange(BATCH), "cluster": torch.arange(BATCH) % 3}
    rows = {n: torch.randn(BATCH, WIDTH, generator=generator) for n in parts(method, mode) if n not in ids}
    return PairBatch(**differentiable(rows), **{n: ids[n] for n in parts(method, mode) if n in ids})


def largest(name: str, mode: str, sizes: Sizes) -> int:
    """Entries of the largest tensor of a loss and its gradient."""
    options: dict[str, Any] = {**Subject(name).cls.miniature}
    if "cluster_sizes" in Subject(name).fields:
        options["cluster_sizes"] = (1, 4, 11)
    if "hidden" in Subject(name).fields:
        options["hidden"] = WIDTH
    method = create_method(name, num_samples=BATCH, width=WIDTH, **options)
    batch = batch_for(method, mode)
    torch.manual_seed(0)
    with Largest() as seen, sized(sizes):
        method(batch, Clock(1, 2)).total.backward()
    return seen.entries


@pytest.mark.parametrize(("name", "mode"), CASES, ids=map("-".join, CASES))
def test_memory_grows_with_the_batch_and_not_with_its_square(name: str, mode: str) -> None:
    blocks = largest(name, mode, Sizes(whole=0, rows=ROWS))
    if name in DENSE:
        assert blocks >= BATCH**2
    else:
        assert blocks <= max(2 * BATCH * 2 * ROWS, 2 * BATCH * 4 * WIDTH) < BATCH**2 / 3


def test_what_is_counted_is_there_in_the_dense_form() -> None:
    assert largest("infonce", "pair", Sizes()) == BATCH**2
    assert largest("simclr", "image", Sizes()) == 4 * BATCH**2
