"""Pages as tests look at them."""

from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from benchsuite.analysis.table_view import TableView
from benchsuite.records.contents import Contents
from benchsuite.records.schema import Record
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import Page, all_pages
from benchsuite.report.render import render

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Reading(HTMLParser):
    """The tags, addresses, ids and text of a page; text by the classes that it stands in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.cells: list[dict[str, str]] = []
        """Of each td: text by class."""
        self._open: list[tuple[str, set[str]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.addresses += [given[name] for name in ("href", "src") if name in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag == "td":
            self.cells.append({})
        if tag not in VOID:
            self._open.append((tag, set(given.get("class", "").split())))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = [tag for tag, _ in self._open]
        if "script" in inside or "style" in inside:
            return
        self.text += data
        if "td" in inside:
            for _, classes in self._open:
                for name in classes:
                    self.cells[-1][name] = self.cells[-1].get(name, "") + data


def leaderboard(views: Sequence[TableView] = (), records: Iterable[Record] = (), **more: Any) -> Leaderboard:
    """What a results folder with these tables and records would give."""
    shown = [record for view in views for row in view.rows for record in row.records]
    by_run = {record.run_id: record for record in [*shown, *records]}
    contents = Contents(by_run, {}, [view.asked for view in views], [], [], [])
    return Leaderboard(contents, views, **more)


def pages(board: Leaderboard) -> Mapping[str, str]:
    """Every page by its place."""
    found = {page.name: page for page in all_pages(board)}
    return {name: rendered(page, list(found)) for name, page in found.items()}


def rendered(page: Page, names: Sequence[str]) -> str:
    """One page."""
    return render(page.template, Links(page.name, names), title=page.title, **page.values())
