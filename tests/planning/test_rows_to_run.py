"""Which rows of a table are planned, with methods that a plugin adds."""

import tomllib

import pytest
from support.own_tables import TABLE

from benchsuite.errors import UsageError
from benchsuite.papers import Table
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.rows import rows_to_run, select
from benchsuite.registry import methods


def test_a_plugins_method_is_added_unless_the_table_has_rows_of_it() -> None:
    table = Table.model_validate(tomllib.loads(TABLE))
    labels = [row.label for row in select(table, [], ["ts", "infonce-learnable"])]
    assert labels == ["InfoNCE", "TS", "TeMo", "InfoNCE, learnable temperature"]


@pytest.mark.parametrize("name", ["cwcl", "RN50/cwcl", "CWCL", "RN50/CWCL"])
def test_an_added_method_is_named_as_a_row_of_the_table_is(name: str) -> None:
    table = Table.model_validate(tomllib.loads(TABLE))
    title = methods.card("cwcl").title
    asked = name.replace("CWCL", title)
    assert [(row.backbone, row.label) for row in select(table, [asked], ["cwcl"])] == [("RN50", title)]
    assert [row.label for row in select(table, [asked, "RN50/ts"], [])] == ["TS", title]


def test_a_method_under_a_backbone_that_the_table_lacks_is_no_row() -> None:
    with pytest.raises(UsageError, match='row "RN51/cwcl" does not exist'):
        select(Table.model_validate(tomllib.loads(TABLE)), ["RN51/cwcl"], ["cwcl"])


def premise(rows: str, **more: str) -> str:
    about = "".join(f"{key} = {value}\n" for key, value in more.items())
    return f'[[premises]]\nstatement = "it trains"\nrows = ["{rows}"]\ncolumn = "ir1"\nat_least = 1\n{about}'


@pytest.mark.parametrize(
    ("premises", "rows"),
    [
        ("", ["InfoNCE", "TeMo"]),
        (premise("TS"), ["InfoNCE", "TS", "TeMo"]),
        (premise("TS", columns='["ir1"]') + premise("TS"), ["InfoNCE", "TS", "TeMo"]),
        (premise("TS", columns='["tr1"]'), ["InfoNCE", "TeMo"]),
        (premise("TS", concerns='["TeMo"]'), ["InfoNCE", "TS", "TeMo"]),
        (premise("TS", concerns='["TS"]'), ["InfoNCE", "TeMo"]),
    ],
)
def test_headlines_are_the_rows_that_headline_claims_and_their_premises_need(premises: str, rows: list[str]) -> None:
    """A claim without a verdict, because a row that its premise looks at was not run, would be trained for nothing."""
    table = Table.model_validate(tomllib.loads(TABLE + premises))
    tiny = read_recipe("scenes-smoke")
    assert [one.row.label for one in rows_to_run(table, tiny, ["headlines"], (), tuned=False)] == rows
    with_added = rows_to_run(table, tiny, ["headlines", "cwcl"], ["cwcl"], tuned=False)
    assert [one.row.label for one in with_added] == [*rows, methods.card("cwcl").title]


@pytest.mark.parametrize("key", ["printed", "searched"])
def test_what_stays_as_printed_or_is_searched_is_a_hyper_parameter_of_the_tables_methods(key: str) -> None:
    """Misspelt, it would be tuned, or kept, without a word: what the table varies is not for a search to choose."""
    table = Table.model_validate(tomllib.loads(TABLE))
    tiny = read_recipe("scenes-smoke")
    spelt, misspelt = (table.model_copy(update={key: [name]}) for name in ("tau_min", "tau_mim"))
    assert len(rows_to_run(spelt, tiny, (), (), tuned=True)) >= len(table.rows)
    with pytest.raises(UsageError, match=rf'{key}: hyper-parameter "tau_mim" does not exist.*Did you mean "tau_min"'):
        rows_to_run(misspelt, tiny, (), (), tuned=True)


def test_a_table_without_headline_claims_has_no_rows_of_them() -> None:
    """Not all of its rows, as where none is named."""
    table = Table.model_validate(tomllib.loads(TABLE.replace('headline = "ir1"', "")))
    with pytest.raises(UsageError, match="mine/first makes no headline claim"):
        rows_to_run(table, read_recipe("scenes-smoke"), ["headlines"], (), tuned=True)
