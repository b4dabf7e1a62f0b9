from collections.abc import Callable

import pytest
from measured import HIGH, LOW, measured, side

from benchsuite.analysis.diff import Changes, Side, TableChange, changes
from benchsuite.analysis.tables import build_table
from benchsuite.records.schema import Record

MakeRecord = Callable[..., tuple[Record, bytes]]
NONE = Side([], {})


def one(found: Changes) -> TableChange:
    (table,) = found.tables
    return table


def cells(found: TableChange) -> dict[tuple[str, str], tuple[str, float | None, float | None]]:
    """Row and column to what became of it and both means."""
    return {
        (change.row.label, change.column.key): (
            change.kind,
            change.before and change.before.mean,
            change.after and change.after.mean,
        )
        for change in found.cells
    }


def test_a_folder_differs_from_itself_in_nothing(make_record: MakeRecord) -> None:
    found = changes(*[side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})] * 2)
    assert found.nothing
    assert not found.tables
    assert changes(NONE, NONE).nothing


def test_cells_are_new_gone_or_changed_by_their_values(make_record: MakeRecord) -> None:
    before = side(make_record, {"InfoNCE": (0.5,), "TS": (0.25,), "TeMo": (0.5,), "CWCL": ()})
    after = side(make_record, {"InfoNCE": (0.5,), "TS": (0.75,), "TeMo": (), "CWCL": (0.125,)})
    assert cells(one(changes(before, after))) == {
        ("TS", "coco_ir1"): ("changed", 0.25, 0.75),
        ("TS", "coco_tr1"): ("changed", 0.125, 0.375),
        ("TeMo", "coco_ir1"): ("gone", 0.5, None),
        ("TeMo", "coco_tr1"): ("gone", 0.25, None),
        ("CWCL", "coco_ir1"): ("new", None, 0.125),
        ("CWCL", "coco_tr1"): ("new", None, 0.0625),
    }


def test_another_seed_of_the_same_mean_is_a_change(make_record: MakeRecord) -> None:
    found = one(changes(side(make_record, {"TeMo": (0.5,)}), side(make_record, {"TeMo": (0.5, 0.5)})))
    assert [(c.before and c.before.n, c.after and c.after.n) for c in found.cells] == [(1, 2), (1, 2)]


def test_verdicts_that_are_of_another_kind_are_named(make_record: MakeRecord) -> None:
    before = side(make_record, {"InfoNCE": LOW, "TeMo": LOW})
    found = one(changes(before, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})))
    assert {(c.claim.row[2], c.claim.reference[2], c.before.kind, c.after.kind) for c in found.claims} == {
        ("TeMo", "InfoNCE", "undecided", "reproduced")
    }
    assert {c.claim.column.key for c in found.claims} == {"coco_ir1", "coco_tr1"}


def test_places_count_only_where_some_row_is_beaten(make_record: MakeRecord) -> None:
    tied = side(make_record, {"InfoNCE": LOW, "TeMo": LOW})
    told = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    found = {(p.row.label, p.column.key): (p.before, p.after) for p in one(changes(tied, told)).ranks}
    assert found["TeMo", "coco_ir1"] == (None, 1)
    assert found["InfoNCE", "coco_ir1"] == (None, 2)
    back = {(p.row.label, p.column.key): (p.before, p.after) for p in one(changes(told, tied)).ranks}
    assert back["InfoNCE", "coco_ir1"] == (2, None)


def test_a_table_that_came_or_went_shows_all_its_cells_and_verdicts(make_record: MakeRecord) -> None:
    there = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    new, gone = one(changes(NONE, there)), one(changes(there, NONE))
    assert (new.kind, gone.kind) == ("new", "gone")
    assert new.view is gone.view is there.views[0]
    assert {kind for kind, *_ in cells(new).values()} == {"new"}
    assert {kind for kind, *_ in cells(gone).values()} == {"gone"}
    assert len(new.cells) == len(gone.cells) == 4
    assert ("not run", "reproduced") in {(c.before.kind, c.after.kind) for c in new.claims}
    assert ("reproduced", "not run") in {(c.before.kind, c.after.kind) for c in gone.claims}


def test_another_scale_is_another_table(make_record: MakeRecord) -> None:
    small = side(make_record, {"TeMo": LOW})
    found = changes(small, side(make_record, {"TeMo": LOW}, scale="smoke"))
    assert [(table.kind, table.view.request.scale) for table in found.tables] == [("new", "smoke"), ("gone", "small")]


def test_rows_that_come_go_or_miss_other_runs_say_so(make_record: MakeRecord) -> None:
    whole = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    kept = {run: record for run, record in whole.records.items() if record.method.title != "TeMo" or record.seed}
    view = whole.views[0]
    cut = Side([build_table(view.table, view.request, kept, {})], kept)
    found = one(changes(whole, cut))
    assert [(row.row.label, row.kind, row.before, row.after) for row in found.rows] == [
        ("TeMo", "changed", "", "not run yet: seed 0")
    ]
    other = one(changes(side(make_record, {"TeMo": LOW}), side(make_record, {"CWCL": LOW})))
    assert {(row.row.label, row.kind) for row in other.rows} == {("TeMo", "gone"), ("CWCL", "new")}


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
    found = one(changes(side(make_record, values), side(make_record, values, **{field: value})))
    assert dict(found.words) == {name: sides}
    assert not found.cells


def test_records_are_added_removed_or_changed_by_run_and_digest(make_record: MakeRecord) -> None:
    before, after = side(make_record, {"TeMo": LOW[:2]}), side(make_record, {"TeMo": LOW[1:2]})
    _, more = measured(make_record, {"CWCL": LOW[:1]})
    after = Side(after.views, {**after.records, **{record.run_id: record for record, _ in more}})
    found = changes(before, after)
    assert [record.seed for record in found.removed] == [1]
    assert [record.method.title for record in found.added] == ["CWCL"]
    assert [(old.seed, old.run_id == new.run_id, old.digest == new.digest) for old, new in found.changed] == [
        (0, True, False)
    ]
