import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sqrt

import pytest
from scipy import stats
from support.measured import HIGH, LOW, side

from benchsuite.records.schema import Record
from benchsuite.verify import reproduction_lines as report
from benchsuite.verify.reproduction import TableAgain, tables_again

Make = Callable[..., tuple[Record, bytes]]
Values = Mapping[str, Sequence[float]]
PUBLISHED = {"InfoNCE": LOW, "TeMo": HIGH}


def again(make: Make, values: Values, published: Values = PUBLISHED, processor: str = "another") -> TableAgain:
    """The table measured again, on another kind of machine where nothing else is said."""
    there = side(partial(make, environment={"processor": "one"}), published)
    (table,) = tables_again(there, side(partial(make, environment={"processor": processor}), values))
    return table


def hows(table: TableAgain) -> dict[str, str]:
    return {cell.name: cell.how for cell in table.cells}


def moved(values: Sequence[float], by: float) -> list[float]:
    return [value + by for value in values]


def test_equal_folders_agree(make_record: Make) -> None:
    table = again(make_record, PUBLISHED, processor="one")
    assert (table.agrees, set(hows(table).values()), len(table.runs)) == (True, {"equal"}, 8)
    assert all(verdict.same for verdict in table.verdicts)


def test_on_the_same_kind_of_machine_no_digit_may_move(make_record: Make) -> None:
    table = again(make_record, {**PUBLISHED, "TeMo": moved(HIGH, 1e-9)}, processor="one")
    assert not table.agrees
    assert "RN50/TeMo, seed 0: run again: 2 of its numbers differ on the same kind" in str(table.problems[0])
    assert again(make_record, {**PUBLISHED, "TeMo": moved(HIGH, 1e-9)}).agrees


@pytest.mark.parametrize(("share", "how"), [(0.99, "within bounds"), (1.01, "outside")])
def test_the_bound_is_that_of_two_means_of_the_shared_seeds(make_record: Make, share: float, how: str) -> None:
    """Of four cells, one in 1,000 tables."""
    t = stats.t.isf(0.001 / 2 / 4, 3)
    bound = t * statistics.stdev(HIGH) * sqrt(2 / 3)
    table = again(make_record, {"InfoNCE": LOW, "TeMo": moved(HIGH[:3], share * bound)})
    assert hows(table)["RN50/TeMo, MSCOCO IR@1"] == how
    assert table.cells[2].seeds == [0, 1, 2]
    assert table.agrees is (how == "within bounds")


def test_runs_of_other_seeds_are_not_compared(make_record: Make) -> None:
    there, here = side(make_record, PUBLISHED), side(make_record, PUBLISHED, first=len(HIGH))
    (table,) = tables_again(there, here)
    assert (list(table.cells), list(table.runs)) == ([], [])


def test_two_published_seeds_state_no_bound(make_record: Make) -> None:
    table = again(make_record, {"TeMo": moved(HIGH[:2], 0.2)}, {"TeMo": HIGH[:2]})
    assert set(hows(table).values()) == {"not judged"}
    assert table.agrees
    assert "not judged, moved by +20.0 over 2 seeds\n" in report.as_text([table])


def test_a_verdict_that_turns_to_its_opposite_does_not_agree(make_record: Make) -> None:
    """However wide the bounds are."""
    wide = {"InfoNCE": (0.1, 0.3, 0.5, 0.7), "TeMo": (0.11, 0.3101, 0.51, 0.7102)}
    table = again(make_record, {"InfoNCE": wide["TeMo"], "TeMo": wide["InfoNCE"]}, wide)
    assert set(hows(table).values()) == {"within bounds"}
    (verdict, _) = table.verdicts
    assert (verdict.published.kind, verdict.again.kind) == ("reproduced", "opposite")
    assert not table.agrees
    assert "reproduced -> opposite" in report.as_text([table])


def test_a_verdict_that_becomes_undecided_is_told_and_agrees(make_record: Make) -> None:
    wide = {"InfoNCE": (0.1, 0.3, 0.5, 0.7), "TeMo": (0.11, 0.3101, 0.51, 0.7102)}
    table = again(make_record, {"InfoNCE": wide["InfoNCE"], "TeMo": (0.3, 0.1, 0.7, 0.5)}, wide)
    assert table.agrees
    text = report.as_text([table])
    assert "verdicts: 0 of 2 the same" in text
    assert "MSCOCO IR@1: reproduced -> undecided" in text


def test_rows_that_only_one_folder_has_are_not_compared_and_nothing_compared_is_no_agreement(make_record: Make) -> None:
    table = again(make_record, {"TeMo": HIGH})
    assert {name.split(",")[0] for name in hows(table)} == {"RN50/TeMo"}
    assert table.agrees
    assert not again(make_record, {"TS": HIGH}).agrees
