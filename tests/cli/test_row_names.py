import pytest

from benchsuite.cli.shared.options import parse_names
from benchsuite.papers import read_table, table_names


def test_names_come_one_by_one_or_with_commas() -> None:
    assert parse_names(["infonce, temo", "ts"]) == ["infonce", "temo", "ts"]
    assert parse_names(None) == []


@pytest.mark.parametrize("table", table_names())
def test_every_row_can_be_named_whatever_its_label(table: str) -> None:
    rows = read_table(table).rows
    labels = {label for row in rows for label in row.names}
    for row in rows:
        assert parse_names([row.name], labels) == [row.name]
