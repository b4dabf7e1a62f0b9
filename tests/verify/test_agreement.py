import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from pathlib import Path

import pytest
from scipy import stats
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, side

from benchsuite.analysis.results import ResultsFolder
from benchsuite.verify.agreement import FolderDiff, TableDiff, as_data, lines
from benchsuite.verify.audit import NO_CONTENTS

Values = Mapping[str, Sequence[float]]
PUBLISHED = {"InfoNCE": LOW, "TeMo": HIGH}


def between(make: MakeRecord, values: Values, published: Values = PUBLISHED, processor: str = "another") -> FolderDiff:
    """A folder with the table, and one measured again, on another kind of machine where nothing else is said."""
    there = side(partial(make, environment={"processor": "one"}), published)
    return FolderDiff(there, side(partial(make, environment={"processor": processor}), values))


def again(make: MakeRecord, values: Values, published: Values = PUBLISHED, processor: str = "another") -> TableDiff:
    (table,) = between(make, values, published, processor).tables
    return table


def hows(table: TableDiff) -> dict[str, str]:
    return {cell.name: cell.how for cell in table.cells}


def moved(values: Sequence[float], by: float) -> list[float]:
    return [value + by for value in values]


def test_equal_folders_agree(make_record: MakeRecord) -> None:
    table = again(make_record, PUBLISHED, processor="one")
    assert (table.agrees, set(hows(table).values()), len(table.runs)) == (True, {"equal"}, 8)
    assert all(verdict.same for verdict in table.verdicts)


def test_on_the_same_kind_of_machine_no_digit_may_move(make_record: MakeRecord) -> None:
    table = again(make_record, {**PUBLISHED, "TeMo": moved(HIGH, 1e-9)}, processor="one")
    assert not table.agrees
    assert "RN50/TeMo, seed 0: run again: 3 of its numbers differ on the same kind" in str(table.problems[0])
    assert again(make_record, {**PUBLISHED, "TeMo": moved(HIGH, 1e-9)}).agrees


@pytest.mark.parametrize(("share", "how"), [(0.99, "within bounds"), (1.01, "outside")])
def test_the_bound_is_that_of_two_means_of_the_shared_seeds(make_record: MakeRecord, share: float, how: str) -> None:
    """Of four cells, one in 1,000 tables."""
    t = stats.t.isf(0.001 / 2 / 4, 3)
    bound = t * statistics.stdev(HIGH) * sqrt(2 / 3)
    table = again(make_record, {"InfoNCE": LOW, "TeMo": moved(HIGH[:3], share * bound)})
    assert hows(table)["RN50/TeMo, MSCOCO IR@1"] == how
    assert table.cells[2].seeds == [0, 1, 2]
    assert table.agrees is (how == "within bounds")


def test_runs_of_other_seeds_are_not_compared(make_record: MakeRecord) -> None:
    diff = FolderDiff(side(make_record, PUBLISHED), side(make_record, PUBLISHED, first=len(HIGH)))
    (table,) = diff.tables
    assert (set(hows(table).values()), list(table.runs)) == ({"not judged"}, [])
    assert not table.agrees
    assert not diff.agrees


def test_two_published_seeds_state_no_bound(make_record: MakeRecord) -> None:
    table = again(make_record, {"TeMo": moved(HIGH[:2], 0.2)}, {"TeMo": HIGH[:2]})
    assert set(hows(table).values()) == {"not judged"}
    assert table.agrees


def test_a_verdict_that_turns_to_its_opposite_does_not_agree(make_record: MakeRecord) -> None:
    """However wide the bounds are."""
    wide = {"InfoNCE": (0.1, 0.3, 0.5, 0.7), "TeMo": (0.11, 0.3101, 0.51, 0.7102)}
    diff = between(make_record, {"InfoNCE": wide["TeMo"], "TeMo": wide["InfoNCE"]}, wide)
    (table,) = diff.tables
    assert set(hows(table).values()) == {"within bounds"}
    assert (table.verdicts[0].before, table.verdicts[0].after) == ("reproduced", "opposite")
    assert not table.agrees
    assert any(line.endswith("MSCOCO IR@1: reproduced -> opposite") for line in lines(diff))


