import pytest

from benchsuite.report.links import Links, slug

PAGES = ["index", "tables/temo-table1-small", "methods/temo", "claims/temo-small"]


def test_addresses_are_relative_to_the_page_they_stand_on() -> None:
    table = Links("tables/temo-table1-small", PAGES)
    assert table.page("methods/temo") == "../methods/temo.html"
    assert table.page("index", "tables") == "../index.html#tables"
    assert table.page("tables/temo-table1-small", "claims") == "#claims"
    assert table.file("static/site.css") == "../static/site.css"
    assert Links("index", PAGES).page("methods/temo", "cost") == "methods/temo.html#cost"
    assert Links("index", PAGES).file("static/site.css") == "static/site.css"


def test_a_link_to_nowhere_is_an_error() -> None:
    links = Links("index", PAGES)
    assert not links.has("claims/other")
    with pytest.raises(KeyError, match="index links to claims/other, which is no page"):
        links.page("claims/other")


def test_names_become_harmless_addresses_that_stay_different() -> None:
    assert slug("infonce-learnable") == "infonce-learnable"
    hostile = [
        "<script>alert(1)</script>",
        "../../etc/passwd",
        "..",
        "",
        "javascript:alert(1)",
        "a/b",
        "a b",
        "a:b",
        "Ä",
    ]
    slugs = [slug(name) for name in hostile]
    assert len(set(slugs)) == len(hostile)
    assert all(one and set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for one in slugs)
    assert all(one.strip("._-") and not one.startswith(".") for one in slugs)
