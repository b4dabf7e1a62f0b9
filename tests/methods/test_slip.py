from typing import Any

import pytest
import torch
from family import EXTRA, NOW, PARTS, assert_twins, batch_of, dot, minus_log_softmax, rows, total
from torch import Tensor, nn

from benchsuite.methods import create_method
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.slip import SLIP

SMALL = {"head_hidden": 7, "head_width": 3}


def slip(width: int | None = 4, seed: int = 0, **settings: Any) -> SLIP:
    torch.manual_seed(seed)
    method = create_method("slip", width=width, **{**SMALL, **settings})
    assert isinstance(method, SLIP)
    return method


def naive_head(method: SLIP, x: Tensor) -> Tensor:
    """Linear, batch norm, ReLU, twice, then linear, one sample and one unit at a time."""
    h = [dict(layer.named_parameters()) for layer in method.projector]
    values = torch.stack(rows(x))
    for linear, norm in ((h[0], h[1]), (h[3], h[4])):
        out = []
        for unit in range(len(linear["weight"])):
            row = [dot(v, linear["weight"][unit].double()) for v in values]
            mean = sum(row) / len(row)
            spread = sum((r - mean) ** 2 for r in row) / len(row)
            scaled = [(r - mean) / torch.sqrt(spread + 1e-5) * norm["weight"][unit] + norm["bias"][unit] for r in row]
            out.append(torch.stack([s if s > 0 else 0 * s for s in scaled]))
        values = torch.stack(out).T
    return (
        torch.stack([torch.stack([dot(v, w) for w in h[6]["weight"].double()]) for v in values]) + h[6]["bias"].double()
    )


def naive(method: SLIP, batch: PairBatch, first: str, second: str) -> Tensor:
    tau, size = torch.exp(-method.learned.double()), batch.size
    x, y = rows(batch.image), rows(batch.text)
    summed = torch.zeros((), dtype=torch.float64)
    for i in range(size):
        for anchor, others in ((x[i], y), (y[i], x)):
            summed = summed + minus_log_softmax([dot(anchor, other) / tau for other in others], i) / (2 * size)
    z = [row for part in (first, second) for row in rows(naive_head(method, getattr(batch, part)))]
    for i in range(2 * size):
        partner = (i + size) % (2 * size)
        order = [partner, *(k for k in range(2 * size) if k not in (i, partner))]
        own = minus_log_softmax([dot(z[i], z[k]) / method.ssl_tau for k in order], 0)
        summed = summed + method.ssl_scale * own / (2 * size)
    return summed


@pytest.mark.parametrize(
    ("parts", "first", "second"),
    [((*PARTS, *EXTRA), "image_view", "image_view2"), (PARTS, "image_view", "image")],
)
@pytest.mark.parametrize("settings", [{}, {"ssl_scale": 0.3, "ssl_tau": 0.5, "tau": 0.2}])
def test_matches_the_naive_twin_in_value_and_every_gradient(
    parts: tuple[str, ...], first: str, second: str, settings: dict[str, float]
) -> None:
    batch, method = batch_of(4, parts=parts), slip(**settings).double()
    assert_twins(total(method, batch), naive(method, batch, first, second), batch)
    ours, twin = total(method, batch), naive(method, batch, first, second)
    parameters = list(method.parameters())
    for mine, expected in zip(*(torch.autograd.grad(t, parameters) for t in (ours, twin)), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-8, rtol=1e-8)


def test_float32_parameters_leave_a_float64_loss_as_exact_as_they_are() -> None:
    batch, method = batch_of(4), slip()
    ssl = method(batch, NOW).terms["ssl"]
    assert ssl.dtype == torch.float64
    assert ssl.item() == pytest.approx(method.double()(batch, NOW).terms["ssl"].item(), abs=1e-12)


def test_defaults_are_the_papers() -> None:
    options = create_method("slip", head_hidden=4096).options()
    expected = {"tau": 0.07, "ssl_scale": 1.0, "ssl_tau": 0.1, "head_hidden": 4096, "head_width": 256}
    assert {name: options[name] for name in expected} == expected


def test_the_width_may_be_left_to_the_first_batch() -> None:
    method = slip(None)
    assert torch.isfinite(total(method, batch_of(5, width=6)))
    assert isinstance(method.projector[0], nn.Linear)
    assert method.projector[0].in_features == 6
    saved, resumed = slip(4, seed=1), slip(None)
    resumed.load_state_dict(saved.state_dict())
    assert total(resumed, batch_of(5)).item() == total(saved, batch_of(5)).item()


def test_parameter_groups_hold_every_parameter_once_and_decay_matrices_only() -> None:
    for width in (4, None):
        method = slip(width)
        groups = method.parameter_groups()
        assert [group.weight_decay for group in groups] == [0.0, None, 0.0]
        grouped = [id(p) for group in groups for p in group.parameters]
        assert sorted(grouped) == sorted(id(p) for p in method.parameters())
        assert groups[0].parameters == (method.learned,)
        assert len(groups[1].parameters) == 3


def test_the_head_has_no_state_but_its_parameters() -> None:
    method, batch = slip(), batch_of(5)
    before = {name: value.clone() for name, value in method.state_dict().items()}
    first = total(method, batch).item()
    assert list(method.buffers()) == []
    assert total(method, batch).item() == first
    assert total(method.eval(), batch).item() == first
    assert all(torch.equal(value, before[name]) for name, value in method.state_dict().items())
