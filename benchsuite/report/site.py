"""Writes the site: pages in folders with their styles and scripts beside them, or all in one file."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchsuite.report.export import SUFFIXES
from benchsuite.report.folder import remove_old, require_folder, write
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import Page, all_pages, table_name
from benchsuite.report.render import render

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
    require_folder(folder)
    pages = list(all_pages(board))
    names = {page.name for page in pages}
    written = {write(folder / name, content) for name, content in assets()}
    for number, page in enumerate(pages):
        text = render(page.template, Links(page.name, names), title=page.title, **page.values)
        written.add(write(folder / f"{page.name}.html", text.encode()))
        written |= {write(folder / file, data.encode()) for file, data in downloads(page)}
        progress(number + 1, len(pages))
    remove_old(folder, written)
    tables = {view.asked.name: folder / f"{table_name(view)}.html" for view in board.views}
    return Site(folder / "index.html", tables, len(pages))


def write_single(file: Path, board: Leaderboard) -> Path:
    """One file, to be mailed: all pages but those of single runs and of comparisons."""
    require_folder(file.parent)
    pages = [page for page in all_pages(board) if not page.name.startswith(("runs/", "compare/"))]
    names = {page.name for page in pages}
    sections = [
        (page, render(page.template, Links(page.name, names, single=True), title=page.title, body=True, **page.values))
        for page in pages
    ]
    style = "\n".join(content.decode() for name, content in assets() if name.endswith(".css"))
    scripts = [content.decode() for name, content in assets() if name.endswith(".js")]
    text = render(
        "single.html", Links("index", names, single=True), title="Leaderboard", board=board, sections=sections,
        style=style, scripts=scripts, hashes=[_csp_hash(one) for one in scripts],
    )  # fmt: skip
    write(file, text.encode())
    return file


def downloads(page: Page) -> Iterator[tuple[str, str]]:
    """The files of data that a page offers."""
    for kind, text in page.values.get("exports", {}).items():
        yield f"{page.name}.{SUFFIXES[kind]}", text
    for figure in page.values.get("figures", ()):
        yield f"{page.name}-{figure.slug}.csv", figure.csv


def assets() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts, and the licences of what is not ours; libraries before what uses them."""
    for file in sorted(STATIC.rglob("*"), key=lambda file: (-len(file.parts), file.name)):
        if file.is_file():
            yield f"static/{file.relative_to(STATIC).as_posix()}", file.read_bytes()


def _csp_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
