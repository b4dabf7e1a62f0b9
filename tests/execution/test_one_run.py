"""Clusters, memories and single towers: one short run each, from a recipe that comes with the suite."""

import pytest

from benchsuite.execution.measure import measure
from benchsuite.planning.plan import plan_under
from benchsuite.planning.recipe import read_recipe


@pytest.mark.parametrize(
    ("method", "recipe", "backbone", "prepared"),
    [
        ("mm-ts", "scenes-smoke", "RN50", {"clusters"}),
        ("isogclr", "scenes-image-smoke", "ResNet-18", set()),
        ("simclr", "scenes-text-smoke", "BERT", set()),
    ],
)
def test_every_kind_of_training_fills_a_record(method: str, recipe: str, backbone: str, prepared: set[str]) -> None:
    whole = read_recipe(recipe)
    options = {**whole.data.options, "train": 512}
    changes = {
        "data": whole.data.model_copy(update={"options": options}),
        "training": whole.training.model_copy(update={"steps": 2}),
    }
    record, _ = measure(plan_under(whole.model_copy(update=changes), method, backbone, 0, {}))
    assert record.results.keys() == whole.protocols.keys()
    assert prepared == set(record.digests) & {"clusters", "image_expert", "text_expert"}
