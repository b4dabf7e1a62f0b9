"""Differences of two results folders on a terminal, as data, and as a comment."""

import json
import re
from collections.abc import Callable

import pytest
from markdown_reader import tables, tags, texts
from measured import HIGH, LOW, side

from benchsuite.analysis.diff import Changes, Side, changes
from benchsuite.records.schema import Record
from benchsuite.report.diff import FOLD, LIMIT, NOTE, Block, as_json, as_markdown, as_text, fitted
from benchsuite.report.numbers import measured as shown

MakeRecord = Callable[..., tuple[Record, bytes]]
HOSTILE = "TeMo|`</code><script>@somebody #1 [x](https://example.org)<!-- \x1b[31m"


@pytest.fixture
def better(make_record: MakeRecord) -> Changes:
    """TeMo is measured again and now beats InfoNCE; CWCL is new, TS is gone."""
    before = side(make_record, {"InfoNCE": LOW, "TeMo": LOW, "TS": (0.2,)})
    return changes(before, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH, "CWCL": (0.25,)}))


def test_the_terminal_shows_cells_as_the_page_does(better: Changes) -> None:
    text = as_text(better, ["old", "new"])
    (change,) = [one for one in better.tables[0].cells if (one.row.label, one.column.key) == ("TeMo", "coco_ir1")]
    assert change.before is not None
    assert change.after is not None
    assert f"RN50/TeMo, MSCOCO IR@1: {shown(change.before)} (4 seeds) -> {shown(change.after)} (4 seeds)" in text
    assert "RN50/CWCL, MSCOCO IR@1: – -> 25.0 (1 seed)" in text
    assert "RN50/TS, MSCOCO IR@1: 20.0 (1 seed) -> –" in text
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: undecided -> reproduced; 19.75 points above" in text
    assert "RN50/TeMo, MSCOCO IR@1: – -> 1 ★" in text
    assert "RN50/CWCL: no such row -> none" in text
    assert (
        "before  old: 9 records, 1 table\nafter   new: 9 records, 1 table\nrecords: 1 added, 1 removed, 4 changed"
        in text
    )
    assert "removed records:\n  TS, seed 0, run " in text


def test_verdicts_that_only_say_that_runs_are_there_are_counted(make_record: MakeRecord) -> None:
    nothing = Side([], {})
    text = as_text(changes(nothing, side(make_record, {"InfoNCE": LOW, "TeMo": LOW})), ["a", "b"])
    assert "    2 claims: not run -> undecided\n" in text
    text = as_text(changes(nothing, side(make_record, {"InfoNCE": LOW, "TeMo": HIGH, "TS": LOW[:1]})), ["a", "b"])
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: not run -> reproduced" in text
    assert "    2 other claims: not run -> undecided\n" in text


def test_data_hold_all_of_it_in_the_columns_unit(better: Changes) -> None:
    told = json.loads(as_json(better))
    assert told["same"] is False
    assert {name: len(told["records"][name]) for name in ("added", "removed", "changed")} == {
        "added": 1, "removed": 1, "changed": 4,
    }  # fmt: skip
    (table,) = told["tables"]
    assert (table["table"], table["scale"], table["kind"]) == ("temo/table1", "small", "changed")
    cells = {(one["row"], one["column"]): one for one in table["cells"]}
    moved = cells["RN50/TeMo", "coco_ir1"]
    assert (moved["kind"], moved["unit"]) == ("changed", "percent")
    assert moved["after"]["values"] == pytest.approx({"0": 30.0, "1": 31.0, "2": 33.0, "3": 32.0})
    assert moved["after"]["mean"] == pytest.approx(31.5)
    assert (moved["before"]["seeds"], cells["RN50/CWCL", "coco_ir1"]["before"]) == (4, None)
    verdicts = {
        (one["row"], one["reference"], one["column"]): (one["before"], one["after"]) for one in table["verdicts"]
    }
    assert verdicts["RN50/TeMo", "RN50/InfoNCE", "coco_ir1"] == ("undecided", "reproduced")
    places = {(one["row"], one["column"]): (one["before"], one["after"]) for one in table["ranks"]}
    assert places["RN50/TeMo", "coco_ir1"] == (None, 1)


