"""The site of a results folder whose texts would do harm as HTML, read by a parser: no browser is needed."""

import csv
import json
import re
import shlex
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from support import made_results
from support.commands import exit_code
from support.hostile import is_clean, is_formula
from support.made_results import write_results

from benchsuite.report.pages import command
from benchsuite.report.site import LOCK, WRITTEN

UNSEEN = "\x1b[2J\u202e\x9b\u2066"
"""Characters that no page shows: beside what is markup, in every text of the folder."""
TEXTS = ("LABEL", "TITLE", "SAYS", "REASON", "VALUE", "MACHINE")
FORMULA = "=HYPERLINK(1)"
ADDRESSES = {"href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href", "ping", "background"}
FOREIGN = {"img", "iframe", "object", "embed", "form", "base", "applet", "template", "foreignobject", "animate", "set"}


class Page(HTMLParser):
    """A page as a browser's parser would divide it: tags with attributes, scripts with texts, and words."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.words, self._in = source, "", ""
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[tuple[dict[str, str], str]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._in = tag
        if tag == "script":
            self.scripts.append((self.elements[-1][1], ""))

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._in != "style":
            self.words += data


class Site:
    """What `benchsuite report` wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> list[Page]:
        return [Page(file.read_text("utf-8")) for file in self.folder.rglob("*.html")]


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


def test_texts_are_spelled_and_nothing_hides_or_turns_them(site: Site) -> None:
    words = "".join(page.words for page in site.pages)
    for name in TEXTS:
        assert f"{getattr(made_results, name).removesuffix(UNSEEN)}\\u001b[2J\\u202e\\u009b\\u2066" in words
    for page in site.pages:
        assert is_clean(re.sub(r"[\n\t]", "", page.source))


def test_no_text_becomes_an_element_an_attribute_or_an_address(site: Site) -> None:
    for tag, attributes in (element for page in site.pages for element in page.elements):
        assert tag not in FOREIGN
        for name, value in attributes.items():
            assert re.fullmatch(r"(?!on)[a-zA-Z][a-zA-Z0-9:-]*", name)
            if name in ADDRESSES:
                assert urlsplit(value)[:2] == ("", ""), value


def test_scripts_are_ours_and_data_are_json(site: Site) -> None:
    data = [text for page in site.pages for about, text in page.scripts if about.get("type") == "application/json"]
    assert data
    assert all(map(json.loads, data))
    for about, text in (script for page in site.pages for script in page.scripts):
        if about.get("type") != "application/json":
            assert about["src"].endswith((".min.js", "site.js"))
            assert not text.strip()


def test_files_are_named_without_any_such_text_and_data_files_hold_no_formula(site: Site) -> None:
    for file in site.folder.rglob("*"):
        assert file.name in (LOCK, WRITTEN) or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{,199}", file.name), file
    files = site.folder.rglob("*.csv")
    cells = [cell for file in files for row in csv.reader(file.open(newline="", encoding="utf-8")) for cell in row]
    assert any(cell.startswith(f"'{FORMULA}") for cell in cells)
    assert [cell for cell in cells if is_formula(cell) or not is_clean(cell)] == []


def test_a_command_to_copy_is_one_command_with_its_words() -> None:
    request = SimpleNamespace(table="own/$(x) '; rm y", scale="`z`\n", regime="tuned")
    view: Any = SimpleNamespace(asked=request, setting=SimpleNamespace(recipe=SimpleNamespace(tuning=None)), runs=[])
    words = shlex.split(command(view))
    assert words == [
        "benchsuite",
        "repro",
        request.table,
        "--scale",
        request.scale,
        "--regime",
        "tuned",
        "--tables",
        "FOLDER",
    ]
