"""Which rows of a table are planned, with methods that a plugin adds."""

import tomllib

from support.own_tables import TABLE

from benchsuite.papers import Table
from benchsuite.planning.rows import select


def test_a_plugins_method_is_added_unless_the_table_has_rows_of_it() -> None:
    table = Table.model_validate(tomllib.loads(TABLE))
    labels = [row.label for row in select(table, [], ["ts", "infonce-learnable"])]
    assert labels == ["InfoNCE", "TS", "TeMo", "InfoNCE, learnable temperature"]
