from collections.abc import Callable

import pytest
from support.measured import HIGH, LOW, TIED, measured, side

from benchsuite.analysis.building import build_table
from benchsuite.analysis.folder_diff import Difference, FolderDiff, FolderSide, Kind, diff_folders
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]
NONE = FolderSide("nothing", [], {})


def of_kind(diff: FolderDiff, kind: Kind) -> dict[tuple[str, ...], Difference]:
    """The differences of the only table that differs, by the values of their keys."""
    (table,) = diff.tables.values()
    return {tuple(value for _, value in d.item.keys): d for d in table if d.item.kind == kind}


def cells(diff: FolderDiff) -> dict[tuple[str, ...], tuple[str, float | None, float | None]]:
    """Row and column to what became of it and both means."""
    return {
        keys: (cell.change, cell.before and cell.before.mean, cell.after and cell.after.mean)
        for keys, cell in of_kind(diff, "cells").items()
    }


def test_a_folder_differs_from_itself_in_nothing(make_record: MakeRecord) -> None:
    diff = diff_folders(*[side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})] * 2)
    assert diff.same
    assert not diff.tables
    assert diff_folders(NONE, NONE).same


def test_cells_are_added_removed_or_changed_by_their_values(make_record: MakeRecord) -> None:
    before = side(make_record, {"InfoNCE": (0.5,), "TS": (0.25,), "TeMo": (0.5,), "CWCL": ()})
    after = side(make_record, {"InfoNCE": (0.5,), "TS": (0.75,), "TeMo": (), "CWCL": (0.125,)})
    assert cells(diff_folders(before, after)) == {
        ("RN50/TS", "coco_ir1"): ("changed", 0.25, 0.75),
        ("RN50/TS", "coco_tr1"): ("changed", 0.125, 0.375),
        ("RN50/TeMo", "coco_ir1"): ("removed", 0.5, None),
        ("RN50/TeMo", "coco_tr1"): ("removed", 0.25, None),
        ("RN50/CWCL", "coco_ir1"): ("added", None, 0.125),
        ("RN50/CWCL", "coco_tr1"): ("added", None, 0.0625),
    }


def test_verdicts_that_are_of_another_kind_are_named(make_record: MakeRecord) -> None:
    before = side(make_record, {"InfoNCE": LOW, "TeMo": TIED})
    diff = diff_folders(before, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH}))
    verdicts = {keys: (v.before.kind, v.after.kind) for keys, v in of_kind(diff, "verdicts").items()}
    assert verdicts == {
        ("RN50/TeMo", "RN50/InfoNCE", column): ("undecided", "reproduced") for column in ("coco_ir1", "coco_tr1")
    }


def test_ranks_count_only_where_some_row_is_significantly_worse(make_record: MakeRecord) -> None:
    tied = side(make_record, {"InfoNCE": LOW, "TeMo": TIED})
    decided = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    ranks = of_kind(diff_folders(tied, decided), "ranks")
    better, worse = ranks["RN50/TeMo", "coco_ir1"], ranks["RN50/InfoNCE", "coco_ir1"]
    assert (better.before, better.after, worse.before, worse.after) == (None, 1, None, 2)
    back = of_kind(diff_folders(decided, tied), "ranks")["RN50/InfoNCE", "coco_ir1"]
    assert (back.before, back.after, back.change) == (2, None, "removed")


def test_a_whole_table_that_was_added_or_removed_shows_all_its_cells_and_verdicts(make_record: MakeRecord) -> None:
    there = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    for sides, change in (((NONE, there), "added"), ((there, NONE), "removed")):
        diff = diff_folders(*sides)
        assert [table.change for table in of_kind(diff, "tables").values()] == [change]
        assert [kind for kind, *_ in cells(diff).values()] == [change] * 4
        (verdict,) = {(v.before.kind, v.after.kind) for v in of_kind(diff, "verdicts").values()} - {
            ("not run", "undecided"),
            ("undecided", "not run"),
        }
        assert verdict == (("not run", "reproduced") if change == "added" else ("reproduced", "not run"))
        assert of_kind(diff, "missing runs") == {}


def test_differences_are_in_reading_order(make_record: MakeRecord) -> None:
    before = side(make_record, {"InfoNCE": LOW, "TeMo": TIED, "TS": LOW})
    after = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH}, description="Other.")
    (table,) = diff_folders(before, after).tables.values()
    kinds = dict.fromkeys(difference.item.kind for difference in table)
    assert list(kinds) == ["cells", "verdicts", "ranks", "missing runs", "page text"]
    assert [d.item.kind for d in table] == sorted((d.item.kind for d in table), key=list(kinds).index)


def without_seed_0(whole: FolderSide, title: str) -> FolderSide:
    """A side without a row's first record."""
    records = {run: record for run, record in whole.records.items() if record.method.title != title or record.seed}
    view = whole.views[0]
    return FolderSide("results", [build_table(view.table, view.request, records, {})], records)


def test_rows_that_come_go_or_miss_other_runs_say_so(make_record: MakeRecord) -> None:
    whole = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    rows = of_kind(diff_folders(whole, without_seed_0(whole, "TeMo")), "missing runs")
    assert [(keys, row.change, row.before, row.after) for keys, row in rows.items()] == [
        (("RN50/TeMo",), "changed", "", "not run yet: seed 0")
    ]
    other = diff_folders(side(make_record, {"TeMo": LOW}), side(make_record, {"CWCL": LOW}))
    rows = of_kind(other, "missing runs")
    assert {keys: row.change for keys, row in rows.items()} == {("RN50/TeMo",): "removed", ("RN50/CWCL",): "added"}


@pytest.mark.parametrize(
    ("field", "value", "name", "sides"),
    [
        ("description", "All is well.", "description", ("", "All is well.")),
        ("temperature_factor", 4.0, "temperature_factor", (1.0, 4.0)),
        ("tuned", {"rate": "by hand"}, "tuned.rate", (None, "by hand")),
    ],
)
def test_what_a_page_says_beside_its_numbers_is_compared(
    make_record: MakeRecord, field: str, value: object, name: str, sides: tuple[object, object]
) -> None:
    values = {"TeMo": LOW}
    diff = diff_folders(side(make_record, values), side(make_record, values, **{field: value}))
    assert {keys: (d.before, d.after) for keys, d in of_kind(diff, "page text").items()} == {(name,): sides}
    assert not cells(diff)


def test_records_are_added_removed_or_changed_by_run_and_digest(make_record: MakeRecord) -> None:
    before, after = side(make_record, {"TeMo": LOW[:2]}), side(make_record, {"TeMo": LOW[1:2]})
    _, more = measured(make_record, {"CWCL": LOW[:1]})
    after = FolderSide("results", after.views, {**after.records, **{record.run_id: record for record, _ in more}})
    records = diff_folders(before, after).records
    seeds = [(record.change, (record.after or record.before).seed) for record in records]
    assert sorted(seeds) == [("added", 0), ("changed", 0), ("removed", 1)]
    (changed,) = [record for record in records if record.change == "changed"]
    assert (changed.before.run_id, changed.before.digest) != (changed.before.run_id, changed.after.digest)
    assert changed.before.run_id == changed.after.run_id
    assert [record.after.method.title for record in records if record.change == "added"] == ["CWCL"]
