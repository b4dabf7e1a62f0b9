from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from support.html_pages import Reading

from benchsuite.registry import methods
from benchsuite.report.render import IMPLIED, aligned, math, paragraphs, prose, terse

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


def test_end_tags_are_left_out_where_html_implies_them_and_nowhere_else() -> None:
    table = "<table><tr><th>a </th>\n<td>b</td>\n</tr>\n<tr><td>c</td></tr>\n</table>\n<dl><dt>d</dt> <dd>e</dd></dl>"
    assert IMPLIED.sub("", table) == "<table><tr><th>a <td>b<tr><td>c</table>\n<dl><dt>d<dd>e</dl>"
    for text in ("<th>a</th> b", "<pre>&lt;td>a&lt;/td>&lt;td></pre>", "<li>a</li><li>b</li>"):
        assert IMPLIED.sub("", text) == text


class Tokens(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs, "ended"))

    def handle_data(self, data: str) -> None:
        self.found.append(data)


VALUES = st.text(st.sampled_from("aZ0-_./#:+,%=&;<>\"'` \n?–"), max_size=8)


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=4))
def test_attributes_without_quotes_say_the_same(parts: list[tuple[str, str, str]]) -> None:
    page = "".join(
        f'<a class="{escape(one)}" href="{escape(two)}">{escape(text)} ="{escape(one)}" </a><path d="{escape(two)}"/>'
        for one, two, text in parts
    )
    assert Tokens(terse(page)).found == Tokens(page).found


def test_quotes_go_where_nothing_needs_them() -> None:
    assert terse('<td class="n" id="a.b">="c" </td>') == '<td class=n id=a.b>="c" </td>'
    for kept in (
        '<td class="n m">',
        '<td class="">',
        '<a href="x/">',
        '<rect x="1"/>',
        '<a href="?a=b">',
        '<a title="\'">',
    ):
        assert terse(kept) == kept
