"""Which columns a recipe measures, and which it does not, with the reason."""

import pytest

from benchsuite.papers import read_table, table_names
from benchsuite.planning.columns import measured_columns
from benchsuite.planning.recipe import read_recipe, recipe_names


@pytest.mark.parametrize("scale", ["smoke", "small"])
def test_a_stand_in_at_its_ceiling_is_no_column(scale: str) -> None:
    table = read_table("temo/table1")
    columns = measured_columns(table, read_recipe(table.recipes[scale]))
    assert {key: "at the ceiling" in reason for key, reason in columns.missing.items()} == {"cifar10_top3": True}
    assert set(columns.measures) == {column.key for column in table.columns} - {"cifar10_top3"}
    assert columns.measures["cifar10_top1"] == "zero-shot-colour.top1"


def test_a_missing_protocol_has_no_column_of_any_measure() -> None:
    table = read_table("temo/table1")
    recipe = read_recipe("scenes-small").model_copy(update={"missing": {"zero-shot-cifar10": "no ten classes"}})
    assert set(measured_columns(table, recipe).missing) == {"cifar10_top1", "cifar10_top3"}


def test_every_measure_that_is_missing_is_one_of_a_table() -> None:
    measures = {c.measure for name in table_names() for c in read_table(name).columns if isinstance(c.measure, str)}
    protocols = {measure.rpartition(".")[0] for measure in measures}
    single = {name for recipe in recipe_names() for name in read_recipe(recipe).missing if "." in name} - protocols
    assert single
    assert single <= measures


@pytest.mark.parametrize(("scale", "stands_in"), [("paper", False), ("gpu", True), ("features", True), ("cifar", True)])
def test_the_papers_own_data_is_no_stand_in(scale: str, stands_in: bool) -> None:
    """The recipe names its protocol otherwise than the table, on the same data; a shortened training is one."""
    table = read_table("dystress/table3")
    columns = measured_columns(table, read_recipe(table.recipes[scale]))
    assert columns.measures.keys() == {"cifar10", "cifar100"}
    assert columns.stand_ins.keys() == (columns.measures.keys() if stands_in else set())


def test_a_mean_that_the_recipe_does_not_measure_is_that_of_its_columns() -> None:
    table = read_table("mm-ts/table1")
    recipe = read_recipe(table.recipes["features"])
    columns = measured_columns(table, recipe)
    assert columns.means == {"flickr_avg": ["flickr_ir1", "flickr_tr1"], "coco_avg": ["coco_ir1", "coco_tr1"]}
    assert columns.measures["coco_avg"] == "mean(retrieval.t2i_r1, retrieval.i2t_r1)"
    assert columns.stand_ins["coco_avg"] == columns.stand_ins["coco_ir1"] != columns.stand_ins["flickr_avg"]
    assert not columns.missing

    own = read_table("temo/table4")
    assert not measured_columns(own, read_recipe(own.recipes["features"])).means, "the recipe measures its mean recall"


def test_a_mean_is_not_known_where_one_of_its_columns_is_not() -> None:
    table = read_table("mm-ts/table1")
    columns = measured_columns(table, read_recipe(table.recipes["features"]), {"retrieval.i2t_r1": "too few"})
    assert columns.means.keys() == {"flickr_avg"}
    assert columns.missing == {"coco_tr1": "too few", "coco_avg": "too few"}
