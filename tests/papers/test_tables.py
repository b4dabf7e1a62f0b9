"""Table files: read as the paper prints them, refused by name where they are wrong, at one with the registries."""

from pathlib import Path

import pytest
from consistency import disagreements, problems
from support.scales import check_scale

from benchsuite.errors import UsageError
from benchsuite.papers import Table, paper_names, read_table, table_names
from benchsuite.papers.reader import usual_scale
from benchsuite.planning.recipe import read_recipe, recipe_names
from benchsuite.records.requests import file_digest
from benchsuite.registry import methods
from benchsuite.toml_files import read_toml

MINIMAL = """
file_format = 1
paper = "p"
table = "t"
locator = "Table 1"
title = "T"
recipes = { small = "scenes-small" }
[[columns]]
key = "a"
group = "G"
label = "R@1"
measure.scenes = "retrieval.t2i_r1"
[[rows]]
label = "InfoNCE"
backbone = "RN50"
method = "infonce"
published = { a = 12.5 }
"""


@pytest.mark.parametrize("name", table_names())
def test_every_row_and_column_exists_in_the_registries(name: str) -> None:
    table = read_table(name)
    for row in table.rows:
        assert row.method is None or set(row.hyperparameters) <= {f.name for f in methods.card(row.method).fields}
    for scale in table.recipes:
        check_scale(table, scale)


@pytest.mark.parametrize("name", table_names())
def test_what_does_not_fit_in_a_table_is_noted_there(name: str) -> None:
    assert [problem for problem in problems(read_table(name)) if not problem.noted] == []


@pytest.mark.parametrize("paper", paper_names())
def test_what_two_tables_print_differently_is_noted_in_both(paper: str) -> None:
    differences = disagreements(read_table(name) for name in table_names() if name.startswith(f"{paper}/"))
    assert [problem for problem in differences if not problem.noted] == []


@pytest.mark.parametrize("name", table_names())
def test_every_table_has_numbers_or_curves_and_runs_at_smoke(name: str) -> None:
    table = read_table(name)
    assert any(row.published for row in table.rows) or table.plots
    assert "smoke" in table.recipes or not any(row.method for row in table.rows)


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_reads(name: str) -> None:
    recipe = read_recipe(name)
    assert all(recipe.setup(backbone).temperature_factor == recipe.temperature_factor for backbone in recipe.backbones)


def test_a_minimal_table_reads(tmp_path: Path) -> None:
    table = read(tmp_path, MINIMAL)
    assert table.name == "p/t"
    assert table.rows[0].published["a"].value == 12.5
    assert table.rows[0].published["a"].read == "table"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("locator", "locatr", 'key "locatr" does not exist'),
        ("label = \"R@1\"", "label = \"R@1\"\nstandin = 1", 'key "standin" does not exist'),
        ("a = 12.5", "b = 12.5", 'row "InfoNCE": column "b" does not exist (known: a)'),
        ("a = 12.5", "a = 112.5", 'row "InfoNCE", column a: 112.5 is not a percentage'),
        ("a = 12.5", "a = \"12,5\"", "published"),
        ("method = \"infonce\"\n", "", 'row "InfoNCE" (RN50) needs either a method or not_run'),
        ("file_format = 1", "file_format = 2", "file_format"),
        ("[[rows]]", "[[rows", "not valid TOML"),
        ("locator", 'factors = ["optimiser.lr"]\nlocator', 'factors: setting "optimiser" does not exist'),
    ],
)  # fmt: skip
def test_a_wrong_table_file_is_refused_by_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, MINIMAL.replace(old, new))
    assert message in str(refused.value)
    assert str(tmp_path / "t.toml") in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("a = 12.5", "a = 112.5", 17), ("a = 12.5", "b = 12.5", 17), ("locator", "locatr", 5), ('"R@1"', "1", 11)],
)
def test_a_refusal_names_the_line(tmp_path: Path, old: str, new: str, line: int) -> None:
    with pytest.raises(UsageError, match=rf"t\.toml, line {line}: "):
        read(tmp_path, MINIMAL.replace(old, new))


def test_a_plot_is_of_columns_that_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, f'{MINIMAL}\n[[plots]]\ntitle = "P"\nx = "a"\ny = ["b"]\n')
    assert 'plot "P": column "b" does not exist (known: a)' in str(refused.value)
    line = f"{MINIMAL}\n[[plots]]".count("\n") + 1
    assert f"t.toml, line {line}: " in str(refused.value)


def test_what_is_searched_does_not_stay_as_printed(tmp_path: Path) -> None:
    said = 'title = "T"\nprinted = ["tau_max", "tau_min"]\nsearched = ["tau_min"]'
    with pytest.raises(UsageError, match=r't\.toml, line 8: "tau_min" is in printed, too'):
        read(tmp_path, MINIMAL.replace('title = "T"', said))


def test_a_row_twice_is_refused(tmp_path: Path) -> None:
    rows = MINIMAL[MINIMAL.index("[[rows]]") :]
    with pytest.raises(UsageError, match='row "RN50/InfoNCE" appears twice'):
        read(tmp_path, MINIMAL + rows)


def test_a_whole_name_is_that_of_its_row_though_a_variant_has_the_label_too(tmp_path: Path) -> None:
    rows = MINIMAL[MINIMAL.index("[[rows]]") :]
    table = read(tmp_path, MINIMAL + rows + 'variant = "long"\n')
    assert [table.row(name).variant for name in ("RN50/InfoNCE", "RN50/long/InfoNCE", "long/InfoNCE")] == [
        "",
        "long",
        "long",
    ]
    with pytest.raises(UsageError, match="names 2 rows"):
        table.row("InfoNCE")


def read(folder: Path, text: str) -> Table:
    file = folder / "t.toml"
    file.write_text(text)
    return read_toml(file, Table)


def test_real_features_are_taken_where_no_scale_is_named() -> None:
    for name in table_names():
        assert usual_scale([name]) == ("features" if "features" in read_table(name).recipes else "small"), name


def test_what_is_said_of_another_scale_changes_nothing_at_this_one() -> None:
    table = read_table("temo/table1")
    said = {**table.premises[0].unmet, "smoke": "another reason"}
    changed = [table.premises[0].model_copy(update={"unmet": said}), *table.premises[1:]]
    other = table.model_copy(update={"premises": changed, "recipes": {**table.recipes, "mine": "mine"}})
    assert file_digest(other.at("features")) == file_digest(table.at("features"))
    assert file_digest(other.at("smoke")) != file_digest(table.at("smoke"))
