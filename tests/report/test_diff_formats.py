"""Differences of two results folders on a terminal, as data, and as a comment."""

import json
import re
from collections.abc import Callable

import pytest
from support.markdown_reader import tables, tags, texts
from support.measured import HIGH, LOW, TIED, side

from benchsuite.analysis.folder_diff import FolderDiff, FolderSide, diff_folders
from benchsuite.records.schema import Record
from benchsuite.report.diff_formats import FOLD, LIMIT, NOTE, Block, as_json, as_markdown, as_text, fitted
from benchsuite.report.numbers import measured as shown

MakeRecord = Callable[..., tuple[Record, bytes]]
HOSTILE = "TeMo|`</code><script>@somebody #1 [x](https://example.org)<!-- \x1b[31m"


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
    assert "Nothing differs." in as_markdown(diff)
    assert json.loads(as_json(diff))["same"] is True


def test_the_comment_has_a_table_for_each_kind_of_difference(better: FolderDiff) -> None:
    markdown = as_markdown(better)
    assert "#### `temo/table1` at scale `small`" in markdown
    cells, verdicts, ranks, rows = tables(markdown)
    assert cells[0] == ranks[0] == rows[0] == ["where", "before", "after"]
    assert ["`RN50/CWCL, MSCOCO IR@1`", "`–`", "`25.0 (1 seed)`"] in cells
    assert verdicts[0] == ["where", "before", "after", "why"]
    assert ["`RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1`", "`undecided`", "`reproduced`"] in [v[:3] for v in verdicts]
    assert ["`RN50/TeMo, MSCOCO IR@1`", "`–`", "`1 ★`"] in ranks
    assert ["`RN50/TS`", "`none`", "`no such row`"] in rows


def test_hostile_names_stay_names(make_record: MakeRecord) -> None:
    values = {HOSTILE: HIGH, "InfoNCE": LOW}
    before = FolderSide(HOSTILE, [], {}, skipped=[HOSTILE], ignored=[HOSTILE])
    whole = diff_folders(before, side(make_record, values, scale=HOSTILE, description=HOSTILE))
    ends = side(make_record, values, description="x"), side(make_record, {HOSTILE: LOW}, description=HOSTILE)
    for diff in (whole, diff_folders(*ends), diff_folders(*reversed(ends))):
        markdown = as_markdown(diff)
        outside = " ".join(text for around, text in texts(markdown) if "code" not in around)
        assert not [word for word in ("TeMo|", "@somebody", "#1", "example", "&lt;") if word in outside]
        assert not tags(markdown) - {"h3", "h4", "p", "ul", "li", "code", "details", "summary", "strong",
                                     "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
        assert {len({len(row) for row in table}) for table in tables(markdown)} == {1}
        assert "\x1b" not in markdown + as_text(diff)


def test_long_lists_are_folded_and_short_ones_are_not(make_record: MakeRecord) -> None:
    few = as_markdown(diff_folders(FolderSide("before", [], {}), side(make_record, {"TeMo": LOW})))
    assert "<details>" not in few
    many = {f"Mine {number}": LOW[:1] for number in range(FOLD)}
    markdown = as_markdown(diff_folders(FolderSide("before", [], {}), side(make_record, many)))
    assert f"<details><summary>Cells: {2 * FOLD}</summary>\n\n|" in markdown
    assert markdown.count("<details>") == markdown.count("\n\n</details>\n") > 0


@pytest.mark.parametrize("limit", [1_500, 3_000, 5_000, 10_000, 20_000])
def test_a_comment_is_cut_at_its_limit_and_says_what_is_missing(make_record: MakeRecord, limit: int) -> None:
    many = {f"Mine {number}": LOW[:1] for number in range(60)}
    skipped = [f"file{number}.json: truncated" for number in range(30)]
    diff = diff_folders(FolderSide("before", [], {}, skipped), side(make_record, many))
    whole, cut = as_markdown(diff), as_markdown(diff, limit)
    assert len(cut) <= limit
    assert cut.count("<details>") == cut.count("</details>")
    assert "Truncated" not in whole
    if len(whole) <= limit:
        assert cut == whole
        return
    start, _, _ = cut.partition("**Truncated")
    assert len(start) <= limit - NOTE
    assert whole.startswith(start.rstrip().removesuffix("</details>").rstrip())
    (note,) = re.findall(r"\*\*Truncated\.\*\* Lines not shown: (.*)\. `benchsuite diff`", cut)
    left = sum(int(n) for n in re.findall(r" (\d+)(?=,|$)", note))
    lines = re.compile(r"^(?:- |\| `)", re.M)
    assert len(lines.findall(whole)) - len(lines.findall(cut)) == left > 0


def test_after_a_cut_nothing_follows_under_a_title_that_is_missing() -> None:
    text = fitted([Block("long", "Title of both", ["x" * 900]), Block("short", "", ["y"])], 1_000)
    assert "Lines not shown: long 1, short 1." in text
    assert "y\n" not in text


def test_a_comment_with_everything_new_fits_into_githubs_limit(make_record: MakeRecord) -> None:
    many = {f"{'long name ' * 15}{number}": LOW[:1] for number in range(200)}
    markdown = as_markdown(diff_folders(FolderSide("before", [], {}), side(make_record, many)))
    assert "Truncated" in markdown
    assert len(markdown) <= LIMIT < 65_536


def test_what_is_judged_otherwise_comes_first(make_record: MakeRecord) -> None:
    early = side(make_record, {"InfoNCE": LOW, "TeMo": TIED}, scale="early")
    late = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="late")
    both = FolderSide("both", [*early.views, *late.views], {**early.records, **late.records})
    markdown = as_markdown(diff_folders(FolderSide("before", [], {}), both))
    assert markdown.index("#### `temo/table1` at scale `late`") < markdown.index("#### `temo/table1` at scale `early`")
