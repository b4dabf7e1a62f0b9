"""Pages on phones and on wide screens, by day and by night; nothing jumps."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import TABLE, MadeSite
from support.claimed import HIGH, LOW, TWO, claimed, view
from support.html_pages import leaderboard
from support.made_records import any_record

from benchsuite.report.site import write_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]
PHONE = {"width": 380, "height": 740}
MANY = (
    "body => [...Array(8)].forEach(() => [...body.rows].slice(0, 2).forEach(row => body.append(row.cloneNode(true))))"
)
"""As of a table with many rows."""
TABLET = {"width": 680, "height": 740}
WIDE = {"width": 2560, "height": 1300}
SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(one.value);
}).observe({type: "layout-shift", buffered: true});
"""
UNFOLD = "all => all.forEach(one => { one.open = true })"


def too_wide(page: "Page") -> list[str]:
    """What sticks out of the page to the right, where anything makes the page scroll sideways."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
            .filter(one => !one.closest(".scroll *") && one.getBoundingClientRect().right > innerWidth)
            .map(one => one.outerHTML.slice(0, 120)).concat(`${document.documentElement.scrollWidth} px`)"""
    )


PARSED = """texts => texts.map(text => [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("*")]
    .map(one => [one.tagName, one.parentNode.tagName, one.children.length ? "" : one.textContent].join(" ")))"""
"""The elements that a browser makes of pages, each with the one around it."""


def test_a_browser_reads_pages_alike_without_the_end_tags_that_are_left_out(
    browser: "Browser", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regimes = ("printed", "tuned")
    views = [view(any_record, claimed(*TWO), {"old": LOW, "ours": HIGH}, regime=regime) for regime in regimes]
    write_site(tmp_path / "short", leaderboard(views))
    monkeypatch.setattr("benchsuite.report.site.ENDS", re.compile("(?!)"))
    write_site(tmp_path / "whole", leaderboard(views))
    page, shorter = browser.new_page(), 0
    for file in (tmp_path / "short").rglob("*.html"):
        texts = [(tmp_path / of / file.relative_to(tmp_path / "short")).read_text("utf-8") for of in ("short", "whole")]
        shorter += len(texts[0]) < len(texts[1])
        short, whole = page.evaluate(PARSED, texts)
        assert short == whole, file
    assert shorter


@pytest.mark.parametrize("width", [641, 700, 737, 768, 961])
def test_a_survey_of_both_regimes_fits_a_tablet(browser: "Browser", tmp_path: Path, width: int) -> None:
    column = {"group": "Downstream tasks", "label": "Image Retrieval", "unit": "number"}
    made = claimed(*({**row, "published": {"a": 0.1}} for row in TWO), column=column)
    views = [view(any_record, made, {"old": LOW, "ours": HIGH}, regime=regime) for regime in ("printed", "tuned")]
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(write_site(tmp_path, leaderboard(views)).index.as_uri())
    assert page.locator("table.fates").count() == 1
    assert too_wide(page) == []


@pytest.mark.parametrize("size", [{"width": 320, "height": 640}, PHONE, WIDE], ids=lambda size: f"{size['width']}px")
def test_no_page_scrolls_sideways(
    new_page: Open, kinds: Mapping[str, str], site: MadeSite, size: dict[str, int]
) -> None:
    for kind, name in kinds.items():
        page = new_page(name, viewport=size)
        assert too_wide(page) == [], kind
        page.locator("details").evaluate_all(UNFOLD)
        assert too_wide(page) == [], f"{kind}, unfolded"


@pytest.mark.parametrize("size", [TABLET, {"width": 1000, "height": 420}], ids=["tablet", "low window"])
@pytest.mark.parametrize(("name", "table"), [(TABLE, "board-1"), ("claims/temo-small", "claims-table")])
def test_head_and_first_column_stay_in_view(new_page: Open, name: str, table: str, size: dict[str, int]) -> None:
    page = new_page(name, viewport=size)
    region = page.locator(".scroll").filter(has=page.locator(f"#{table}"))
    page.locator(f"#{table} tbody").evaluate(MANY)
    assert region.evaluate("one => one.scrollWidth > one.clientWidth + 50 && one.scrollHeight > one.clientHeight + 50")
    region.scroll_into_view_if_needed()
    region.evaluate("one => one.scrollTo({left: 180, top: 160, behavior: 'instant'})")
    box = region.bounding_box()
    head = page.locator(f"#{table} thead").bounding_box()
    labels = [one.bounding_box() for one in page.locator(f"#{table} tbody th[scope=row]").all()[:3]]
    corner = page.locator(f"#{table} thead th").first.bounding_box()
    assert box
    assert head
    assert corner
    assert head["y"] == pytest.approx(box["y"], abs=2)
    for one in (*labels, corner):
        assert one
        assert one["x"] == pytest.approx(box["x"], abs=2)
        assert one["width"] <= 0.5 * box["width"], "the first column leaves no room for the others"
    assert corner["y"] == pytest.approx(box["y"], abs=2)
    drawn = page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('th')?.matches('thead th')", [
        corner["x"] + 10, corner["y"] + corner["height"] / 2,
    ])  # fmt: skip
    assert drawn, "the corner lies above what scrolls below it"


