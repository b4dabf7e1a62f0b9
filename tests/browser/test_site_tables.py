"""Tables sort, filter, search and hide columns, by pointer and by keyboard, and keep it all in the address."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import OWN, OWN_CLAIMS, TABLE, address, soon

from benchsuite.report.pages import KINDS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]


def rows(page: "Page", table: str) -> list[str]:
    """The name of each row that is shown: the first line of its first cell."""
    return [
        text.strip().partition("\n")[0]
        for text in page.locator(f"[id='{table}'] tbody th[scope=row]").all_inner_texts()
    ]


def numbers(page: "Page", table: str, column: int) -> list[float | None]:
    """What a column sorts by, from the top; None where there is nothing."""
    script = "(rows, column) => rows.map(row => row.cells[column].dataset.order)"
    found = page.locator(f"[id='{table}'] tbody tr").evaluate_all(script, column)
    return [float(one) if one else None for one in found]


def head(page: "Page", table: str, text: str, nth: int = 0) -> "Locator":
    return page.locator(f"[id='{table}'] thead th", has_text=text).nth(nth)


def sort(page: "Page", table: str, column: str) -> None:
    """Click a head and wait for its column to be sorted another way."""
    cell = head(page, table, column)
    before = cell.get_attribute("aria-sort")
    cell.get_by_role("button").click()
    assert soon(lambda: cell.get_attribute("aria-sort") != before)


def tools(page: "Page", table: str) -> "Locator":
    return page.locator(f".tools[data-for='{table}']")


def filter_of(page: "Page", table: str, column: str) -> "Locator":
    return tools(page, table).get_by_role("combobox", name=column, exact=True)


def state(page: "Page") -> dict[str, str]:
    return {key: value for key, (value,) in parse_qs(urlsplit(address(page)).query).items()}


def in_order(values: list[float | None], reverse: bool = False) -> list[float | None]:
    known = sorted((one for one in values if one is not None), reverse=reverse)
    return [*known, *[None] * (len(values) - len(known))]


@pytest.mark.parametrize("key", ["click", "Enter", "Space"])
def test_a_column_sorts_by_pointer_and_by_key(new_page: Open, key: str) -> None:
    page = new_page(TABLE)
    before = rows(page, "board-2")
    values = numbers(page, "board-2", 1)
    assert None in values, "a row without a number is what this test is about"
    cell = head(page, "board-2", "IR@1")
    button = cell.get_by_role("button")
    assert cell.get_attribute("aria-sort") is None

    def press() -> None:
        if key == "click":
            button.click()
        else:
            button.press(key)

    button.focus()
    height = page.evaluate("scrollY")
    press()
    assert soon(lambda: cell.get_attribute("aria-sort") == "ascending")
    assert numbers(page, "board-2", 1) == in_order(values)
    press()
    assert soon(lambda: cell.get_attribute("aria-sort") == "descending")
    assert numbers(page, "board-2", 1) == in_order(values, reverse=True)
    press()
    assert soon(lambda: cell.get_attribute("aria-sort") is None)
    assert rows(page, "board-2") == before
    assert key == "click" or page.evaluate("scrollY") == height, "the key scrolled the page"


def test_verdicts_sort_in_the_order_in_which_pages_list_them(new_page: Open) -> None:
    page = new_page(OWN_CLAIMS)
    sort(page, "claims-table", "Verdict")
    found = [text.split(maxsplit=1)[1] for text in page.locator("#claims-table tbody .verdict").all_inner_texts()]
    shown = [{"reproduced": "reproduced here", "opposite": "opposite here"}.get(kind, kind) for kind in KINDS]
    assert list(dict.fromkeys(found)) == [kind for kind in shown if kind in found]
    assert len(set(found)) == 2


def test_search_keeps_the_rows_that_fit_and_counts_them(new_page: Open) -> None:
    page = new_page(TABLE)
    every = rows(page, "board-1")
    tools(page, "board-1").get_by_label("Search").fill("dystress")
    assert rows(page, "board-1") == ["DySTreSS"]
    assert tools(page, "board-1").get_by_role("status").inner_text() == f"1 of {len(every)} rows"
    assert len(rows(page, "board-2")) == 4, "the other board stays as it is"
    tools(page, "board-1").get_by_label("Search").fill("no such row")
    assert "No matching rows" in page.locator("#board-1 tbody").inner_text()
    tools(page, "board-1").get_by_label("Search").fill("")
    assert rows(page, "board-1") == every


def test_a_filter_shows_one_kind_of_rows(new_page: Open) -> None:
    page = new_page(OWN_CLAIMS)
    filter_of(page, "claims-table", "Verdict").select_option("opposite here")
    shown = page.locator("#claims-table tbody .verdict").all_inner_texts()
    assert shown
    assert {one.split(maxsplit=1)[1] for one in shown} == {"opposite here"}
    filter_of(page, "claims-table", "Verdict").select_option("")
    assert len(rows(page, "claims-table")) > len(shown)


def test_a_hidden_column_is_gone_with_its_head(new_page: Open) -> None:
    page = new_page(TABLE)
    cells = page.locator("#board-1 tbody tr").first.locator("> *")
    before = cells.count()
    group = page.locator("#board-1 thead th", has_text=re.compile("^MSCOCO"))
    assert group.get_attribute("colspan") == "2"
    tools(page, "board-1").locator("summary").click()
    tools(page, "board-1").get_by_label("MSCOCO TR@1").uncheck()
    assert cells.count() == before - 1
    assert group.get_attribute("colspan") in (None, "1")
    assert head(page, "board-1", "TR@1").inner_text() == head(page, "board-1", "TR@1").inner_text()
    tools(page, "board-1").get_by_label("MSCOCO TR@1").check()
    assert cells.count() == before
    assert group.get_attribute("colspan") == "2"


@pytest.mark.parametrize(
    ("line", "selector"),
    [("published", "td .theirs"), ("ours", "td > .ours"), ("difference", ".diff"), ("verdicts", ".marks")],
)
def test_each_line_of_the_cells_can_be_left_out(new_page: Open, line: str, selector: str) -> None:
    page = new_page(OWN)
    one = page.locator(f"#board-1 tbody {selector}", has_text=re.compile(r"\d")).first
    box = tools(page, "board-1").get_by_label(line, exact=True)
    assert one.is_visible()
    box.uncheck()
    assert not one.is_visible()
    assert page.locator(f"#board-2 tbody {selector}", has_text=re.compile(r"\d")).first.is_visible()
    box.check()
    assert one.is_visible()


def change_all(page: "Page") -> None:
    """Search, sort, hide a column, leave out a line."""
    mine = tools(page, "board-1")
    mine.get_by_label("Search").fill("e")
    sort(page, "board-1", "IR@1")
    sort(page, "board-1", "IR@1")
    mine.locator("summary").click()
    mine.get_by_label("MSCOCO TR@1").uncheck()
    mine.get_by_label("verdicts").uncheck()


def seen(page: "Page") -> str:
    """The board as it is shown."""
    return page.locator("#board-1").inner_text()


def test_the_address_keeps_what_was_changed(new_page: Open) -> None:
    page = new_page(TABLE)
    plain = address(page)
    assert not state(page)
    change_all(page)
    assert state(page) == {"board-1.q": "e", "board-1.sort": "1.desc", "board-1.hide": "2", "board-1.no": "verdicts"}
    changed = seen(page)
    page.reload()
    assert seen(page) == changed
    assert head(page, "board-1", "IR@1").get_attribute("aria-sort") == "descending"
    assert tools(page, "board-1").get_by_label("Search").input_value() == "e"
    assert not tools(page, "board-1").get_by_label("verdicts").is_checked()
    assert seen(new_page(address(page))) == changed, "the address can be sent to someone else"
    assert address(page) != plain


def test_reset_shows_the_page_as_it_was_written_at_a_clean_address(new_page: Open) -> None:
    page = new_page(TABLE)
    plain, before = address(page), seen(page)
    change_all(page)
    tools(page, "board-2").get_by_label("Search").fill("temo")
    assert seen(page) != before
    tools(page, "board-1").get_by_role("button", name="Reset").click()
    assert seen(page) == before
    assert state(page) == {"board-2.q": "temo"}
    tools(page, "board-2").get_by_role("button", name="Reset").click()
    assert address(page) == plain


@pytest.mark.parametrize(
    "query",
    [
        "?board-1.sort=99.asc",
        "?board-1.hide=99,x,-1",
        "?board-1.no=everything",
        "?board-1.f7=x",
        "?x=%3Cb%3E#%",
        "#%zz",
    ],
)
def test_an_address_that_asks_for_what_is_not_there_shows_the_table(new_page: Open, query: str) -> None:
    assert seen(new_page(TABLE, query)) == seen(new_page(TABLE))
