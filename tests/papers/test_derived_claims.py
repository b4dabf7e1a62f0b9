from typing import Any

import pytest
from consistency import disagreements, problems

from benchsuite.papers import Table, read_table, table_names
from benchsuite.papers.claim import claims_of, claims_of_added, headline_claims


def table(rows: list[dict[str, Any]], **changes: Any) -> Table:
    columns = [
        {"key": "a", "group": "G", "label": "up", "measure": "retrieval.t2i_r1"},
        {"key": "b", "group": "G", "label": "down", "measure": "geometry.gap", "unit": "number", "better": "lower"},
        {"key": "c", "group": "G", "label": "none", "measure": "geometry.alignment", "unit": "number",
         "better": "neither"},
    ]  # fmt: skip
    head = {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"}}
    return Table.model_validate({**head, "columns": columns, "rows": rows, **changes})


def row(label: str, a: float, role: str = "baseline", **changes: Any) -> dict[str, Any]:
    return {"label": label, "backbone": "B", "method": "infonce", "role": role, "published": {"a": a}, **changes}


def claimed(table: Table) -> list[tuple[str, str, str]]:
    return [(claim.row[2], claim.reference[2], claim.column.key) for claim in claims_of(table)]


def test_the_proposed_method_is_compared_with_each_baseline_in_the_printed_direction() -> None:
    printed = table([row("worse", 1), row("better", 9), row("ours", 5, "proposed")])
    assert claimed(printed) == [("ours", "worse", "a"), ("better", "ours", "a")]


def test_baselines_are_not_compared_with_each_other_and_steps_are() -> None:
    assert claimed(table([row("one", 1), row("two", 2)])) == []
    assert claimed(table([row("one", 1, "step"), row("two", 2, "step")])) == [("two", "one", "a")]


def test_where_lower_is_better_the_lower_wins_and_where_neither_is_nothing_is_claimed() -> None:
    rows = [row(n, v, "step", published={"b": v, "c": v}) for n, v in (("low", 1.0), ("high", 2.0))]
    assert claimed(table(rows)) == [("low", "high", "b")]
    assert claims_of(table(rows))[0].published == 1.0


def test_equal_numbers_and_dashes_of_printed_rows_claim_nothing() -> None:
    rows = [row("one", 1), row("ours", 1, "proposed", published={"a": 1, "b": 1}), row("dash", 0, published={"c": 1})]
    assert claimed(table(rows)) == []


@pytest.mark.parametrize("printed", ["none", "one", "ours"])
def test_where_a_row_has_no_published_number_the_proposed_one_is_claimed_to_be_better(printed: str) -> None:
    roles = {"one": "baseline", "ours": "proposed", "two": "step"}
    rows = [row(n, 9, role, **({} if n == printed else {"published": {}})) for n, role in roles.items()]
    assert claimed(table(rows)) == [
        ("ours", "one", "a"), ("ours", "one", "b"), ("ours", "two", "a"), ("ours", "two", "b")
    ]  # fmt: skip
    assert {claim.published for claim in claims_of(table(rows))} == {None}


@pytest.mark.parametrize("name", table_names())
def test_built_in_tables_claim_what_their_paper_prints_or_says(name: str) -> None:
    found = claims_of(read_table(name))
    assert [c.name for c in found if c.published is None and not c.locator] == []
    assert headline_claims([read_table(name)]) == sum(c.headline for c in found)


def test_headline_claims_come_first_also_where_the_text_says_the_same_twice() -> None:
    said = {"statement": "s", "locator": "l", "row": "ours", "reference": "one", "columns": ["a"]}
    other = {**said, "reference": "two"}
    made = table(
        [row("one", 1), row("two", 2), row("ours", 5, "proposed")], claims=[other, said, {**said, "headline": "a"}]
    )
    assert [(claim.reference[2], claim.headline) for claim in claims_of(made)] == [("one", True), ("two", False)]
    assert headline_claims([made]) == 1


def test_an_added_row_is_compared_with_the_first_baseline_of_its_setup_that_can_be_run() -> None:
    rows = [row("quoted", 9, method=None, not_run="no code"), row("ours", 5, "proposed"), row("step", 1, "step"),
            row("base", 1), row("other", 2), row("elsewhere", 1, "step", backbone="C")]  # fmt: skip
    keys = [("B", "", "mine"), ("C", "", "mine"), ("D", "", "mine"), ("B", "V", "mine")]
    asked = claims_of_added(table(rows), keys)
    assert [(claim.row[0], claim.reference[2], claim.column.key) for claim in asked] == [
        ("B", "base", "a"), ("B", "base", "b"), ("C", "elsewhere", "a"), ("C", "elsewhere", "b")
    ]  # fmt: skip
    assert all(claim.added and claim.published is None for claim in asked)


@pytest.mark.parametrize("other", [{"backbone": "C"}, {"variant": "V"}])
def test_rows_under_other_setups_are_not_compared(other: dict[str, str]) -> None:
    assert claimed(table([row("one", 1, **other), row("ours", 2, "proposed")])) == []


def test_steps_that_differ_in_a_factor_are_compared() -> None:
    rows = [row("one", 1, "step", variant="verb"), row("two", 2, "step", variant="noun")]
    assert claimed(table(rows)) == []
    assert claimed(table(rows, factors=["clusters"])) == [("two", "one", "a")]


def test_a_claim_of_the_text_comes_first_with_its_place() -> None:
    text = {
        "statement": "ours gains 4",
        "locator": "abstract",
        "row": "ours",
        "reference": "B/one",
        "columns": ["a"],
        "by": 4,
    }
    first, second = claims_of(table([row("one", 1), row("two", 2), row("ours", 5, "proposed")], claims=[text]))
    assert (first.locator, first.by, first.published, second.locator) == ("abstract", 4, 4, "")
    assert second.reference[2] == "two", "the table's own claim is the same comparison as the text's"
    assert first.name == "B/ours beats B/one on G up"


@pytest.mark.parametrize("selector", ["nobody", "one"])
def test_a_claim_about_no_row_or_several_is_refused(selector: str) -> None:
    text = {"statement": "s", "locator": "", "row": selector, "reference": "ours", "columns": ["a"]}
    rows = [row("one", 1), row("one", 1, variant="V"), row("ours", 2)]
    with pytest.raises(ValueError, match=r'"nobody" does not exist|"one" names 2 rows; say which'):
        table(rows, claims=[text])


def mean(printed: float, note: str = "") -> Table:
    columns = [{"key": k, "group": "", "label": k, "measure": "x.y"} for k in ("a", "b")]
    columns.append({"key": "m", "group": "", "label": "Mean", "measure": "x.y", "mean_of": ["a", "b"]})
    cell = {"value": printed, "note": note}
    return table([row("one", 0, published={"a": 10.25, "b": 20.5, "m": cell})], columns=columns)


def test_a_mean_that_is_not_that_of_its_columns_is_found() -> None:
    assert problems(mean(15.38)) == []
    (problem,) = problems(mean(15.41))
    assert "15.41 is printed, the mean of its columns is 15.38" in problem.description
    assert not problem.noted
    assert problems(mean(15.41, "the paper says so"))[0].noted


@pytest.mark.parametrize(
    ("by", "fits"), [(1.6, True), (1.64, True), (1.65, True), (1.8, False), (1.63, True), (1.62, False), (3.0, False)]
)
def test_a_claim_that_is_not_the_difference_of_its_cells_is_found(by: float, fits: bool) -> None:
    text = {"statement": "s", "locator": "", "row": "ours", "reference": "one", "columns": ["a"], "by": by}
    assert (problems(table([row("one", 21.64), row("ours", 23.28)], claims=[text])) == []) is fits


def printed(name: str, label: str, value: float, note: str = "", **changes: Any) -> Table:
    return table([row(label, value, published={"a": {"value": value, "note": note}}, **changes)], table=name)


def test_a_number_that_two_tables_print_differently_is_found() -> None:
    same = {"hyperparameters": {"tau": 0.1}}
    first, second = printed("t1", "CLIP", 1.5, **same), printed("t2", "InfoNCE", 2.5, **same)
    other = printed("t3", "CLIP", 3.5, hyperparameters={"tau": 0.2})
    (problem,) = disagreements([first, second, other])
    assert "1.5 in p/t1, B/CLIP, G up; 2.5 in p/t2, B/InfoNCE, G up" in problem.description


@pytest.mark.parametrize(
    ("note1", "note2", "noted"),
    [
        ("", "", False),
        ("t2 has 2.5.", "", False),
        ("t2 has 2.5.", "Odd.", False),
        ("t2 has 2.5.", "t1 has 1.50.", True),
    ],
)
def test_each_of_two_numbers_must_note_the_other(note1: str, note2: str, noted: bool) -> None:
    (problem,) = disagreements([printed("t1", "CLIP", 1.5, note1), printed("t2", "CLIP", 2.5, note2)])
    assert problem.noted is noted


def test_figures_repeat_numbers_of_tables() -> None:
    assert disagreements([printed("t1", "CLIP", 1.5), printed("figure6", "CLIP", 2.5)]) == []
