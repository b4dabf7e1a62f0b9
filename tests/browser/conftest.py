"""One browser and one site, built by the real command, for all tests of this folder; a fresh page for each.

Without playwright or a browser the tests skip, unless BENCHSUITE_BROWSER=required. Whatever a page does that it should
not fails the test that looks at it: a request for anything but a file of the site, an error in the console (so also
what the content-security policy refuses), an exception in a script, a dialog.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from support.made_results import setup_of, write_plugin, write_results

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Request

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("playwright", "axe_playwright_python")
DESKTOP = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class MadeSite:
    """A results folder and what the command made of it."""

    results: Path
    folder: Path
    empty: Path
    """The page of a results folder with nothing in it."""
    environment: dict[str, str]
    """In which the command ran."""

    def url(self, page: str, query: str = "") -> str:
        """Address of a page by its name, `tables/temo-table1-small`."""
        file = self.folder / f"{page}.html"
        assert file.is_file(), f"{file} was not written"
        return file.as_uri() + query

    def first(self, pattern: str) -> str:
        """Name of a page."""
        return min(self.folder.glob(pattern)).relative_to(self.folder).with_suffix("").as_posix()

    def text(self, page: str) -> str:
        """A page as it was written."""
        return (self.folder / f"{page}.html").read_text("utf-8")


@dataclass
class Watch:
    """What pages did that they should not."""

    roots: tuple[str, ...]
    """Files may be asked for below these addresses."""
    seen: list[str] = field(default_factory=list)

    def over(self, page: "Page") -> None:
        """Note what happens on a page from now on."""
        page.on("request", lambda request: self._asked(request.url))
        page.on("requestfailed", self._failed)
        page.on("console", lambda said: said.type in ("error", "warning") and self.seen.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.seen.append(f"script: {error}"))
        page.on("dialog", lambda dialog: (self.seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _failed(self, request: "Request") -> None:
        if request.failure != "net::ERR_ABORTED":  # the test left the page while it was still loading its icon
            self.seen.append(f"could not load {request.url}: {request.failure}")

    def _asked(self, url: str) -> None:
        if url.startswith("data:"):
            return
        plain = urlsplit(url)._replace(query="", fragment="").geturl()
        if not plain.startswith(self.roots):
            self.seen.append(f"asked for {url}")
        elif plain.startswith("file:") and not Path(unquote(urlsplit(plain).path)).is_file():
            self.seen.append(f"asked for {url}, which is no file")


def run_report(arguments: list[str], environment: dict[str, str]) -> None:
    """`benchsuite report`, as anyone would type it."""
    command = [sys.executable, "-m", "benchsuite", "report", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> MadeSite:
    """The site of a small results folder in which everything odd is there once."""
    folder = tmp_path_factory.mktemp("site")
    write_plugin(folder / "installed")
    write_results(folder / "results")
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(folder / "installed"))))
    (folder / "nothing").mkdir()
    empty = folder / "empty" / "index.html"
    made = MadeSite(folder / "results", folder / "pages", empty, {**os.environ, "PYTHONPATH": path})
    run_report(["--results", str(made.results), "--report", str(made.folder)], made.environment)
    run_report(["--results", str(folder / "nothing"), "--report", str(made.empty.parent)], made.environment)
    return made


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, site: MadeSite) -> Path:
    """The site of this repository's results."""
    folder = tmp_path_factory.mktemp("published")
    results = Path(__file__).parents[2] / "results"
    run_report(["--results", str(results), "--report", str(folder)], site.environment)
    return folder


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A browser; without one the tests skip, or fail where it is required."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        _absent(f"{', '.join(missing)} not installed; `tox -e browser` brings what is needed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = _executable(playwright)
        if found is None:
            _absent(f"no browser: none of {', '.join(BROWSERS)} is installed, nor playwright's own")
        with playwright.chromium.launch(executable_path=found) as started:
            yield started


def _executable(playwright: "Playwright") -> str | None:
    own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, BROWSERS)), own if Path(own).is_file() else None)


def _absent(reason: str) -> None:
    if os.environ.get("BENCHSUITE_BROWSER") == "required":
        pytest.fail(f"BENCHSUITE_BROWSER=required, but {reason}.")
    pytest.skip(reason)


@pytest.fixture
def new_page(browser: "Browser", site: MadeSite) -> "Iterator[Callable[..., Page]]":
    """Opens a page by its name, or by its whole address, in a context of its own; keywords are the context's."""
    watch = Watch((f"{site.folder.as_uri()}/", f"{site.empty.parent.as_uri()}/"))
    contexts: list[BrowserContext] = []

    def go(page: str, query: str = "", **options: Any) -> "Page":
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(20_000)
        context.set_default_navigation_timeout(60_000)
        contexts.append(context)
        opened = context.new_page()
        watch.over(opened)
        opened.goto(page if ":" in page else site.url(page, query))
        return opened

    yield go
    for context in contexts:
        context.close()
    assert not watch.seen, "\n".join(watch.seen)


TABLE = "tables/temo-table1-small"
OWN, OWN_CLAIMS = "tables/own-hostile-small", "claims/own-small"


def address(page: "Page") -> str:
    """Where a page is, with what scripts wrote into the address."""
    where: str = page.evaluate("location.href")
    return where


def soon(holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether something holds within a while: scripts answer a click a little later."""
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return held


@pytest.fixture(scope="session")
def kinds(site: MadeSite) -> dict[str, str]:
    """A page of every type, by what it is: the names in the site."""
    return {
        "home": "index",
        "table": TABLE,
        "table of one's own": OWN,
        "table of plain numbers": "tables/modality-gap-table2-small",
        "method": "methods/temo",
        "method of a plugin": "methods/guest",
        "method that is not registered": site.first("methods/script-*.html"),
        "claims": "claims/temo-small",
        "claims of a table of one's own": OWN_CLAIMS,
        "compare": f"compare/{setup_of('RN50').setup_id}",
        "track": "tracks/small",
        "tuned table": site.first("tables/mm-ts-*.html"),
    }