def test_nothing_is_said_to_differ_where_nothing_does(make_record: MakeRecord) -> None:
    found = changes(*[side(make_record, {"TeMo": HIGH})] * 2)
    assert as_text(found, ["a", "b"]).endswith("\nNothing differs.\n")
    assert "Nothing differs." in as_markdown(found)
    assert json.loads(as_json(found))["same"] is True


def test_the_comment_has_a_table_for_each_kind_of_difference(better: Changes) -> None:
    markdown = as_markdown(better)
    assert "#### `temo/table1` at scale `small`" in markdown
    cells, verdicts, places, rows = tables(markdown)
    assert cells[0] == places[0] == ["row", "column", "before", "after"]
    assert ["`RN50/CWCL`", "`MSCOCO IR@1`", "`–`", "`25.0 (1 seed)`"] in cells
    assert verdicts[0] == ["claim", "before", "after", "why"]
    assert ["`RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1`", "`undecided`", "`reproduced`"] in [v[:3] for v in verdicts]
    assert ["`RN50/TeMo`", "`MSCOCO IR@1`", "`–`", "`1 ★`"] in places
    assert ["`RN50/TS`", "`none`", "`no such row`"] in rows


def test_hostile_names_stay_names(make_record: MakeRecord) -> None:
    values = {HOSTILE: HIGH, "InfoNCE": LOW}
    before = Side([], {}, left_out=[HOSTILE], foreign=[HOSTILE])
    found = changes(before, side(make_record, values, scale=HOSTILE, description=HOSTILE))
    ends = side(make_record, values, description="x"), side(make_record, {HOSTILE: LOW}, description=HOSTILE)
    for one in (found, changes(*ends), changes(*reversed(ends))):
        markdown = as_markdown(one)
        outside = " ".join(text for around, text in texts(markdown) if "code" not in around)
        assert not [word for word in ("TeMo|", "@somebody", "#1", "example", "&lt;") if word in outside]
        assert not tags(markdown) - {"h3", "h4", "p", "ul", "li", "code", "details", "summary", "strong",
                                     "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
        assert {len({len(row) for row in table}) for table in tables(markdown)} == {1}
        assert "\x1b" not in markdown + as_text(one, [HOSTILE, HOSTILE])


def test_long_lists_are_folded_and_short_ones_are_not(make_record: MakeRecord) -> None:
    few = as_markdown(changes(Side([], {}), side(make_record, {"TeMo": LOW})))
    assert "<details>" not in few
    many = {f"Mine {number}": LOW[:1] for number in range(FOLD)}
    markdown = as_markdown(changes(Side([], {}), side(make_record, many)))
    assert f"<details><summary>Cells: {2 * FOLD}</summary>\n\n|" in markdown
    assert markdown.count("<details>") == markdown.count("\n\n</details>\n") > 0


@pytest.mark.parametrize("limit", [1_500, 3_000, 5_000, 10_000, 20_000])
def test_a_comment_is_cut_at_its_limit_and_says_what_is_left_out(make_record: MakeRecord, limit: int) -> None:
    many = {f"Mine {number}": LOW[:1] for number in range(60)}
    left_out = [f"file{number}.json: truncated" for number in range(30)]
    found = changes(Side([], {}, left_out), side(make_record, many))
    whole, cut = as_markdown(found), as_markdown(found, limit)
    assert len(cut) <= limit
    assert cut.count("<details>") == cut.count("</details>")
    assert "Truncated" not in whole
    if len(whole) <= limit:
        assert cut == whole
        return
    kept, _, _ = cut.partition("**Truncated")
    assert len(kept) <= limit - NOTE
    assert whole.startswith(kept.rstrip().removesuffix("</details>").rstrip())
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
    markdown = as_markdown(changes(Side([], {}), side(make_record, many)))
    assert "Truncated" in markdown
    assert len(markdown) <= LIMIT < 65_536


def test_what_is_judged_otherwise_comes_first(make_record: MakeRecord) -> None:
    early = side(make_record, {"InfoNCE": LOW, "TeMo": LOW}, scale="early")
    late = side(make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="late")
    both = Side([*early.views, *late.views], {**early.records, **late.records})
    markdown = as_markdown(changes(Side([], {}), both))
    assert markdown.index("#### `temo/table1` at scale `late`") < markdown.index("#### `temo/table1` at scale `early`")
