"""Figures of every kind."""

from collections.abc import Callable

import pytest
from small_figures import EVERY, ON_PAGES

from benchsuite.report.figures.model import Figure, Forest


@pytest.fixture(params=EVERY)
def every_kind(request: pytest.FixtureRequest) -> Callable[..., Figure | Forest]:
    """Makes a figure of each kind in turn; its labels begin with `label`."""
    return EVERY[request.param]


@pytest.fixture(params=ON_PAGES)
def on_pages(request: pytest.FixtureRequest) -> Callable[..., Figure]:
    """The same of each kind that pages have."""
    return ON_PAGES[request.param]
