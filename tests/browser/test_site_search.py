"""Search over all pages: by pointer and by keyboard, from a folder of files, and on a phone."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from conftest import OWN, TABLE, MadeSite

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


def test_pages_with_all_words_are_offered_those_that_are_called_so_first(new_page: Open, site: MadeSite) -> None:
    page = new_page(TABLE)
    titles = look_for(page, "TEMO method")
    assert titles[0] == "Method TeMo"
    assert page.get_by_role("status").filter(has_text="pages").count() == 1
    page.get_by_role("link", name="Method TeMo").click()
    page.wait_for_url(site.url("methods/temo"))


def test_return_leads_to_the_first_page_and_escape_closes_the_list(new_page: Open, site: MadeSite) -> None:
    page = new_page("index")
    look_for(page, "infonce method")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.get_by_role("list", name="Pages found").count() == 0
    look_for(page, "infonce method")
    page.keyboard.press("Enter")
    page.wait_for_url(site.url("methods/infonce"))


def test_words_of_no_page_are_said_to_be_on_none(new_page: Open) -> None:
    assert look_for(new_page("index"), "temo quaternion") == ["No page has all these words."]


def test_more_pages_than_fit_are_counted(new_page: Open) -> None:
    titles = look_for(new_page("index"), "e")
    assert len(titles) == 13
    assert titles[-1].endswith("more pages have these words.")


def test_the_list_stays_on_a_phones_screen_and_shows_a_hostile_title_as_it_is(new_page: Open, site: MadeSite) -> None:
    page = new_page("index", viewport={"width": 380, "height": 800})
    titles = look_for(page, "own/hostile")
    assert titles
    box = page.get_by_role("list", name="Pages found").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 380
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(site.url(OWN))
