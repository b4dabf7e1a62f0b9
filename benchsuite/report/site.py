"""Writes the site: pages in folders with their styles and scripts beside them, or all in one file."""

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
from benchsuite.report.pages import Page, all_pages, table_name
from benchsuite.report.render import render
from benchsuite.workers import spread

STATIC = Path(__file__).parent / "static"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Site:
    """What was written."""

    index: Path
    tables: dict[str, Path]
    """By table and scale."""
    pages: int


def write_site(folder: Path, board: Leaderboard, progress: Progress = lambda done, of: None) -> Site:
    """Everything, and nothing left of earlier builds."""
    require_writable(folder, "--report")
    pages = list(all_pages(board))
    names = {page.name for page in pages}
    written = {write(folder / name, content) for name, content in assets()}
    board.prepare()
    for number, files in enumerate(spread(lambda page: write_page(folder, page, names), pages)):
        written.update(files)
        progress(number + 1, len(pages))
    remove_old(folder, written)
    tables = {view.request.name: folder / f"{table_name(view)}.html" for view in board.views}
    return Site(folder / "index.html", tables, len(pages))


def write_page(folder: Path, page: Page, names: Collection[str]) -> list[Path]:
    """One page, and the files of data that it offers."""
    values = page.values()
    text = render(page.template, Links(page.name, names), title=page.title, **values)
    data = [write(folder / file, content.encode()) for file, content in downloads(page.name, values)]
    return [write(folder / f"{page.name}.html", text.encode()), *data]


def write_single(file: Path, board: Leaderboard) -> Path:
    """One file, to be mailed: all pages but those of single runs and of comparisons."""
    require_writable(file.parent, "--single-file")
    pages = [page for page in all_pages(board) if not page.name.startswith(("runs/", "compare/"))]
    names = {page.name for page in pages}
    sections = []
    for page in pages:
        links = Links(page.name, names, single=True)
        sections.append((page, render(page.template, links, title=page.title, body=True, **page.values())))
    style = "\n".join(content.decode() for name, content in assets() if name.endswith(".css"))
    scripts = [content.decode() for name, content in assets() if name.endswith(".js")]
    text = render(
        "single.html", Links("index", names, single=True), title="Leaderboard", board=board, sections=sections,
        style=style, scripts=scripts, hashes=[_csp_hash(one) for one in scripts],
    )  # fmt: skip
    write(file, text.encode())
    return file


def downloads(page: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of data that a page offers."""
    for kind, text in values.get("exports", {}).items():
        yield f"{page}.{SUFFIXES[kind]}", text
    for figure in values.get("figures", ()):
        yield f"{page}-{figure.slug}.csv", figure.csv


def assets() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts, and the licences of what is not ours; libraries before what uses them."""
    for file in sorted(STATIC.rglob("*"), key=lambda file: (-len(file.parts), file.name)):
        if file.is_file():
            yield f"static/{file.relative_to(STATIC).as_posix()}", file.read_bytes()


def _csp_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


GENERATOR = b'<meta name="generator" content="benchsuite'
"""In every page, so that pages of earlier builds are known as such."""
ROOMS = ("tables", "methods", "claims", "compare", "runs")
"""Its folders of pages."""


def write(file: Path, content: bytes) -> Path:
    """A file, and the folder it lies in."""
    try:
        file.write_bytes(content)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return file


def remove_old(folder: Path, written: Collection[Path]) -> None:
    """Remove pages that an earlier build wrote and this one did not, and their data; files of anyone else stay."""
    for page in (page for room in ROOMS for page in (folder / room).rglob("*.html")):
        if page not in written and GENERATOR in page.read_bytes()[:2000]:
            for file in (
                *page.parent.glob(f"{glob.escape(page.stem)}.*"),
                *page.parent.glob(f"{glob.escape(page.stem)}-*.csv"),
            ):
                if file not in written:
                    file.unlink()
