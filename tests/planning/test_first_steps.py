"""The recipes for the first steps of training: the scenes recipes' beginning, with the papers' temperatures."""

import pytest

from benchsuite.planning.recipe import read_recipe
from benchsuite.setup import differences


@pytest.mark.parametrize("size", ["smoke", "small"])
def test_first_steps_are_those_of_the_scenes_recipe_at_the_papers_temperatures(size: str) -> None:
    whole, first = (read_recipe(f"scenes{name}-{size}").setup("RN50") for name in ("", "-first-steps"))
    changed = differences(whole.model_dump(), first.model_dump())
    assert {name.split(".")[0] for name in changed} == {
        "clusters", "experts", "protocols", "temperature_factor", "training",
    }  # fmt: skip
    assert first.temperature_factor == 1.0
    assert set(differences(whole.training.model_dump(), first.training.model_dump())) == {"steps"}


@pytest.mark.parametrize("size", ["smoke", "small"])
def test_ten_updates_lie_between_the_ends_of_their_curves(size: str) -> None:
    assert read_recipe(f"scenes-first-steps-{size}").setup("RN50").training.steps == 11
