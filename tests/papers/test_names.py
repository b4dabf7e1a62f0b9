import pytest

from benchsuite.errors import UsageError
from benchsuite.papers import named_tables, read_table, table_names


def test_a_paper_is_all_of_its_tables_and_all_is_every_table() -> None:
    assert named_tables(["temo"]) == [name for name in table_names() if name.startswith("temo/")]
    assert named_tables(["all"]) == table_names()


def test_a_paper_brings_in_tables_with_a_recipe_at_the_scale_alone() -> None:
    tables = named_tables(["all"], "smoke")
    assert tables == [name for name in table_names() if "smoke" in read_table(name).recipes]


@pytest.mark.parametrize(
    ("name", "message"),
    [("temo/tabel1", 'Did you mean "temo/table1"'), ("temmo", 'Did you mean "temo"')],
)
def test_an_unknown_table_is_named_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        named_tables([name])


def test_a_scale_that_no_table_has_is_named() -> None:
    with pytest.raises(UsageError, match=r'temo: scale "smal" does not exist .*Did you mean "small'):
        named_tables(["temo"], "smal")


@pytest.mark.parametrize("name", ["temo", "", "../recipes/scenes-small", "temo/../temo/table1", "temo/table99"])
def test_only_a_papers_table_is_read(name: str) -> None:
    with pytest.raises(UsageError, match=f'table "{name}" does not exist'):
        read_table(name)


def test_tables_stand_in_the_order_of_their_numbers() -> None:
    numbers = [int("".join(c for c in name if c.isdigit())) for name in table_names() if name.startswith("temo/table")]
    assert numbers == sorted(numbers)