def test_a_verdict_that_becomes_undecided_is_told_and_agrees(make_record: MakeRecord) -> None:
    wide = {"InfoNCE": (0.1, 0.3, 0.5, 0.7), "TeMo": (0.11, 0.3101, 0.51, 0.7102)}
    diff = between(make_record, {"InfoNCE": wide["InfoNCE"], "TeMo": (0.3, 0.1, 0.7, 0.5)}, wide)
    assert diff.agrees
    assert "  verdicts that both have: 1, of which 0 are the same" in list(lines(diff))
    assert any(line.endswith("MSCOCO IR@1: reproduced -> undecided") for line in lines(diff))


def test_rows_that_only_one_folder_has_are_told_and_nothing_compared_is_no_agreement(make_record: MakeRecord) -> None:
    diff = between(make_record, {"TeMo": HIGH, "CWCL": (0.25,)})
    (table,) = diff.tables
    assert {name.split(",")[0]: how for name, how in hows(table).items()} == {
        "RN50/TeMo": "equal", "RN50/CWCL": "added", "RN50/InfoNCE": "removed",
    }  # fmt: skip
    assert table.agrees
    told = list(lines(diff))
    assert "    RN50/CWCL, MSCOCO IR@1: – -> 25.0 (1 seed)" in told
    assert any(line.endswith("beats RN50/InfoNCE on MSCOCO IR@1: reproduced -> not selected") for line in told)
    assert not again(make_record, {"TS": HIGH}).agrees


def test_a_table_that_only_one_folder_has_is_added_or_removed_and_no_agreement(make_record: MakeRecord) -> None:
    there, nothing = side(make_record, PUBLISHED), ResultsFolder(Path("nothing"), NO_CONTENTS, [])
    for sides, change in (((nothing, there), "added"), ((there, nothing), "removed")):
        diff = FolderDiff(*sides)
        (table,) = diff.tables
        assert {cell.how for cell in table.cells} == {each for each, _ in diff.records} == {change}
        assert not diff.agrees
        assert [*lines(diff)][-2:] == [f"tables: 1 {change}", f"  {change}: temo/table1 at scale small"]
    assert not FolderDiff(nothing, nothing).agrees


def test_of_many_removed_records_some_are_named_and_all_are_data(make_record: MakeRecord) -> None:
    many = side(make_record, dict.fromkeys(("TeMo", "TS", "CWCL"), HIGH))
    diff = FolderDiff(many, ResultsFolder(Path("nothing"), NO_CONTENTS, []))
    assert len(diff.records) == len(as_data(diff)["records"]) == 12
    named = [line for line in lines(diff) if line.startswith("  removed: ")]
    assert len(named) == 11 + 1, "a table, too"
    assert named[10] == "  removed: 2 more, which --json lists"


def test_records_are_added_removed_or_changed_by_run_and_digest(make_record: MakeRecord) -> None:
    diff = between(make_record, {"TeMo": HIGH[1:2], "CWCL": LOW[:1]}, {"TeMo": HIGH[:2]})
    assert sorted((change, record.method.title) for change, record in diff.records) == [
        ("added", "CWCL"), ("changed", "TeMo"), ("removed", "TeMo"),
    ]  # fmt: skip
    told = list(lines(diff))
    assert "records: 1 added, 1 changed, 1 removed" in told
    assert any(line.startswith("  removed: TeMo, seed 1, run ") for line in told)


def test_data_have_the_values_of_both_by_seed_unrounded(make_record: MakeRecord) -> None:
    (table,) = as_data(between(make_record, {"TeMo": moved(HIGH[:3], 0.001)}, {"TeMo": HIGH}))["tables"]
    cell, other = table["cells"]
    assert cell["before"] == {str(seed): value for seed, value in enumerate(HIGH)}
    assert cell["moved"] == pytest.approx(0.001)
    assert cell["bound"] > other["bound"] > 0
