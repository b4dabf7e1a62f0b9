"""Pages can be used by everyone: axe-core finds nothing on any type of page; what it cannot see is looked at here."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest
from conftest import TABLE, MadeSite, address

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: "Page") -> list[str]:
    """What axe-core objects to, with everything unfolded."""
    from axe_playwright_python.sync_playwright import Axe

    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    options = {"runOnly": RULES, "resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, options=options).response
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_type_of_page(new_page: Open, kinds: Mapping[str, str], scheme: str) -> None:
    for kind, name in kinds.items():
        assert violations(new_page(name, color_scheme=scheme)) == [], kind


def test_axe_finds_nothing_on_a_phone_with_a_sorted_and_searched_table(new_page: Open) -> None:
    page = new_page(TABLE, "?board-1.sort=1.desc&board-1.q=e&board-1.hide=2", viewport={"width": 380, "height": 740})
    assert violations(page) == []


def test_axe_finds_nothing_on_the_page_of_an_empty_folder(new_page: Open, site: MadeSite) -> None:
    page = new_page(site.empty.as_uri())
    assert violations(page) == []
    assert page.get_by_text("benchsuite repro temo/table1 --scale smoke").first.is_visible()


def test_everything_that_can_be_clicked_can_be_reached_and_shows_focus(
    new_page: Open, kinds: Mapping[str, str]
) -> None:
    for kind, name in kinds.items():
        page = new_page(name)
        deaf = page.locator("a, button, input, select, summary, [role=button], .scroll").evaluate_all(
            "all => all.filter(one => one.getClientRects().length && one.tabIndex < 0)"
            ".map(one => one.outerHTML.slice(0, 120))"
        )
        assert deaf == [], kind
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline not in ("none", "hidden"), kind


def test_the_first_tab_leads_past_the_navigation(new_page: Open) -> None:
    page = new_page(TABLE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert address(page).endswith("#main")
