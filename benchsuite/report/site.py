"""Writes the site, as pages in folders with their styles and scripts or as one file."""

import glob
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchsuite.files import require_writable
from benchsuite.report.export import SUFFIXES
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import Page, all_pages, page_name
from benchsuite.report.render import render
from benchsuite.workers import spread

STATIC = Path(__file__).parent / "static"
GENERATOR = b'<meta name="generator" content="benchsuite'
"""In every page: pages of earlier builds are recognised by it."""
FOLDERS = ("tables", "methods", "claims", "compare", "tuning", "runs")
"""Of pages."""

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
    written = {write(folder / name, content) for name, content in assets()}
    leaderboard.prepare()
    for number, files in enumerate(spread(lambda page: write_page(folder, page, names), pages)):
        written.update(files)
        progress(number + 1, len(pages))
    remove_old(folder, written)
    requested = [view.request.name for view in leaderboard.views]
    tables = {name: folder / f"{page_name('tables', name)}.html" for name in requested}
    return Site(folder / "index.html", tables, len(pages))


def write_page(folder: Path, page: Page, names: Collection[str]) -> list[Path]:
    """One page, and the data files that it offers."""
    values = page.values()
    text = render(page.template, Links(page.name, names), title=page.title, **values)
    files = {f"{page.name}.html": text, **downloads(page.name, values)}
    return [write(folder / name, content.encode()) for name, content in files.items()]


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
    return write(file, text.encode())


def downloads(page: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The data files that a page offers, by name."""
    exports = {f"{page}.{SUFFIXES[kind]}": text for kind, text in values.get("exports", {}).items()}
    return exports | {f"{page}-{figure.slug}.csv": figure.csv for figure in values.get("figures", ())}


def assets() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts and licences of libraries; a library comes before what uses it."""
    for file in sorted(STATIC.rglob("*"), key=lambda file: (-len(file.parts), file.name)):
        if file.is_file():
            yield f"static/{file.relative_to(STATIC).as_posix()}", file.read_bytes()


def write(file: Path, content: bytes) -> Path:
    """A file, and the folder it lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def remove_old(folder: Path, written: Collection[Path]) -> None:
    """Remove pages of earlier builds with their data files; files of anyone else stay."""
    for page in (page for name in FOLDERS for page in (folder / name).rglob("*.html")):
        if page not in written and GENERATOR in page.read_bytes()[:2000]:
            name = glob.escape(page.stem)
            for file in {*page.parent.glob(f"{name}.*"), *page.parent.glob(f"{name}-*.csv")} - {*written}:
                file.unlink()
