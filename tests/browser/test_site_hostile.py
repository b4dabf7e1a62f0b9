"""Names and notes that would do harm as HTML are text, wherever they stand."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest
from conftest import OWN, TABLE, MadeSite, soon
from support.made_results import DOC, EQUATION, HOSTILE, LABEL, MACHINE, NAME, REASON, SAYS, TITLE, VALUE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

Open = Callable[..., "Page"]
PLACES = {
    "home": (TITLE, LABEL, DOC),
    "table": (TITLE, REASON, MACHINE),
    "table of one's own": (TITLE, LABEL, SAYS, REASON, VALUE, MACHINE),
    "table of plain numbers": (MACHINE,),
    "tuned table": (MACHINE,),
    "method of a plugin": (DOC, EQUATION, MACHINE, VALUE),
    "method that is not registered": (NAME, TITLE, LABEL),
    "claims of a table of one's own": (TITLE, LABEL, SAYS, REASON, VALUE),
    "compare": (TITLE,),
}
INJECTED = """() => [...document.querySelectorAll("*")].filter(one =>
  ["IMG", "IFRAME", "OBJECT", "EMBED", "FORM", "BASE"].includes(one.tagName)
  || [...one.attributes].some(({name, value}) =>
    name.startsWith("on") || /^\\s*javascript:/i.test(value) && name !== "title")
).map(one => one.outerHTML.slice(0, 150))"""
DATA = "['application/json']"
SCRIPTS = f"[...document.scripts].filter(one => !{DATA}.includes(one.type) && !one.src).map(one => one.text)"


def test_every_hostile_text_is_somewhere() -> None:
    assert set(HOSTILE) <= {text for texts in PLACES.values() for text in texts}


@pytest.mark.parametrize("kind", PLACES)
def test_hostile_text_is_text(new_page: Open, kinds: Mapping[str, str], kind: str) -> None:
    page = new_page(kinds[kind])
    words = " ".join(page.evaluate("document.body.textContent").split())
    for text in PLACES[kind]:
        assert " ".join(text.split()) in words, text
    assert page.evaluate(INJECTED) == []
    assert page.evaluate(SCRIPTS) == []


def test_hostile_text_stays_text_when_tables_are_used(new_page: Open) -> None:
    page = new_page(OWN)
    for cell in page.locator("#board-1 thead th:has([role=button])").all():
        cell.get_by_role("button").click()
        assert soon(lambda cell=cell: cell.get_attribute("aria-sort") == "ascending")
    for text in (*HOSTILE, LABEL):
        page.locator(".tools[data-for='board-1']").get_by_label("Search").fill(text)
    assert page.evaluate(INJECTED) == []
    assert page.locator("#board-1 tbody tr").count() == 1
    assert page.locator("#board-1 tbody th").inner_text().splitlines()[0] == LABEL
    page.reload()
    assert page.locator(".tools[data-for='board-1']").get_by_label("Search").input_value() == LABEL


def test_hostile_text_stays_text_when_methods_are_compared(new_page: Open, kinds: Mapping[str, str]) -> None:
    page = new_page(kinds["compare"])
    page.get_by_role("combobox", name="Method", exact=True).select_option(label=TITLE)
    assert TITLE in page.locator(".picker output").inner_text()
    assert page.evaluate(INJECTED) == []


def test_hostile_text_in_the_address_is_text(new_page: Open) -> None:
    bold, image = "%3Cb%3E", "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E"
    page = new_page(TABLE, f"?board-1.q={image}&board-1.sort={bold}&board-1.hide={bold}&board-1.no={bold}#{bold}")
    assert "No matching rows" in page.locator("#board-1 tbody").inner_text()
    assert page.evaluate(INJECTED) == []


def test_the_policy_refuses_what_would_be_loaded_or_run(browser: "Browser", site: MadeSite) -> None:
    page = browser.new_page()
    loaded: list[str] = []
    page.route("https://**", lambda route: route.fulfill(body="window.ran = true"))
    page.goto(site.url(TABLE))
    page.on("response", lambda response: response.url.startswith("https:") and loaded.append(response.url))
    refused = page.evaluate(
        """async () => {
          const found = [];
          document.addEventListener("securitypolicyviolation", event => found.push(event.effectiveDirective));
          const add = (tag, attributes) => document.body.append(Object.assign(document.createElement(tag), attributes));
          add("img", {src: "https://remote.invalid/x.png"});
          add("script", {src: "https://remote.invalid/x.js"});
          add("script", {textContent: "window.ran = true"});
          add("link", {rel: "stylesheet", href: "https://remote.invalid/x.css"});
          add("iframe", {src: "https://remote.invalid/"});
          document.body.insertAdjacentHTML("beforeend", '<b id="b" onclick="window.ran = true">b</b>');
          document.getElementById("b").click();
          await fetch("https://remote.invalid/").catch(() => {});
          await new Promise(done => setTimeout(done, 200));
          return found.concat(window.ran ? "ran" : []);
        }"""
    )
    page.close()
    loads = {"img-src", "script-src-elem", "style-src-elem", "frame-src", "connect-src"}
    assert loads | {"script-src-attr"} <= set(refused)
    assert "ran" not in refused
    assert loaded == []
