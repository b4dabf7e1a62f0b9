from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.gap_swap import ModalitySwap

MakeBatch = Callable[..., PairBatch]
NOW = Clock(step=1, total_steps=4)
NAMES = ["gap-hard-swap", "gap-hard-swap-feature", "gap-soft-swap"]
HARD = NAMES[:2]


def swapper(name: str, **settings: float) -> ModalitySwap:
    method = create_method(name, **settings)
    assert isinstance(method, ModalitySwap)
    return method


def seeded(method: ModalitySwap, batch: PairBatch, seed: int = 0) -> Loss:
    torch.manual_seed(seed)
    return method(batch, NOW)


def naive(name: str, batch: PairBatch, tau: Tensor, seed: int, renormalize: bool) -> Tensor:
    """The draws in their order, then appendix D.2 and the symmetric cross entropy, entry by entry."""
    size, width = batch.image.shape
    torch.manual_seed(seed)
    torch.rand(())
    drawn = torch.rand(size, 1 if name == "gap-hard-swap-feature" else width)
    x, y = [], []
    for i in range(size):
        a = batch.image[i] / torch.sqrt((batch.image[i] ** 2).sum())
        b = batch.text[i] / torch.sqrt((batch.text[i] ** 2).sum())
        first, second = [], []
        for d in range(width):
            u = drawn[i, d % drawn.shape[1]].double()
            share = u if name == "gap-soft-swap" else (u >= 0.5).double()
            first.append(share * a[d] + (1 - share) * b[d])
            second.append(share * b[d] + (1 - share) * a[d])
        rows = [torch.stack(first), torch.stack(second)]
        rows = [row / torch.sqrt((row**2).sum()) for row in rows] if renormalize else rows
        x.append(rows[0])
        y.append(rows[1])
    total = torch.zeros((), dtype=torch.float64)
    for i in range(size):
        rows = [torch.exp((x[i] * y[j]).sum() / tau) for j in range(size)]
        columns = [torch.exp((x[j] * y[i]).sum() / tau) for j in range(size)]
        total = total - torch.log(rows[i] / sum(rows)) - torch.log(columns[i] / sum(columns))
    return total / (2 * size)


@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_matches_the_naive_twin_in_value_and_every_gradient(
    name: str, renormalize: bool, make_batch: MakeBatch
) -> None:
    for seed in range(5):
        batch = make_batch(4, 3, seed=seed, grad=True)
        method = swapper(name, p=1, renormalize=renormalize).double()
        ours = seeded(method, batch, seed).total
        twin = naive(name, batch, torch.exp(-method.learned), seed, renormalize)
        assert ours.item() == pytest.approx(twin.item(), abs=1e-8)
        leaves = (batch.image, batch.text, method.learned)
        for mine, other in zip(*(torch.autograd.grad(loss, leaves) for loss in (ours, twin)), strict=True):
            torch.testing.assert_close(mine, other, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_p_is_the_share_of_steps_that_swap(name: str, make_batch: MakeBatch) -> None:
    batch, method = make_batch(2, 2), swapper(name, p=0.3)
    torch.manual_seed(0)
    share = sum(float(method(batch, NOW).gauges["swapped"]) for _ in range(1000)) / 1000
    assert share == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize(
    ("name", "p"), [("gap-hard-swap", 1e-3), ("gap-hard-swap-feature", 1e-3), ("gap-soft-swap", 0.05)]
)
def test_the_default_share_is_that_of_the_papers_table(name: str, p: float) -> None:
    assert swapper(name).p == p
    assert swapper(name).renormalize is False


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_hard_swaps_leave_the_sum_unchanged(name: str, dtype: torch.dtype, make_batch: MakeBatch) -> None:
    batch = make_batch(50, dtype=dtype)
    image, text = swapper(name).swap(batch.image, batch.text)
    assert torch.equal(image + text, batch.image + batch.text)


def test_soft_swap_leaves_the_sum_unchanged(make_batch: MakeBatch) -> None:
    batch = make_batch(50)
    image, text = swapper("gap-soft-swap").swap(batch.image, batch.text)
    torch.testing.assert_close(image + text, batch.image + batch.text, atol=1e-14, rtol=0)


def test_about_half_of_the_entries_change_places(make_batch: MakeBatch) -> None:
    batch = make_batch(200, 20)
    torch.manual_seed(0)
    image, _ = swapper("gap-hard-swap").swap(batch.image, batch.text)
    moved = (image != batch.image).double()
    assert moved.mean().item() == pytest.approx(0.5, abs=0.03)
    assert 0 < moved.mean(dim=1).min() < moved.mean(dim=1).max() < 1


def test_feature_swap_moves_whole_rows_and_about_half_of_them(make_batch: MakeBatch) -> None:
    batch = make_batch(400)
    torch.manual_seed(0)
    image, text = swapper("gap-hard-swap-feature").swap(batch.image, batch.text)
    moved = (image == batch.text).all(dim=1)
    assert torch.equal(moved, (text == batch.image).all(dim=1))
    assert torch.equal(~moved, (image == batch.image).all(dim=1))
    assert moved.double().mean().item() == pytest.approx(0.5, abs=0.08)


def test_soft_shares_are_uniform_and_each_entrys_own() -> None:
    image, _ = swapper("gap-soft-swap").swap(torch.ones(300, 40), torch.zeros(300, 40))
    for level in (0.1, 0.5, 0.9):
        assert (image < level).double().mean().item() == pytest.approx(level, abs=0.02)
    assert len(image.unique()) > 11_000


@pytest.mark.parametrize("name", NAMES)
def test_the_draw_is_the_seeds(name: str, make_batch: MakeBatch) -> None:
    batch, method = make_batch(), swapper(name, p=1)
    assert seeded(method, batch, 3).total.item() == seeded(method, batch, 3).total.item()
    assert seeded(method, batch, 3).total.item() != seeded(method, batch, 4).total.item()


@pytest.mark.parametrize("name", NAMES)
def test_reordered_pairs_with_reordered_draws_give_the_same_loss(
    name: str, make_batch: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, order, draw = make_batch(6), torch.tensor([3, 0, 5, 1, 4, 2]), torch.rand
    mixed = PairBatch(image=batch.image[order], text=batch.text[order])
    method = swapper(name, p=1)
    plain = seeded(method, batch).total.item()
    monkeypatch.setattr(torch, "rand", lambda *a, **k: d[order] if (d := draw(*a, **k)).dim() else d)
    assert seeded(method, mixed).total.item() == pytest.approx(plain, abs=1e-10)


@pytest.mark.parametrize("kind", ["collapsed", "anti-aligned", "duplicated", "null"])
@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_degenerate_batches_are_finite_while_swapping(name: str, renormalize: bool, kind: str) -> None:
    one = torch.zeros(6, 4)
    one[:, 0] = kind != "null"
    image = torch.eye(4)[[0, 0, 1, 1, 2, 2]] if kind == "duplicated" else one
    leaves = [t.clone().requires_grad_() for t in (image, -image if kind == "anti-aligned" else image)]
    method = swapper(name, p=1, tau=0.005, renormalize=renormalize)
    for seed in range(5):
        loss = seeded(method, PairBatch(image=leaves[0], text=leaves[1]), seed).total
        assert torch.isfinite(loss)
        for gradient in torch.autograd.grad(loss, [*leaves, method.learned]):
            assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_baselines_options_stay(name: str) -> None:
    method = swapper(name, parameter="temperature", tau=0.1)
    (group,) = method.parameter_groups()
    assert method.temperature.item() == pytest.approx(0.1)
    assert group.weight_decay == 0.02
