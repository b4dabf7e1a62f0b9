"""Which rows of a table are planned, with methods that a plugin adds."""

import tomllib

import pytest
from support.own_tables import TABLE

from benchsuite.errors import UsageError
from benchsuite.papers import Table
from benchsuite.planning.rows import select
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
