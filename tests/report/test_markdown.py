import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.markdown_reader import tables, texts

from benchsuite.report.markdown import MOST, code, head, plain, row

HOSTILE = [
    "</code><script>alert(1)</script>",
    "<details><summary>x",
    "<!-- comment",
    "@somebody @org/team &#64;somebody",
    "#1 GH-1 owner/repository#1",
    "[a link](https://example.org) ![](https://example.org/x.png)",
    "https://example.org www.example.org a@example.org",
    "**bold** _it_ ~~no~~ $x$",
    "`` ` ```",
    "`",
    "\\",
    "\\`",
    " leading",
    "| a | b |",
    "\\|",
    "first\n\n# second\r\n- third",
    "\x1b[31mred\x1b[0m \x07 \x9b31m",
    "‮gnp.exe⁦",
    "",
    "   ",
    "x" * 5000,
]


def is_code_alone(text: str) -> bool:
    """Whether text is nothing but one code span: in a line, in a list, and in a table's cell."""
    shown = plain(text).replace("|", "¦").strip()
    places = {
        f"a {code(text)} b": ("p",),
        f"- {code(text)}": ("ul", "li"),
        f"| x |\n| --- |\n| {code(text)} |": ("table", "tbody", "tr", "td"),
    }
    for markdown, around in places.items():
        found = [(tags, data) for tags, data in texts(markdown) if "th" not in tags and data.strip() not in "ab"]
        if shown and [(tags, data.strip()) for tags, data in found] != [((*around, "code"), shown)]:
            return False
        if not shown and found:
            return False
    return True


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_nothing_but_code(text: str) -> None:
    assert is_code_alone(text)


@given(st.text(alphabet=st.sampled_from("`|\\ \n<>&@#[]()*_~!-xa"), max_size=12))
def test_no_text_leaves_its_code_span(text: str) -> None:
    assert is_code_alone(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_plain_text_is_one_short_line_without_control_characters(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert len(shown) <= MOST


def test_ordinary_names_stay_as_they_are() -> None:
    assert plain("CLIP w/ TS&ICS (τ = 0.05)") == "CLIP w/ TS&ICS (τ = 0.05)"
    assert code("RN50/TeMo") == "`RN50/TeMo`"


def test_no_cell_ends_its_column_or_its_row() -> None:
    cells = ["a | b", "first\nsecond", "| c |"]
    markdown = "\n".join([*head(["x", "y", "z"]), row(cells)])
    assert len(markdown.splitlines()) == 3
    assert tables(markdown) == [[["x", "y", "z"], ["a | b", "first second", "| c |"]]]
