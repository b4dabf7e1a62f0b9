"""Figures without printed numbers: what they draw are the numbers of the paper's tables."""

from collections.abc import Iterator

import pytest

from benchsuite.papers import Table, read_table, table_names

Number = tuple[tuple[str | None, str, str], float]


def numbers(table: Table) -> Iterator[Number]:
    """Each printed number with what was measured of which method."""
    for row in table.rows:
        for key, cell in row.published.items():
            measure = table.column(key).measure
            yield (row.method, repr(sorted(row.hyperparameters.items())), str(measure)), cell.value


@pytest.mark.parametrize("figure", ["figure6", "figure7"])
def test_a_figure_of_the_modality_gap_paper_draws_the_numbers_of_its_tables(figure: str) -> None:
    tables = [read_table(f"modality-gap/table{number}") for number in range(2, 6)]
    printed = {number for table in tables for number in numbers(table)}
    drawn = set(numbers(read_table(f"modality-gap/{figure}")))
    assert len(drawn) == 26 * 4
    assert drawn <= printed


@pytest.mark.parametrize("name", [name for name in table_names() if "/figure" in name])
def test_a_plot_shows_columns_that_exist_or_curves_over_the_training(name: str) -> None:
    table = read_table(name)
    keys = {column.key for column in table.columns}
    assert table.plots
    for plot in table.plots:
        assert plot.x == "step" or {plot.x, *plot.y} <= keys
