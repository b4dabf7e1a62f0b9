"""Differences of two results folders on a terminal and as data."""

import json
from collections.abc import Callable

import pytest
from support.measured import HIGH, LOW, TIED, side

from benchsuite.analysis.folder_diff import FolderDiff, FolderSide, diff_folders
from benchsuite.records.schema import Record
from benchsuite.report.diff_formats import as_json, as_text
from benchsuite.report.numbers import measured as shown

MakeRecord = Callable[..., tuple[Record, bytes]]
HOSTILE = "TeMo|`</code><script>\n@somebody \x1b[31m"


@pytest.fixture
def better(make_record: MakeRecord) -> FolderDiff:
    """TeMo is measured again and now beats InfoNCE; CWCL is new, TS is gone."""
    before = side(make_record, {"InfoNCE": LOW, "TeMo": TIED, "TS": (0.2,)})
    return diff_folders(before, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH, "CWCL": (0.25,)}))


def test_the_terminal_shows_cells_as_the_page_does(better: FolderDiff) -> None:
    text = as_text(better)
    (table,) = better.tables.values()
    (change,) = [d for d in table if d.item[:2] == ("cells", "RN50/TeMo, MSCOCO IR@1")]
    assert f"RN50/TeMo, MSCOCO IR@1: {shown(change.before)} (4 seeds) -> {shown(change.after)} (4 seeds)" in text
    assert "RN50/CWCL, MSCOCO IR@1: – -> 25.0 (1 seed)" in text
    assert "RN50/TS, MSCOCO IR@1: 20.0 (1 seed) -> –" in text
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: undecided -> reproduced; 19.75 points above" in text
    assert "RN50/TeMo, MSCOCO IR@1: – -> 1 ★" in text
    assert "RN50/CWCL: no such row -> none" in text
    assert "before  results: 9 records, 1 table\nafter   results: 9 records, 1 table\n" in text
    assert "\nrecords: 1 added, 4 changed, 1 removed\n" in text
    assert "\nchanged records:\n  " in text
    assert "removed records:\n  TS, seed 0, run " in text


def test_verdicts_that_only_say_that_runs_are_there_are_counted(make_record: MakeRecord) -> None:
    nothing = FolderSide("before", [], {})
    text = as_text(diff_folders(nothing, side(make_record, {"InfoNCE": LOW, "TeMo": TIED})))
    assert "    2 claims: not run -> undecided\n" in text
    text = as_text(diff_folders(nothing, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH, "TS": LOW[:1]})))
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: not run -> reproduced" in text
    assert "    2 other claims: not run -> undecided\n" in text


def test_the_verdict_of_an_added_row_comes_and_goes_with_it(make_record: MakeRecord) -> None:
    without, added = (side(make_record, {"InfoNCE": LOW, **more}) for more in ({}, {"mine": HIGH}))
    claim = "RN50/mine beats RN50/InfoNCE on MSCOCO IR@1"
    assert f"{claim}: – -> reproduced; 19.75 points above" in as_text(diff_folders(without, added))
    assert f"{claim}: reproduced -> –\n" in as_text(diff_folders(added, without))


def test_data_hold_all_of_it_in_the_columns_unit(better: FolderDiff) -> None:
    data = json.loads(as_json(better))
    assert data["same"] is False
    assert data["folders"]["before"] == {"records": 9, "skipped": [], "ignored": []}
    changes = [record["change"] for record in data["records"]]
    assert {change: changes.count(change) for change in changes} == {"added": 1, "removed": 1, "changed": 4}
    assert all({"run_id", "before", "after"} <= record.keys() for record in data["records"])
    (table,) = data["tables"]
    assert (table["table"], table["scale"]) == ("temo/table1", "small")
    cells = {(d["row"], d["column"]): d for d in table["differences"] if d["kind"] == "cells"}
    cell = cells["RN50/TeMo", "coco_ir1"]
    assert (cell["change"], cell["after"]["unit"]) == ("changed", "percent")
    assert cell["after"]["values"] == pytest.approx({"0": 30.0, "1": 31.0, "2": 33.0, "3": 32.0})
    assert cell["after"]["mean"] == pytest.approx(31.5)
    assert cell["after"]["sd"] == pytest.approx(1.2909944)
    assert (cell["before"]["seeds"], cells["RN50/CWCL", "coco_ir1"]["before"]) == (4, None)
    verdicts = {(d["row"], d["reference"], d["column"]): d for d in table["differences"] if d["kind"] == "verdicts"}
    verdict = verdicts["RN50/TeMo", "RN50/InfoNCE", "coco_ir1"]
    assert (verdict["before"]["verdict"], verdict["after"]["verdict"]) == ("undecided", "reproduced")
    assert "19.75 points above" in verdict["after"]["reason"]
    ranks = {(d["row"], d["column"]): (d["before"], d["after"]) for d in table["differences"] if d["kind"] == "ranks"}
    assert ranks["RN50/TeMo", "coco_ir1"] == (None, 1)


def test_nothing_is_said_to_differ_where_nothing_does(make_record: MakeRecord) -> None:
    diff = diff_folders(*[side(make_record, {"TeMo": HIGH})] * 2)
    assert as_text(diff).endswith("\nNothing differs.\n")
    assert json.loads(as_json(diff))["same"] is True


def test_hostile_names_stay_on_their_lines(make_record: MakeRecord) -> None:
    before = FolderSide(HOSTILE, [], {}, skipped=[HOSTILE], ignored=[HOSTILE])
    after = side(make_record, {HOSTILE: HIGH, "InfoNCE": LOW}, scale=HOSTILE, description=HOSTILE)
    text = as_text(diff_folders(before, after))
    assert "\x1b" not in text
    plain = FolderSide("x", [], {}, skipped=["x"], ignored=["x"])
    same = diff_folders(plain, side(make_record, {"x": HIGH, "InfoNCE": LOW}, scale="x", description="x"))
    assert len(text.splitlines()) == len(as_text(same).splitlines())
