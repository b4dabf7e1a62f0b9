"""The site of a results folder whose texts would do harm as HTML, read by a parser: no browser is needed."""

import csv
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from support import made_results
from support.commands import exit_code
from support.hostile import is_clean, is_formula
from support.made_results import MODEL, setup_of, write_results

from benchsuite.report.pages import command
from benchsuite.report.site import LOCK, WRITTEN

UNSEEN = "\x1b[2J\u202e\x9b\u2066"
"""Characters that no page shows: beside what is markup, in every text of the folder."""
TEXTS = ("LABEL", "TITLE", "SAYS", "REASON", "VALUE", "MACHINE")
FORMULA = "=HYPERLINK(1)"
ADDRESSES = {"href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href", "ping", "background"}
FOREIGN = {"img", "iframe", "object", "embed", "form", "base", "applet", "template", "foreignobject", "animate", "set"}


@dataclass
class Element:
    """A tag with its attributes, and the text in it where it is a script or style."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page as a browser's parser would divide it."""

    source: str
    elements: list[Element] = field(default_factory=list)
    words: str = ""
    rows: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._raw, self._in_cell = "", False
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        self._raw = tag if tag in ("script", "style") else ""
        if tag == "tr":
            self.rows.append([])
            self._in_cell = False
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""
        self._in_cell = self._in_cell and tag not in ("td", "th", "tr", "thead", "tbody", "table")

    def handle_data(self, data: str) -> None:
        if self._raw:
            self.elements[-1].text += data
            return
        self.words += data
        if self._in_cell:
            self.rows[-1][-1] += data

    def of(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]


@dataclass(frozen=True)
class Site:
    """What `benchsuite report` wrote."""

    folder: Path

    @cached_property
    def pages(self) -> dict[str, Page]:
        """By name."""
        files = self.folder.rglob("*.html")
        return {file.relative_to(self.folder).as_posix(): Page(file.read_text("utf-8")) for file in files}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        for name in TEXTS:
            patch.setattr(made_results, name, getattr(made_results, name) + UNSEEN)
        patch.setattr(made_results, "LABEL", FORMULA + made_results.LABEL)
        write_results(folder / "results")
        assert exit_code("report", "--results", folder / "results", "--report", folder / "pages") == 0
        yield Site(folder / "pages")


def test_pages_have_the_texts_spelled(site: Site) -> None:
    words = "".join(page.words for page in site.pages.values())
    for name in TEXTS:
        assert f"{getattr(made_results, name).removesuffix(UNSEEN)}\\u001b[2J\\u202e\\u009b\\u2066" in words


def test_no_page_has_a_character_that_hides_or_turns_text(site: Site) -> None:
    for name, page in site.pages.items():
        assert is_clean(re.sub(r"[\n\t]", "", page.source)), name


def test_no_text_becomes_an_element_or_an_attribute(site: Site) -> None:
    for name, page in site.pages.items():
        tags = {element.tag for element in page.elements}
        assert not tags & FOREIGN, name
        attributes = {attribute for element in page.elements for attribute in element.attributes}
        assert not {attribute for attribute in attributes if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9:-]*", attribute)}, (
            name
        )
        assert not {attribute for attribute in attributes if attribute.startswith("on")}, name


def test_every_address_is_of_the_site(site: Site) -> None:
    for name, page in site.pages.items():
        for element in page.elements:
            for attribute in ADDRESSES & element.attributes.keys():
                address = urlsplit(element.attributes[attribute])
                assert not address.scheme, (name, element)
                assert not address.netloc, (name, element)


def test_scripts_are_ours_and_data_are_json(site: Site) -> None:
    data = 0
    for page in site.pages.values():
        for script in page.of("script"):
            if script.attributes.get("type") == "application/json":
                assert json.loads(script.text)
                data += 1
            else:
                assert script.attributes["src"].endswith((".min.js", "site.js"))
                assert not script.text.strip()
    assert data


def test_files_are_named_without_any_such_text(site: Site) -> None:
    for file in site.folder.rglob("*"):
        assert file.name in (LOCK, WRITTEN) or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", file.name), file
        assert len(file.name) < 200


def test_data_files_of_pages_hold_no_formula(site: Site) -> None:
    files = list(site.folder.rglob("*.csv"))
    cells = [cell for file in files for row in csv.reader(file.open(newline="", encoding="utf-8")) for cell in row]
    assert any(cell.startswith(f"'{FORMULA}") for cell in cells)
    assert [cell for cell in cells if is_formula(cell) or not is_clean(cell)] == []


def test_a_command_to_copy_is_one_command_with_its_words() -> None:
    request = SimpleNamespace(table="own/$(x) '; rm y", scale="`z`\n", regime="tuned", primary={})
    words = shlex.split(command(SimpleNamespace(request=request, runs=[])))  # type: ignore[arg-type]
    assert words == ["benchsuite", "repro", request.table, "--scale", request.scale, "--tune", "--tables", "FOLDER"]


def test_models_as_given_stand_below_their_board_and_have_no_rank(site: Site) -> None:
    page = site.pages[f"compare/{setup_of('RN50').setup_id}.html"]
    assert "Not trained here" in page.words
    assert "not trained under this setup" in page.words
    (row,) = [row for row in page.rows if row[0].strip() == MODEL]
    cells = [cell.strip() for cell in row[1:]]
    assert cells == ["99.0", "–", "–", "other 1.0", "224", "e" * 64]
    other = site.pages[f"compare/{setup_of('ViT-B/16').setup_id}.html"]
    assert MODEL in other.words or "Not trained here" not in other.words