def test_no_table_scrolls_sideways_on_a_phone(new_page: Open, kinds: Mapping[str, str]) -> None:
    for kind, name in kinds.items():
        page = new_page(name, viewport=PHONE)
        page.locator("details").evaluate_all(UNFOLD)
        wide = page.locator(".scroll:has(table.data)").evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"
        )
        assert wide == [], kind


def test_each_number_of_a_card_says_its_column(new_page: Open) -> None:
    page = new_page(TABLE, viewport=PHONE)
    heads = page.locator("#board-1 thead tr:last-child th").evaluate_all("all => all.map(one => one.dataset.name)")
    row = page.locator("#board-1 tbody tr").first
    shown = row.locator("td").evaluate_all(
        "all => all.map(one => getComputedStyle(one, '::before').content.replaceAll('\"', ''))"
    )
    assert shown[: len(heads) + 1] == [*heads, "Seeds"]
    page.locator("summary", has_text="Columns").first.click()
    page.get_by_label(heads[0], exact=True).first.uncheck()
    assert row.locator("td").evaluate_all("all => all.map(one => one.dataset.label)") == shown[1:]


def test_numbers_of_a_card_are_named_in_the_order_of_the_help(browser: "Browser", tmp_path: Path) -> None:
    printed = view(any_record, claimed(*TWO), {"old": LOW, "ours": HIGH})
    tuned = replace(printed, asked=printed.asked.model_copy(update={"regime": "tuned"}))
    for views, names in (([printed, tuned], ["published", "as printed", "tuned"]), ([printed], ["published", "ours"])):
        site = write_site(tmp_path / str(len(views)), leaderboard(views))
        page = browser.new_page(viewport=PHONE)
        page.goto(site.tables[views[0].asked.name].as_uri())
        cell = page.locator("#board-1 td.first").first
        shown = cell.locator("> .theirs, > .ours").evaluate_all(
            """all => all.map(one => [one.getBoundingClientRect().y,
                getComputedStyle(one, '::before').content.replaceAll('"', '')]).sort(([a], [b]) => a - b)"""
        )
        assert [name for _, name in shown] == names
        assert len({round(y) for y, _ in shown}) == len(names), "each on a line of its own"
        page.close()


def test_a_table_scrolls_by_keyboard(new_page: Open) -> None:
    page = new_page(TABLE, viewport=TABLET)
    region = page.locator(".scroll").filter(has=page.locator("#board-1"))
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("one => one.scrollLeft > 0", arg=region.element_handle())


def luminance(page: "Page", of: str) -> float:
    colour = page.evaluate(f"getComputedStyle(document.body).{of}.match(/[0-9.]+/g).slice(0, 3).map(Number)")
    red, green, blue = (one / 255 / 12.92 if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_follow_the_readers_theme(new_page: Open, scheme: str) -> None:
    page = new_page("index", color_scheme=scheme)
    paper, ink = luminance(page, "backgroundColor"), luminance(page, "color")
    assert (paper < 0.05) if scheme == "dark" else (paper > 0.9)
    light, dark = max(paper, ink), min(paper, ink)
    assert (light + 0.05) / (dark + 0.05) >= 7


def test_a_reader_s_theme_is_kept_over_the_system_s(new_page: Open, site: MadeSite) -> None:
    page = new_page("index", color_scheme="dark")
    button = page.get_by_role("button", name="Theme:")
    assert button.get_attribute("title") == "Theme: as the system has it"
    button.click()
    assert luminance(page, "backgroundColor") > 0.9, "light by choice"
    page.goto(site.url(TABLE))
    assert luminance(page, "backgroundColor") > 0.9, "on other pages too"
    button.click()
    assert luminance(page, "backgroundColor") < 0.05
    button.click()
    page.emulate_media(color_scheme="light")
    assert luminance(page, "backgroundColor") > 0.9, "the system's again"


@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 900}], ids=["phone", "desktop"])
def test_nothing_moves_once_it_is_drawn(new_page: Open, site: MadeSite, size: dict[str, int]) -> None:
    def late(route: "Route") -> None:
        time.sleep(0.2)  # until a page would be drawn that does not wait for its scripts
        route.continue_()

    page = new_page("index", viewport=size)
    page.add_init_script(SHIFTS)
    page.route("**/*.js", late)
    for kind in ("index", TABLE, "claims/temo-small", "methods/temo"):
        page.goto(site.url(kind))
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
        assert sum(page.evaluate("window.shifts")) < 0.005, kind


def test_all_measured_headline_claims_of_the_published_results_are_on_the_first_screen(
    browser: "Browser", published: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((published / "index.html").as_uri())
    lines = page.locator(".scale").first.locator("table.fates:not(.in-numbers) tbody tr:has(td.ours)")
    boxes = [line.bounding_box() for line in lines.all()]
    assert len(boxes) > 9
    halves = page.locator(".halves").first
    gain, picture = halves.locator(".gain").first, halves.locator("td.ours .strip").first
    assert (gain.is_visible(), picture.is_visible()) == (True, False), "two columns have room for numbers alone"
    page.set_viewport_size({"width": 1100, "height": 800})
    assert (gain.is_visible(), picture.is_visible()) == (True, True)
    assert too_wide(page) == []
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], "plain numbers fit, too"
    page.close()
    assert all(box and box["y"] + box["height"] <= 800 for box in boxes)


def test_the_site_of_the_published_results_has_at_most_eight_megabytes(published: Path) -> None:
    assert sum(file.stat().st_size for file in published.rglob("*") if file.is_file()) <= 8e6
