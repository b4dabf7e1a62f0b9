"""Without scripts everything is there; on paper too."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page
import pytest

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]
OUT_OF_SIGHT = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const text = texts.currentNode, holder = text.parentElement;
    if (!text.data.trim() || holder.closest("script, style, title, desc")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (!range.getClientRects().length) found.push(text.data.trim());
  }
  return found;
}"""
"""Texts that are not drawn anywhere."""


def open_all(page: "Page") -> None:
    """Unfold by hand whatever is folded, the outermost first."""
    while (folded := page.locator("details:not([open]) > summary:visible")).count():
        folded.first.click()


def test_every_page_shows_all_it_has_without_scripts(new_page: Open, kinds: Mapping[str, str]) -> None:
    for kind, name in kinds.items():
        page = new_page(name, java_script_enabled=False)
        open_all(page)
        assert page.evaluate(OUT_OF_SIGHT) == [], kind
        assert not page.locator(".tools:visible, .picker:visible, button:visible").count(), kind


def test_scripts_hide_nothing_either(new_page: Open, kinds: Mapping[str, str]) -> None:
    for kind, name in kinds.items():
        plain, better = (new_page(name, java_script_enabled=way) for way in (False, True))
        main = "document.querySelector('main').innerText"
        words = plain.evaluate(main).split()
        missing = set(words) - set(better.evaluate(main).split())
        assert not missing, kind


def test_paper_has_no_tools_and_whole_tables(new_page: Open, kinds: Mapping[str, str]) -> None:
    for kind, name in kinds.items():
        page = new_page(name, viewport={"width": 1040, "height": 720})  # A4, landscape, between margins
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not page.locator(".tools:visible, .picker:visible, button:visible, header.site:visible").count(), kind
        cut = page.locator(".scroll, pre").evaluate_all(
            "all => all.filter(one => one.getClientRects().length && getComputedStyle(one).overflowY !== 'visible' "
            "&& one.scrollHeight > one.clientHeight + 1).map(one => one.textContent.slice(0, 80))"
        )
        assert cut == [], kind
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{kind}: wider than the paper"
