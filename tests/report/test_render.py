import pytest
from support.html_pages import Reading

from benchsuite.registry import methods
from benchsuite.report.render import aligned, math, paragraphs, prose

HOSTILE = "<script>alert(1)</script>"


@pytest.mark.parametrize("name", [name for name in methods if methods.card(name).about.get("equation")])
def test_the_equation_of_every_method_is_mathematics(name: str) -> None:
    assert str(math(methods.card(name).about["equation"])).startswith("<math")


@pytest.mark.parametrize(
    "typed", [r"\text{<img src=x onerror=alert(1)>}", r"\href{javascript:alert(1)}{x}", r"\sqrt[", HOSTILE, "a & b"]
)
def test_what_is_no_equation_shows_as_typed_and_as_text(typed: str) -> None:
    page = Reading(str(math(typed)))
    assert not {"script", "img", "a"} & set(page.tags)
    assert not page.addresses


def test_an_equation_can_be_read_by_those_who_do_not_see_it() -> None:
    assert r'alttext="\frac{1}{2}"' in math(r"\frac{1}{2}")


def test_points_stand_under_each_other_because_what_follows_is_equally_wide() -> None:
    assert aligned("21.5", 2) == '<span class="n">21<span class="f2">.5</span></span>'
    assert aligned("-1.36", 3) == '<span class="n">−1<span class="f3">.36</span></span>', "a minus sign, not a hyphen"
    assert aligned("–", 2) == '<span class="n">–<span class="f2"></span></span>'
    assert "<script>" not in aligned(HOSTILE, 1)
    assert "<script>" not in aligned(f"1.{HOSTILE}", 1)


def test_a_docstring_becomes_paragraphs_and_its_lists_keep_their_lines() -> None:
    doc = """What it is.

    Two lines
    of one thought.

    - one
    - two
    """
    assert paragraphs(doc) == ["What it is.", "Two lines of one thought.", "- one\n- two"]


def test_names_of_code_stand_out_and_all_else_is_text() -> None:
    assert prose(f"see `tau` and {HOSTILE}") == "see <code>tau</code> and &lt;script&gt;alert(1)&lt;/script&gt;"
    assert prose("an odd ` tick") == "an odd ` tick"
