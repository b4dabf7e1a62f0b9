import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import is_clean, is_command, is_formula, texts

from benchsuite.harmless import csv_cell, csv_text, json_lines, json_text, line, spelled


@given(texts)
def test_no_text_clears_the_screen_or_adds_a_line(text: str) -> None:
    shown = line(text)
    assert is_clean(shown)
    assert len(shown.splitlines()) <= 1
    assert not is_command(shown)


@given(st.lists(st.sampled_from(["::", ":", "#", "[", "error", " ", "\n", "\t", "\ufe0f", "\u200d", "\xa0", "x"])))
def test_no_line_is_a_command(parts: list[str]) -> None:
    shown = line("".join(parts))
    assert not is_command(shown)
    assert not is_command(shown.replace("\ufe0f", ""))


@pytest.mark.parametrize(
    "text",
    [
        "CLIP w/ TS&ICS (τ = 0.05) – 21.5 ± 8.2 ★",
        "a: b :: c",
        "#1 [x] C# ## [x]",
        "日本語 é 😀",
        "thin\u2009space\xa0here",
    ],
)
def test_ordinary_lines_stay_as_they_are(text: str) -> None:
    assert line(text) == text


def test_what_is_spelled_can_be_read() -> None:
    assert spelled("a\x1b[2J\n\u202e\U000e0001\ud800\x7f") == r"a\u001b[2J\n\u202e\udb40\udc01\ud800\u007f"
    assert spelled("a\n\tb", keep="\n") == "a\n\\tb"
    assert line("  ::error::x") == r"  \u003a:error::x"
    assert line("a ##[error]") == r"a \u0023#[error]"


@given(st.recursive(texts | st.integers() | st.none(), lambda inner: st.dictionaries(texts, inner, max_size=3)))
def test_json_is_the_same_json(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert json.loads("\n".join(map(line, text.split("\n")))) == value
    assert is_clean(text.replace("\n", ""))


@given(st.dictionaries(texts, texts | st.lists(st.dictionaries(texts, texts, max_size=2), max_size=3), max_size=3))
def test_json_in_lines_is_the_same_json(value: dict[str, object]) -> None:
    text = json_lines(value)
    assert json.loads(text) == value
    read = [json.loads(part.removesuffix(",")) for part in text.split("\n") if part.startswith("{") and len(part) > 1]
    assert read == [item for each in value.values() if isinstance(each, list) for item in each]
    assert json.loads("\n".join(map(line, text.split("\n")))) == value
    assert is_clean(text.replace("\n", ""))


@given(st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=4))
def test_csv_has_the_same_cells_and_no_formula(rows: list[list[str]]) -> None:
    found = list(csv.reader(io.StringIO(csv_text(rows))))
    assert [len(row) for row in found] == [2] * len(rows)
    for cell in (cell for row in found for cell in row):
        assert is_clean(cell)
        assert not is_formula(cell)


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@x", " =1", "'=1", '"=1', "-1+1", "－1", "--1", "-0.5;x", "+-"])
def test_what_a_spreadsheet_computes_gets_an_apostrophe(cell: str) -> None:
    assert csv_cell(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell", [-0.5, 3, None, True, "-0.5", "+1", "-1e-5", "-.5", "-inf", "a-b", "a=b", "RN50/TeMo", "x; y", "", "1 - 2"]
)
def test_numbers_and_ordinary_texts_are_cells_as_they_are(cell: object) -> None:
    assert csv_cell(cell) is cell


def test_a_cell_that_begins_after_a_semicolon_is_one_for_some_spreadsheets() -> None:
    assert csv_cell('x; =1;"-1+2') == "x;' =1;'\"-1+2"


@pytest.mark.parametrize("text", ["\t=1", "\r=1", "\n-1", "\0@x"])
def test_a_control_character_before_a_formula_leaves_none(text: str) -> None:
    assert csv_cell(text).startswith("\\")
