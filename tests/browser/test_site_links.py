"""Every link leads somewhere, every page can be reached, and none leaves the files; a link to a claim shows it."""

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from conftest import MadeSite
from conftest import address as address_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

ADDRESSES = ("href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href", "background", "cite")


class Addresses(HTMLParser):
    """Ids and addresses of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses += [value or "" for name, value in attrs if name in ADDRESSES]


def pages_of(folder: Path) -> dict[Path, Addresses]:
    return {file: Addresses(file) for file in folder.rglob("*.html")}


@pytest.fixture(scope="module")
def pages(site: MadeSite) -> dict[Path, Addresses]:
    return pages_of(site.folder)


def target(page: Addresses, address: str) -> tuple[Path, str]:
    parts = urlsplit(address)
    assert not parts.scheme, f"{page.file}: {address}"
    assert not parts.netloc, f"{page.file}: {address}"
    file = (page.file.parent / unquote(parts.path)).resolve() if parts.path else page.file
    return file, unquote(parts.fragment)


def broken(pages: dict[Path, Addresses]) -> list[str]:
    found = []
    for page in pages.values():
        for address in page.addresses:
            if address.startswith("data:,"):
                continue
            file, anchor = target(page, address)
            if not file.is_file():
                found.append(f"{page.file}: {address} is no file")
            elif anchor and anchor not in pages[file].ids:
                found.append(f"{page.file}: {address} names no place")
    return found


def test_every_link_resolves(pages: dict[Path, Addresses]) -> None:
    assert sum(len(page.addresses) for page in pages.values()) > 600
    assert broken(pages) == []


def test_every_link_of_the_published_results_resolves(published: Path) -> None:
    assert broken(pages_of(published)) == []


def test_every_page_can_be_reached_from_the_first(site: MadeSite, pages: dict[Path, Addresses]) -> None:
    reached, waiting = set(), [site.folder.resolve() / "index.html"]
    by_file = {file.resolve(): page for file, page in pages.items()}
    while waiting:
        file = waiting.pop()
        if file in by_file and file not in reached:
            reached.add(file)
            waiting += [target(by_file[file], one)[0] for one in by_file[file].addresses if not one.startswith("data:")]
    assert set(by_file) - reached == set()


def test_a_link_to_a_claim_shows_its_row_below_the_head_of_the_table(new_page: Callable[..., "Page"]) -> None:
    page = new_page("claims/temo-small")
    anchors = page.locator("table.claims tbody tr[id]").evaluate_all("rows => rows.map(row => row.id)")
    assert len(anchors) >= 3, "of claims that were tested, and of one that was not"
    page.set_viewport_size({"width": 1280, "height": 500})
    for anchor in anchors:
        page.goto(f"{address_of(page).partition('#')[0]}#{anchor}")
        row, head = page.locator(f"[id='{anchor}']"), page.locator(f"table:has([id='{anchor}']) thead")
        shown, above = row.bounding_box(), head.bounding_box()
        assert shown is not None
        assert above is not None
        assert shown["y"] >= above["y"] + above["height"] - 1
        assert shown["y"] < 500
