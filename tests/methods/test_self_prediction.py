import math
from typing import Any

import pytest
import torch
from family import dot, rows
from torch import Tensor

from benchsuite import Clock, PairBatch
from benchsuite.methods import create_method
from benchsuite.methods.base import Method
from benchsuite.torchvision_ops import make_importable

make_importable()

from lightly.loss import NegativeCosineSimilarity  # noqa: E402
from lightly.models.modules.heads import BYOLPredictionHead, SimSiamPredictionHead  # noqa: E402
from lightly.utils.scheduler import cosine_schedule  # noqa: E402

NAMES = ("byol", "simsiam")
PARTS = ("image", "image_view", "image_teacher", "image_view_teacher")
NOW = Clock(1, 4)
HEADS = {"byol": BYOLPredictionHead, "simsiam": SimSiamPredictionHead}


def make(name: str, width: int | None = 4, **options: Any) -> Method:
    torch.manual_seed(0)
    return create_method(name, width=width, **{"hidden": 7, **options})


def batch(size: int = 5, dtype: torch.dtype = torch.float64, side: str = "image") -> PairBatch:
    made = torch.randn(4, size, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)
    named = {part.replace("image", side): rows for part, rows in zip(PARTS, made, strict=True)}
    return PairBatch(**{n: t.clone().requires_grad_() if "teacher" not in n else t for n, t in named.items()})


def naive_predictor(method: Method, x: Tensor) -> Tensor:
    """Linear, batch norm, ReLU, linear, one sample and one unit at a time."""
    first, norm, _, last = method.head["predictor"].layers
    hidden = []
    for unit in range(7):
        row = [dot(v, first.weight[unit].double()) for v in x]
        mean = sum(row) / len(row)
        spread = sum((r - mean) ** 2 for r in row) / len(row)
        hidden.append(
            [torch.relu((r - mean) / torch.sqrt(spread + 1e-5) * norm.weight[unit] + norm.bias[unit]) for r in row]
        )
    return torch.stack(
        [
            torch.stack(
                [
                    sum(w * hidden[u][i] for u, w in enumerate(out.double())) + b
                    for out, b in zip(last.weight, last.bias, strict=True)
                ]
            )
            for i in range(len(x))
        ]
    )


def naive(method: Method, given: PairBatch, name: str) -> Tensor:
    x, y = given.views
    targets = (given.image_teacher, given.image_view_teacher) if name == "byol" else (x.detach(), y.detach())
    whole = torch.zeros((), dtype=torch.float64)
    for prediction, target in ((naive_predictor(method, x), targets[1]), (naive_predictor(method, y), targets[0])):
        for p, t in zip(rows(prediction), rows(target), strict=True):
            apart = ((p - t) ** 2).sum() / len(x)
            whole = whole + (apart if name == "byol" else (apart - 2 / len(x)) / 4)
    return whole


@pytest.mark.parametrize("name", NAMES)
def test_matches_the_naive_twin_in_value_and_every_gradient(name: str) -> None:
    method, given = make(name), batch()
    ours, theirs = method(given, NOW).total, naive(method, given, name)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-9)
    leaves = [given.image, given.image_view, *method.head.parameters()]
    for a, b in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(theirs, leaves), strict=True):
        torch.testing.assert_close(a, b, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_heads_and_losses_are_lightlys(name: str) -> None:
    method, given = make(name), batch()
    theirs = HEADS[name](4, 7, 4).double()
    assert [p.shape for p in theirs.parameters()] == [p.shape for p in method.head.parameters()]
    with torch.no_grad():
        for mine, other in zip(method.head.parameters(), theirs.parameters(), strict=True):
            other.copy_(mine)
    x, y = given.views
    targets = given.teacher_views if name == "byol" else (x.detach(), y.detach())
    criterion = NegativeCosineSimilarity()
    summed = criterion(theirs(x), targets[1]) + criterion(theirs(y), targets[0])
    expected = 4 + 2 * summed if name == "byol" else summed / 2
    torch.testing.assert_close(method(given, NOW).total, expected)


@pytest.mark.parametrize("rises", [True, False])
def test_byols_momentum_rises_along_half_a_cosine_if_it_rises(rises: bool) -> None:
    method = make("byol", rises=rises)
    found = [method.teacher_momentum(Clock(step, 40)) for step in range(41)]
    for step, value in enumerate(found):
        assert value == pytest.approx(1 - 0.004 * (math.cos(math.pi * step / 40) + 1) / 2 if rises else 0.996)
    theirs = [cosine_schedule(step, 41, 0.996, 1.0) for step in range(41)]
    assert found == pytest.approx(theirs) or not rises
