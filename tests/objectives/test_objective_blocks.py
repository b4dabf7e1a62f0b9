"""Which rows are computed at once, and by whom."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import torch
from torch import Tensor

from benchsuite.objectives.blocks import BLOCK, Block, Sizes, alone, sized, together, walk, whole
from benchsuite.objectives.pairwise import similarities, total
from benchsuite.objectives.shares import Shares, shared, shares

CPU, GPU = torch.device("cpu"), torch.device("meta")


class Second:
    """The second of two processes; those of the other are zeros."""

    def own(self, rows: int) -> slice:
        return slice(rows // 2, rows) if rows % 2 == 0 else slice(0, rows)

    def together(self, own: Tensor) -> Tensor:
        return torch.cat([torch.zeros_like(own), own])


@contextmanager
def second() -> Iterator[None]:
    with shared(Second()):
        yield


def rows_of(shape: tuple[int, int], sizes: Sizes) -> list[tuple[int, int, bool]]:
    """Beginning and end of each block, and whether it is everything."""
    seen: list[tuple[int, int, bool]] = []

    def each(block: Block) -> tuple[Tensor]:
        seen.append((block.rows.start, block.rows.stop, block.everything))
        return (torch.zeros(1),)

    with sized(sizes), torch.no_grad():
        walk(each, shape, CPU)
    return seen


def test_a_matrix_of_as_many_entries_as_allowed_is_one_block() -> None:
    assert rows_of((4, 5), Sizes(whole=20, rows=2)) == [(0, 4, True)]
    assert rows_of((4, 5), Sizes(whole=19, rows=2)) == [(0, 2, False), (2, 4, False)]


def test_the_last_block_may_be_shorter() -> None:
    assert rows_of((5, 3), Sizes(whole=0, rows=2)) == [(0, 2, False), (2, 4, False), (4, 5, False)]


def test_a_process_computes_its_own_rows() -> None:
    with second():
        assert rows_of((6, 2), Sizes(whole=0, rows=2)) == [(3, 5, False), (5, 6, False)]
        assert rows_of((6, 2), Sizes(whole=6, rows=2)) == [(3, 6, False)], "its rows fit, the matrix does not"
        assert rows_of((6, 2), Sizes(whole=5, rows=2)) == [(3, 5, False), (5, 6, False)]
        assert rows_of((5, 2), Sizes(whole=10, rows=2)) == [(0, 5, True)], "rows that cannot be divided"


def test_sizes_and_shares_hold_inside_only() -> None:
    with suppress(RuntimeError), sized(Sizes(whole=0)), second():
        assert whole(1, 1) is None
        assert not alone(2)
        raise RuntimeError("stop")
    block = whole(2048, 2048)
    assert block is not None
    assert (block.rows, block.everything) == (slice(0, 2048), True)
    assert whole(2048, 2049) is None
    assert alone(2)
    assert type(shares()) is Shares


@pytest.mark.parametrize(("device", "entries"), [(CPU, 2**23), (GPU, 2**24)])
def test_a_block_has_so_many_entries_and_256_rows_or_more(device: torch.device, entries: int) -> None:
    assert BLOCK[device.type == "cpu"] == entries
    assert Sizes().of_block(2**13, device) == entries // 2**13
    assert Sizes().of_block(3 * 2**12, device) == -(-entries // (3 * 2**12)), "rounded up"
    assert Sizes().of_block(2**20, device) == 256
    assert Sizes(rows=3).of_block(2**20, device) == 3


def test_a_block_takes_its_rows_and_knows_its_own_columns() -> None:
    matrix = torch.arange(12).view(4, 3)
    block = Block(slice(1, 3), everything=False)
    assert block.of(matrix).tolist() == [[3, 4, 5], [6, 7, 8]]
    assert block.own(4, CPU).tolist() == [[False, True, False, False], [False, False, True, False]]
    assert Block(slice(0, 4), everything=True).of(matrix) is matrix


def test_values_are_put_together_in_order() -> None:
    parts = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    assert together(parts, 3).tolist() == [1.0, 2.0, 3.0]
    assert together(parts[:1], 2) is parts[0]
    with second():
        assert together([torch.tensor([5.0])], 2).tolist() == [0.0, 5.0]
        assert together(parts, 3).tolist() == [1.0, 2.0, 3.0]
    own = torch.ones(2)
    assert Shares().together(own) is own
    assert Shares().own(7) == slice(0, 7)


def test_a_view_of_a_block_is_stored_without_it() -> None:
    """The diagonal of a block would keep all of the block in memory."""
    with sized(Sizes(whole=0, rows=2)), torch.no_grad():
        parts = walk(lambda block: (torch.ones(2, 50).diagonal(), torch.ones(2)), (4, 50), CPU)
    for diagonal, plain in parts:
        assert diagonal.untyped_storage().nbytes() == diagonal.nbytes == 8
        assert plain.untyped_storage().nbytes() == 8


def test_blocks_are_computed_again_for_gradients_alone() -> None:
    calls: list[int] = []
    x = torch.ones(4, 2, requires_grad=True)

    def each(block: Block) -> tuple[Tensor]:
        calls.append(block.rows.start)
        return (block.of(x).square().sum(1),)

    with sized(Sizes(whole=0, rows=2)):
        (first,), (other,) = walk(each, (4, 2), CPU)
        assert calls == [0, 2]
        (first.sum() + other.sum()).backward()
    assert sorted(calls) == [0, 0, 2, 2]
    assert x.grad is not None
    assert torch.equal(x.grad, 2 * torch.ones(4, 2))


def test_a_total_is_that_of_all_entries() -> None:
    x, y = torch.rand(5, 3, dtype=torch.float64), torch.rand(4, 3, dtype=torch.float64)
    expected = (x @ y.T).square().sum()
    for sizes in (Sizes(), Sizes(whole=0, rows=2)):
        with sized(sizes):
            found = total(lambda block: similarities(x, y).entries(block).square(), similarities(x, y))
        torch.testing.assert_close(found, expected)
