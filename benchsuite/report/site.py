"""Writes the site, as pages in folders with their styles and scripts."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchsuite.files import drafts_in, locked, require_writable, write_whole, writing_to
from benchsuite.report.export import SUFFIXES
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import Page, all_pages, table_page
from benchsuite.report.render import render
from benchsuite.report.words import index, words
from benchsuite.workers import spread, without_garbage_collection

STATIC = Path(__file__).parent / "static"
LOCK = ".lock"
PAGES = "static/pages.js"
"""What a search over all pages looks in."""
WRITTEN = ".written"
"""Names the files of the last build, a line each: what the next one does not write again goes."""
BUILDING_SECONDS = 600.0
"""How long to wait for another process that writes pages into the folder."""

ENDS = re.compile(r"</(?:td|th|tr|li|dt|dd)>\s*(?=</?(?:td|th|tr|tbody|thead|table|li|ul|ol|dt|dd|dl)\b)")
"""End tags that are optional in HTML where such a tag follows: a twentieth of the pages' bytes."""

FEW_PAGES = 40
"""With fewer pages, this process writes them."""

GUIDE = "docs/index"
"""The documentation, where it was built into the folder before: the navigation leads to it."""


@dataclass(frozen=True)
class Site:
    """What was written."""

    index: Path
    tables: dict[str, Path]
    """By table and scale."""
    pages: int


@without_garbage_collection()
def write_site(folder: Path, leaderboard: Leaderboard) -> Site:
    """All pages, each file whole; those of the build before, and drafts of killed ones, are removed at the end."""
    require_writable(folder, "--report")
    pages = list(all_pages(leaderboard))
    names = {page.name for page in pages}
    if (folder / f"{GUIDE}.html").is_file():
        names.add(GUIDE)
    with locked(folder / LOCK, BUILDING_SECONDS), writing_to(folder, "--report"):
        written = [_write(folder, name, content) for name, content in assets()]
        # computed now, so that the processes that write pages need not each do it
        _ = leaderboard.claims, leaderboard.added, leaderboard.costs, leaderboard.methods
        each = spread(lambda page: write_page(folder, page, names), pages, few=FEW_PAGES)
        said = []
        for page, (files, found) in zip(pages, each, strict=True):
            written += files
            said.append((page.name, page.title, found))
        written.append(_write(folder, PAGES, index([*said[1:], said[0]]).encode()))
        list_ = folder / WRITTEN
        before = list_.read_text("utf-8").splitlines() if list_.is_file() else []
        now, whole = {folder / name for name in written}, folder.resolve()
        known = {file for name in before if (file := folder / name).resolve().is_relative_to(whole)} | now
        for file in known - now:
            file.unlink(missing_ok=True)
        for draft, file in (each for place in {file.parent for file in known} for each in drafts_in(place)):
            if file in known:
                draft.unlink(missing_ok=True)
        _write(folder, WRITTEN, "\n".join(dict.fromkeys(written)).encode())
    tables = {view.asked.name: folder / f"{table_page(view)}.html" for view in leaderboard.views}
    return Site(folder / "index.html", tables, len(pages))


def write_page(folder: Path, page: Page, names: Collection[str]) -> tuple[list[str], str]:
    """One page, the data files that it offers, and the pictures that it shows: their names, and the page's words."""
    values, links = page.values(), Links(page.name, names)
    text = render(page.template, links, title=page.title, **values)
    texts = {f"{page.name}.html": ENDS.sub("", text), **downloads(values)}
    files = {name: content.encode() for name, content in texts.items()}
    return [_write(folder, name, content) for name, content in {**files, **links.pictures}.items()], words(text)


def _write(folder: Path, name: str, content: bytes) -> str:
    """A file that stays as it is keeps its date: what copies the site elsewhere passes it over."""
    file = folder / name
    if not (file.is_file() and file.read_bytes() == content):
        write_whole(file, content, sync=False)
    return name


def downloads(values: Mapping[str, Any]) -> dict[str, str]:
    """The data files that a page offers, by name."""
    return {
        f"tables/{name}.{SUFFIXES[kind]}": text
        for name, texts in values.get("exports", {}).items()
        for kind, text in texts.items()
    }


def assets() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts and licences of libraries; a library comes before what uses it."""
    for file in sorted(STATIC.rglob("*"), key=lambda file: (-len(file.parts), file.name)):
        if file.is_file():
            yield f"static/{file.relative_to(STATIC).as_posix()}", file.read_bytes()
