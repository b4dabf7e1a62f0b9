from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from benchsuite.analysis.rows import Cell
from benchsuite.analysis.stats import compare
from benchsuite.papers import Column, PublishedCell
from benchsuite.records.schema import Record
from benchsuite.report import numbers

MakeRecord = Callable[..., tuple[Record, bytes]]


def with_recall(make: MakeRecord, seed: int, value: float) -> Record:
    result = make(seed)[0].results["retrieval"]
    metrics = {**result.metrics, "i2t_r1": value}
    return make(seed, results={"retrieval": result.model_copy(update={"metrics": metrics})})[0]


def shown(printed: float | None, records: Mapping[int, Record], unit: str = "percent") -> tuple[str, str, str]:
    column = Column.model_validate({"key": "a", "group": "", "label": "", "measure": "", "unit": unit})
    source = None if printed is None else PublishedCell(value=printed)
    cell = Cell(column, source, records, "retrieval.i2t_r1")
    return numbers.published(cell), numbers.measured(cell), numbers.difference(cell)


def test_numbers_are_percent_with_half_their_interval_or_plain(make_record: MakeRecord) -> None:
    records = {seed: with_recall(make_record, seed, value) for seed, value in enumerate((0.1, 0.2))}
    assert shown(21.64, records)[:2] == ("21.64", "15.0 ± 63.5")
    assert shown(35, {0: records[0]})[:2] == ("35.00", "10.0")
    assert shown(14.321, {})[:2] == ("14.321", "–")
    assert shown(None, {})[:2] == ("–", "–")
    assert shown(0.294, records, unit="number")[:2] == ("0.294", "0.150 ± 0.635")
    assert [numbers.counted(n, "seed") for n in (0, 1, 3, 1200)] == ["0 seeds", "1 seed", "3 seeds", "1,200 seeds"]


def test_points_of_a_column_stand_in_one_line_whatever_other_columns_have() -> None:
    def cell(value: float | None, unit: str) -> Cell:
        column = Column.model_validate({"key": "a", "group": "", "label": "", "measure": "", "unit": unit})
        return Cell(column, None if value is None else PublishedCell(value=value), {}, "retrieval.i2t_r1")

    rows = [[cell(21.6, "percent"), cell(0.123456, "number"), cell(None, "percent")],
            [cell(35, "percent"), cell(2, "number"), cell(None, "percent")]]  # fmt: skip
    view: Any = SimpleNamespace(columns=range(3), rows=[SimpleNamespace(cells=cells) for cells in rows])
    assert numbers.decimals(view) == [2, 4, 0]


def test_a_difference_is_ours_minus_theirs_with_its_sign(make_record: MakeRecord) -> None:
    records = {seed: with_recall(make_record, seed, value) for seed, value in enumerate((0.1, 0.2))}
    assert shown(21.64, records)[2] == "−6.6"
    assert shown(5, records)[2] == "+10.0"
    assert [shown(printed, records)[2] for printed in (15.04, 14.96)] == ["0.0", "0.0"]
    assert shown(0.294, records, unit="number")[2] == "−0.144"
    assert (shown(None, records)[2], shown(21.64, {})[2]) == ("–", "–")


def test_a_paired_difference_shows_half_of_its_interval() -> None:
    pair = compare({0: 0.30, 1: 0.33}, {0: 0.20, 1: 0.21})
    assert numbers.paired(pair, "percent") == "+11.0 ± 12.7"  # t of 1 degree of freedom, 12.706
    alone = compare({0: 0.3}, {0: 0.1})
    assert numbers.paired(alone, "number") == "+0.200"
    assert numbers.paired(None, "percent") == "–"


def test_costs_are_multiples_and_what_is_unknown_is_a_dash() -> None:
    assert [numbers.times(2.345), numbers.times(None)] == ["×\N{NO-BREAK SPACE}2.35", "–"]
    assert [numbers.megabytes(84_600_000), numbers.megabytes(None)] == ["85 MB", "–"]
    assert [numbers.amount(value) for value in (515088, 2.5e6, 31.51174, None)] == [
        "515,088",
        "2,500,000",
        "31.51",
        "–",
    ]


def test_what_is_missing_sorts_as_nothing_and_nought_as_a_number() -> None:
    assert [numbers.sort_key(None), numbers.sort_key(0.0), numbers.sort_key(-1.5)] == ["", 0.0, -1.5]


def test_numbers_in_other_units_are_not_sorted_among_percentages() -> None:
    values = [(-0.2, "number"), (0.3, "percent"), (0.01, "number"), (-0.5, "percent")]
    ordered = sorted(values, key=lambda value: numbers.order(*value))
    assert ordered == [(-0.5, "percent"), (0.3, "percent"), (-0.2, "number"), (0.01, "number")]
    assert numbers.order(None, "number") == ""
