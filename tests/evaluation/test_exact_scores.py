"""One side of a matrix product, however many coordinates are converted at a time."""

import pytest
import torch

from benchsuite.evaluation.exact_scores import Bound, ExactSide


@pytest.mark.parametrize("scale", [1.0, 2.0**40, 2.0**-40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("block", [1, 3, 6, 7, 20, 1000])
def test_blocks_change_nothing(block: int, dtype: torch.dtype, scale: float) -> None:
    """Of 3 coordinates a row: one row at a time, two, six, all; the last block may be shorter."""
    generator = torch.Generator().manual_seed(0)
    values = (torch.randn(11, 3, generator=generator, dtype=torch.float64) * scale).to(dtype)
    values[4] = torch.nan
    side = ExactSide(values, block)
    whole = values.double() * 2.0**-side.exponent
    torch.testing.assert_close(side.single.double(), whole.float().double(), equal_nan=True, atol=0, rtol=0)
    assert side.broken.tolist() == [row == 4 for row in range(11)]
    lengths = whole.float().double().square().sum(1).sqrt().nan_to_num(0.0)
    torch.testing.assert_close(side.lengths, lengths, atol=1e-30, rtol=1e-15)
    torch.testing.assert_close(side.double(slice(2, 7)), whole[2:7], equal_nan=True, atol=0, rtol=0)


def test_only_single_precision_of_a_usual_size_is_read_as_it_is() -> None:
    values = torch.ones(4, 3)
    assert ExactSide(values, 6).single.data_ptr() == values.data_ptr()
    assert ExactSide(values * 2.0**40, 6).exponent != 0
    assert ExactSide(values.double(), 6).single.dtype == torch.float32


@pytest.mark.parametrize("width", [1, 3, 512, 1_000_000])
@pytest.mark.parametrize(("dtype", "unit"), [(torch.float32, 2.0**-24), (torch.float64, 2.0**-53)])
def test_the_bound_on_a_product_is_highams(width: int, dtype: torch.dtype, unit: float) -> None:
    """n u / (1 - n u): the products of a row, the halvings of the definition, and sixteen roundings more."""
    side = ExactSide(torch.ones(1, width), 1000)
    n = width + width.bit_length() + 16
    bound = Bound(side, side, dtype)
    assert bound.relative == n * unit / (1 - n * unit)
    assert 0 < bound.absolute < 1e-20


def test_where_roundings_could_be_half_of_a_product_nothing_is_certain() -> None:
    side = ExactSide(torch.zeros(0, 2**23), 2**20)
    assert Bound(side, side, torch.float32).relative == torch.inf
    assert Bound(side, side, torch.float64).relative < 1e-8
