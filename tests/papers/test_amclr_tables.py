"""AmCLR's tables: rows that differ in the optimizer, and in nothing else of the setup."""

import pytest

from benchsuite.papers import read_table
from benchsuite.planning.recipe import read_recipe
from benchsuite.registry import methods
from benchsuite.setup import differences


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("scale", ["smoke", "small"])
def test_rows_differ_in_the_optimizer_alone(number: int, scale: str) -> None:
    table = read_table(f"amclr/table{number}")
    recipe = read_recipe(table.recipes[scale])
    plain = recipe.setup("RN50").model_dump()
    for variant in {row.variant for row in table.rows}:
        changed = differences(plain, recipe.setup("RN50", [variant]).model_dump())
        assert set(changed) == (set() if variant == "AdamW" else {"optimizer.name"})
        assert recipe.setup("RN50", [variant]).optimizer.name == variant.lower()


def test_all_tables_have_the_same_rows_so_that_one_run_fills_a_row_of_each() -> None:
    first, *others = (read_table(f"amclr/table{number}") for number in (1, 2, 3))
    for other in others:
        assert [(row.key, row.method, row.hyperparameters) for row in other.rows] == [
            (row.key, row.method, row.hyperparameters) for row in first.rows
        ]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_rows_of_isogclr_are_what_text_and_logs_say(number: int) -> None:
    rows = read_table(f"amclr/table{number}").rows
    generator = [row for row in rows if row.label == "iSogCLR w Temp Generator"]
    assert {row.method for row in generator} == {"isogclr-tempnet"}
    assert all('the variant "AmCLR\'s runs"' in row.note for row in generator)
    assert 'Variant "AmCLR\'s runs"' in methods.card("isogclr").doc
    assert {row.method for row in rows if row.label == "iSogCLR Regularized"} == {"isogclr-robust"}
