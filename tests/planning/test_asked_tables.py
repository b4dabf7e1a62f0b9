"""Which recipe compares methods on a dataset, and the table that asks."""

import re
from pathlib import Path

import pytest
from support import tiny_tuning

from benchsuite.errors import UsageError
from benchsuite.folders import use_folders
from benchsuite.papers import read_table
from benchsuite.papers.claim import headline_claims
from benchsuite.papers.schema import Table
from benchsuite.planning.columns import measured_columns
from benchsuite.planning.comparison import comparison, name_of, recipe_for, reference_for
from benchsuite.planning.recipe import read_recipe, recipe_names
from benchsuite.toml_files import as_toml, read_toml


@pytest.mark.parametrize(
    ("data", "methods", "recipe"),
    [
        ("emoji-features", ["infonce", "temo"], "emoji-features-pairs"),
        ("emoji-features", ["simclr", "dcl"], "emoji-features-images"),
        ("latents", ["infonce", "temo"], "latents-pairs"),
        ("features", ["infonce", "temo"], "features-pairs"),
        ("emoji", ["infonce", "temo"], "emoji-pairs"),
        ("emoji", ["simclr", "dcl"], "emoji-images"),
        ("icons", ["infonce", "temo"], "icons-pairs"),
        ("pairs", ["infonce", "temo"], "pairs-tiny"),
        ("images", ["simclr", "dcl"], "images-tiny"),
    ],
)
def test_data_choose_the_quickest_recipe_that_searches(data: str, methods: list[str], recipe: str) -> None:
    assert recipe_for(data, methods) == recipe


@pytest.mark.parametrize("name", [name for name in recipe_names() if read_recipe(name).tuning])
def test_methods_are_judged_first_by_what_their_searches_chose_by(name: str) -> None:
    recipe = read_recipe(name)
    assert recipe.tuning is not None
    chosen_by = recipe.tuning.protocols[recipe.tuning.measure.partition(".")[0]]
    alike = [
        each
        for each in recipe.primary
        if (protocol := recipe.protocols.get(each))
        and protocol.task == chosen_by.task
        and all(protocol.options.get(key) == chosen_by.options.get(key) for key in ("classes", "k"))
    ]
    table = Table.model_validate(comparison(["infonce", "ts"], "some", name, recipe))
    assert not alike or table.columns[0].measure in {f"{each}.{recipe.primary[each].metric}" for each in alike}


def test_a_model_that_is_given_chooses_the_recipe_that_takes_one() -> None:
    assert recipe_for("pairs", ["infonce"], pretrained=True) == "finetune-tiny"


def test_a_shorter_recipe_that_does_not_search_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "short.toml").write_text(tiny_tuning.RECIPE.partition("[tuning]")[0])
    use_folders([tmp_path])
    assert recipe_for("latents", ["infonce", "temo"]) == "latents-pairs"


def test_a_method_alone_has_a_reference_of_its_towers() -> None:
    assert [reference_for(name) for name in ("temo", "simclr", "byol")] == ["infonce", "simclr", "simclr"]


@pytest.mark.parametrize("name", [name for name in recipe_names() if read_recipe(name).primary])
def test_every_recipe_with_primary_measures_makes_a_table_that_can_be_stored(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    recipe = read_recipe(name)
    content = comparison(["infonce", "temo", "ts"], "some", name, recipe)
    table = Table.model_validate(content)
    file = tmp_path_factory.mktemp("table") / "some.toml"
    file.write_text(as_toml(content), "utf-8")
    assert read_toml(file, Table) == table
    assert table.name == "infonce-vs-temo-vs-ts/some"
    assert {column.measured_at(recipe.track) for column in table.columns} == {
        f"{protocol}.{primary.metric}" for protocol, primary in recipe.primary.items()
    }
    assert headline_claims([table]) == 2 * (table.columns[0].better != "neither")


def test_the_measure_by_which_it_is_tuned_comes_first() -> None:
    recipe = read_recipe("emoji-features-pairs")
    first, *_ = Table.model_validate(comparison(["infonce", "ts"], "some", "emoji-features-pairs", recipe)).columns
    assert first.measure == "retrieval.r_mean"


def test_a_question_of_ones_own_has_no_stand_ins() -> None:
    name = "emoji-features-pairs"
    recipe = read_recipe(name)
    own = Table.model_validate(comparison(["infonce", "ts"], "some", name, recipe))
    assert measured_columns(own, recipe).stand_ins == {}
    papers = measured_columns(read_table("temo/table1"), recipe)
    assert papers.stand_ins.keys() == papers.measures.keys()
    unprinted = measured_columns(read_table("temo/figure4"), recipe)
    assert unprinted.stand_ins.keys() == unprinted.measures.keys(), "a paper's figure without printed numbers"


def test_many_methods_have_a_short_name() -> None:
    assert name_of(list("abcd"), "x") == "a-vs-b-vs-c-vs-d/x"
    assert name_of(list("abcdef"), "x") == "a-vs-b-vs-c-vs-d-vs-2-more/x"


def test_a_recipe_without_a_primary_measure_is_refused() -> None:
    bare = read_recipe("emoji-features-pairs").model_copy(update={"primary": {}})
    with pytest.raises(UsageError, match=re.escape("names no primary measure")):
        comparison(["infonce", "ts"], "some", "bare", bare)
