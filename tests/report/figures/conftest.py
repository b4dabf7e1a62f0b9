"""Figures of every kind."""

from collections.abc import Callable

import pytest
from sketches import EVERY, SKETCHES

from benchsuite.report.figures import Figure


@pytest.fixture(params=EVERY)
def every_kind(request: pytest.FixtureRequest) -> Callable[..., Figure]:
    """Makes a figure of each kind in turn; its labels begin with `label`."""
    return EVERY[request.param]  # type: ignore[return-value]


@pytest.fixture(params=SKETCHES)
def every_sketch(request: pytest.FixtureRequest) -> Callable[..., Figure]:
    """The same of each kind that pages have."""
    return SKETCHES[request.param]  # type: ignore[return-value]
