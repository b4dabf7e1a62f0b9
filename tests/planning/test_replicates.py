"""A replicate draws or cuts its own data; all methods of a replicate share it."""

import pytest

from benchsuite.planning.data_folders import options_of
from benchsuite.planning.plan import Run, plan_under
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.resolve import resolve_setup

SMALL = {"train": 40, "validation": 10, "test": 10, "galleries": 10}


def small(name: str = "latents-pairs", **options: int) -> Recipe:
    recipe = read_recipe(name)
    return recipe.model_copy(update={"data": recipe.data.model_copy(update={"options": {**SMALL, **options}})})


def run(method: str, replicate: int, recipe: Recipe | None = None) -> Run:
    return plan_under(recipe or small(), method, "RN50", replicate, {})


def test_each_replicate_has_its_own_world_and_all_its_methods_the_same() -> None:
    runs = {(method, r): run(method, r) for method in ("infonce", "ts") for r in (0, 1)}
    digests = {key: one.setup.data.digest for key, one in runs.items()}
    assert digests["infonce", 0] == digests["ts", 0] != digests["infonce", 1] == digests["ts", 1]
    assert len({one.setup.setup_id for one in runs.values()}) == 1
    assert len({one.run_id for one in runs.values()}) == 4
    assert all(one.read == {"data": one.setup.data.digest} for one in runs.values())


def test_the_world_goes_on_from_the_recipes_own_seed() -> None:
    given = run("infonce", 1, small(seed=7))
    assert given.setup.data.options["seed"] == 8
    assert given.setup.data.digest == run("infonce", 0, small(seed=8)).setup.data.digest
    assert given.run_id != run("infonce", 1).run_id, "another world, though the setup is the same"


def test_a_request_has_the_world_that_the_user_named_whatever_the_replicates() -> None:
    given = {"latents.seed": "7", "latents.train": "40"}
    for replicate in (0, 3):
        setup = resolve_setup(small(), "RN50", folders=given, replicate=replicate)
        assert options_of(setup, replicate, given) == {"latents": {"seed": 7, "train": 40}}
    assert options_of(setup, 3, {}) == {}


def test_what_cannot_be_drawn_anew_is_the_same_for_all() -> None:
    scenes = [resolve_setup(read_recipe("scenes-smoke"), "RN50", replicate=r) for r in (0, 1)]
    assert scenes[0] == scenes[1]
    assert not scenes[0].data.redrawn


def test_without_a_replicate_nothing_is_drawn() -> None:
    setup = resolve_setup(small(), "RN50")
    assert not setup.data.redrawn
    assert setup.setup_id != run("infonce", 0).setup.setup_id


@pytest.mark.parametrize("name", ["latents", "latents-clips", "latents-images", "features", "emoji-features", "emoji"])
def test_tracks_of_vectors_are_drawn_anew(name: str) -> None:
    from benchsuite.registry import datasets

    assert datasets.get(name).redrawn == "seed"
