"""The words by which a search over all pages finds a page."""

import json

from benchsuite.report.words import index, words


def test_words_of_headings_captions_and_heads_of_rows_and_columns_are_found_each_once() -> None:
    page = (
        "<title>Not this</title><h2 id=a>Gains <i>of</i> TeMo</h2><p>not that</p><thead><tr>"
        '<th scope="row"><a href="x">TeMo</a> &lt;b&gt; R&amp;D</th><td>1.5 nor here</td></thead>'
        "<th>R@1 12 <svg><text>drawn</text></svg></th><svg><text>nor drawn</text></svg><figcaption>By step</figcaption>"
    )
    assert words(page) == "gains of temo <b> r&d r@1 12 by step"


def test_the_list_of_pages_is_a_script_of_plain_data() -> None:
    pages = [("tables/one", "</script>\u2028", 'a "word"')]
    script = index(pages)
    assert script.isascii()
    assert [tuple(page) for page in json.loads(script.removeprefix("const PAGES = ").removesuffix(";\n"))] == pages
