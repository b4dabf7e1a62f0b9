"""What is copied is what was exported."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from conftest import TABLE, soon

if TYPE_CHECKING:
    from playwright.sync_api import Page
import pytest

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]


def test_copying_a_command_puts_its_text_on_the_clipboard(new_page: Open) -> None:
    page = new_page(TABLE, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Reproduce", exact=True).click()
    box = page.locator(".copybox", has_text="benchsuite repro").first
    box.get_by_role("button", name="Copy").click()
    assert soon(lambda: box.get_by_role("status").inner_text() == "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == box.locator("pre").text_content()


def test_where_the_clipboard_is_refused_the_text_is_selected_instead(new_page: Open) -> None:
    page = new_page(TABLE)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }")
    page.get_by_text("Reproduce", exact=True).click()
    box = page.locator(".copybox", has_text="benchsuite repro").first
    box.get_by_role("button").click()
    assert soon(lambda: box.get_by_role("status").inner_text() == "Selected")
    assert page.evaluate("String(getSelection())").strip() == box.locator("pre").inner_text().strip()
