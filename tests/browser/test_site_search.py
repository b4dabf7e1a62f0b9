"""Search over all pages: by pointer and by keyboard, from a folder of files, and on a phone."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from conftest import OWN, TABLE, MadeSite, address
from support.made_results import TITLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]


def look_for(page: "Page", words: str) -> list[str]:
    """Type words as a visitor does; the titles that are offered."""
    page.get_by_label("Search all pages").press_sequentially(words)
    found = page.get_by_role("list", name="Pages found")
    found.wait_for()
    return found.get_by_role("listitem").all_inner_texts()


def test_a_page_that_is_called_so_comes_first(new_page: Open, site: MadeSite) -> None:
    page = new_page(TABLE)
    titles = look_for(page, "TEMO")
    assert titles[0] == "Method TeMo"
    assert page.get_by_role("status").filter(has_text="pages").count() == 1
    page.get_by_role("link", name="Method TeMo").click()
    page.wait_for_url(site.url("methods/temo"))


def test_each_word_must_be_on_the_page_numbers_too(new_page: Open) -> None:
    page = new_page("index")
    one = look_for(page, "temo/table1")
    page.get_by_label("Search all pages").clear()
    assert {*look_for(page, "temo/table1 r@1")} <= {*one}
    page.get_by_label("Search all pages").clear()
    assert look_for(page, "temo 31415") == ["No page has all these words."]


def test_return_leads_to_the_first_page_and_escape_takes_the_list_away(new_page: Open, site: MadeSite) -> None:
    page = new_page("index")
    look_for(page, "infonce method")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.get_by_role("list", name="Pages found").count() == 0
    page.keyboard.press("Enter")
    assert address(page) == site.url("index"), "there is nothing to lead to"
    look_for(page, "infonce method")
    page.keyboard.press("Enter")
    page.wait_for_url(site.url("methods/infonce"))


def test_arrows_walk_through_the_list(new_page: Open, site: MadeSite) -> None:
    page = new_page("index")
    titles = look_for(page, "method")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.textContent") == titles[1]
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    assert page.get_by_label("Search all pages").evaluate("input => input === document.activeElement")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=titles[0].removeprefix("Method ")).first.wait_for()


def test_the_list_goes_where_the_visitor_has_left(new_page: Open) -> None:
    page = new_page("index")
    look_for(page, "infonce")
    page.locator("h1").click()
    assert page.get_by_role("list", name="Pages found").count() == 0


def test_more_pages_than_fit_are_counted(new_page: Open) -> None:
    titles = look_for(new_page("index"), "e")
    assert len(titles) == 13
    assert titles[-1].endswith("more pages have these words.")


def test_a_hostile_title_is_shown_as_it_is(new_page: Open) -> None:
    assert f"Method {TITLE}" in look_for(new_page("index"), "method src=x")


def test_the_list_stays_on_a_phones_screen(new_page: Open, site: MadeSite) -> None:
    page = new_page("index", viewport={"width": 380, "height": 800})
    assert look_for(page, "own/hostile")
    box = page.get_by_role("list", name="Pages found").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 380
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(site.url(OWN))
