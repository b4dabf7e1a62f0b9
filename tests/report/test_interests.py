"""The smallest differences of interest that a page of claims names."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.planning.recipe import read_recipe, recipe_names
from benchsuite.report.pages import interests


@pytest.mark.parametrize("name", recipe_names())
def test_each_recipe_has_them_named_by_protocol_or_by_the_one_measure_that_they_are_of(name: str) -> None:
    recipe = read_recipe(name)
    view: Any = SimpleNamespace(setting=SimpleNamespace(recipe=recipe, primary=recipe.primary))
    found = dict(interests(view))
    assert {one.partition(".")[0] for one in found} == {*recipe.primary}
    for protocol, primary in recipe.primary.items():
        whole = recipe.all_protocols[protocol].task not in ("geometry", "sts")  # no fractions
        assert found[protocol if whole else f"{protocol}.{primary.metric}"] == primary.difference
