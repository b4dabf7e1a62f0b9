"""Writes the site, as pages in folders with their styles and scripts or as one file."""

from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchsuite.files import require_writable, write_named
from benchsuite.locks import locked
from benchsuite.report.build import Build, building
from benchsuite.report.export import SUFFIXES
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import Page, all_pages, page_name
from benchsuite.report.render import render, terse
from benchsuite.workers import spread

STATIC = Path(__file__).parent / "static"
LOCK = ".lock"
BUILDING_SECONDS = 600.0
"""How long to wait for another process that writes pages into the folder."""

FEW_PAGES = 40
"""With fewer pages, this process writes them."""

GUIDE = "docs/index"
"""The documentation, where it was built into the folder before: the navigation leads to it."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Site:
    """What was written."""

    index: Path
    tables: dict[str, Path]
    """By table and scale."""
    pages: int


def write_site(folder: Path, leaderboard: Leaderboard, progress: Progress = lambda done, of: None) -> Site:
    """All pages; those of earlier builds are removed."""
    require_writable(folder, "--report")
    pages = list(all_pages(leaderboard))
    names = {page.name for page in pages}
    if (folder / f"{GUIDE}.html").is_file():
        names.add(GUIDE)
    with locked(folder / LOCK, BUILDING_SECONDS), building(folder) as build:
        for name, content in assets():
            build.add(name, content)
        leaderboard.prepare()
        for number, drafts in enumerate(spread(lambda page: write_page(build, page, names), pages, few=FEW_PAGES)):
            build.drafts.update(drafts)
            progress(number + 1, len(pages))
        build.show()
    requested = [view.request.name for view in leaderboard.views]
    tables = {name: folder / f"{page_name('tables', name)}.html" for name in requested}
    return Site(folder / "index.html", tables, len(pages))


def write_page(build: Build, page: Page, names: Collection[str]) -> Mapping[str, Path]:
    """One page, and the data files that it offers: their drafts by name."""
    values = page.values()
    text = terse(render(page.template, Links(page.name, names), title=page.title, **values))
    files = {f"{page.name}.html": text, **downloads(page.name, values)}
    return {name: build.add(name, content.encode()) for name, content in files.items()}


def write_single(file: Path, leaderboard: Leaderboard) -> Path:
    """One self-contained file: all pages but those of runs and comparisons."""
    require_writable(file.parent, "--single-file")
    pages = [page for page in all_pages(leaderboard) if not page.name.startswith(("runs/", "compare/"))]
    names = {page.name for page in pages}
    sections = []
    for page in pages:
        links = Links(page.name, names, single=True)
        sections.append((page, render(page.template, links, title=page.title, body=True, **page.values())))
    scripts = [content.decode() for name, content in assets() if name.endswith(".js")]
    text = render(
        "single.html", Links("index", names, single=True), title="Leaderboard", leaderboard=leaderboard,
        sections=sections, scripts=scripts,
        style="\n".join(content.decode() for name, content in assets() if name.endswith(".css")),
        hashes=[f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts],
    )  # fmt: skip
    write_named(file, "--single-file", text.encode())
    return file


def downloads(page: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The data files that a page offers, by name."""
    exports = {f"{page}.{SUFFIXES[kind]}": text for kind, text in values.get("exports", {}).items()}
    data = {f"{page}-{name}.csv": text for name, text in values.get("csv", {}).items()}
    return exports | data | {f"{page}-{figure.slug}.csv": figure.csv for figure in values.get("figures", ())}


def assets() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts and licences of libraries; a library comes before what uses it."""
    for file in sorted(STATIC.rglob("*"), key=lambda file: (-len(file.parts), file.name)):
        if file.is_file():
            yield f"static/{file.relative_to(STATIC).as_posix()}", file.read_bytes()
