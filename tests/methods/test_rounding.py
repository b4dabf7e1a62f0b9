"""The first four methods in float32, and on inputs rounded to bfloat16, within the bounds of the others."""

import pytest
from family import assert_rounding_is_all

from benchsuite.methods import create_method


@pytest.mark.parametrize("name", ["infonce", "infonce-learnable", "ts", "temo"])
def test_only_rounding_separates_the_precisions(name: str) -> None:
    assert_rounding_is_all(lambda: create_method(name))
