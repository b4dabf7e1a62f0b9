from collections.abc import Callable, Mapping
from typing import Any

import pytest
from support.exported import TABLE, VALUES, build

from benchsuite.analysis.boards import boards
from benchsuite.analysis.omnibus import friedman
from benchsuite.analysis.overall import overall_of_board, overall_of_table
from benchsuite.analysis.results import table_tests
from benchsuite.papers import Table
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]


def changed(**changes: Any) -> Table:
    """The table with other columns."""
    return TABLE.model_copy(update={"columns": [c.model_copy(update=changes) for c in TABLE.columns]})


def test_each_column_is_tested_and_rows_are_compared_with_the_first_baseline(make_record: MakeRecord) -> None:
    (board,) = overall_of_table(build(make_record, VALUES))
    higher, lower = board.columns
    assert board.reference == "Best"
    assert higher.omnibus == lower.omnibus == friedman({name: dict(enumerate(row)) for name, row in VALUES.items()})
    assert {name: found.probability for name, found in higher.improvements.items()} == {"Twin_2": 0.5, "Worst": 0.0}
    assert lower.improvements["Worst"].probability == 1.0
    assert (board.reason, board.size) == ("", (3, 4))


def test_without_a_better_direction_rows_may_differ_but_not_improve(make_record: MakeRecord) -> None:
    (board,) = overall_of_table(build(make_record, VALUES, changed(better="neither")))
    assert board.columns[0].omnibus.w is not None
    assert board.columns[0].improvements == {}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"Twin_2": (0.1, 0.2, 0.3)}, "1 row has values; the test needs at least 3"),
        (
            {"Best": (0.1,), "Twin_2": (0.2,), "Worst": (0.3,)},
            "1 seed is shared by all rows; the test needs at least 3",
        ),
    ],
)
def test_a_reason_that_all_columns_share_is_said_once(
    make_record: MakeRecord, values: Mapping[str, tuple[float, ...]], reason: str
) -> None:
    (board,) = overall_of_table(build(make_record, values))
    assert board.reason == reason
    assert ("Twin_2" in board.columns[0].improvements) == ("Best" in values), "not over a reference that was not run"


def test_a_board_is_tested_as_a_table_is(make_runs: Callable[..., dict[int, Record]]) -> None:
    levels = {"infonce": (0.1, 0.2, 0.3), "ts": (0.2, 0.4, 0.4), "temo": (0.3, 0.5, 0.6)}
    records = [record for method, values in levels.items() for record in make_runs(method, values).values()]
    (board,) = boards(records)
    reference = next(row for row in board.rows if row.method == "infonce")
    test = overall_of_board(board, reference)
    (column,) = test.columns
    assert (column.omnibus.w, column.omnibus.p, column.omnibus.exact) == (1.0, pytest.approx(6 / 216), True)
    assert {name: found.seeds for name, found in column.improvements.items()} == dict.fromkeys(
        (row.label for row in board.rows if row is not reference), (0, 1, 2)
    )


def test_a_seed_at_which_two_rows_may_not_be_paired_is_left_out(make_runs: Callable[..., dict[int, Record]]) -> None:
    rows = [make_runs(name, (0.1, 0.2, 0.3, 0.4)) for name in ("infonce", "ts", "temo")]
    record = rows[2][1]
    other = make_runs("temo", (None, 0.2), digests={**record.digests, "initial_weights": "other"})[1]
    (board,) = boards([r for row in rows for r in row.values() if r is not record] + [other])
    test = overall_of_board(board, next(row for row in board.rows if row.method == "infonce"))
    assert test.columns[0].omnibus.seeds == (0, 2, 3)
    assert sorted(found.seeds for found in test.columns[0].improvements.values()) == [(0, 1, 2, 3), (0, 2, 3)]


def test_data_has_what_the_page_shows(make_record: MakeRecord) -> None:
    first, second = table_tests(build(make_record, VALUES))
    (board,) = overall_of_table(build(make_record, VALUES))
    assert (first["column"], second["column"]) == ("a", "b")
    assert (first["kendall_w"], first["p"]) == (board.columns[0].omnibus.w, board.columns[0].omnibus.p)
    assert first["improvement"]["Twin_2"]["probability"] == 0.5
