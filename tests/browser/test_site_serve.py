"""The site over HTTP from this machine."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from conftest import TABLE, MadeSite, Watch, address, soon

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


Open = Callable[..., "Page"]


def heed_ctrl_c() -> None:
    """In a new process: Ctrl-C ends it, even if the tests were started in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def server(site: MadeSite, tmp_path: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    command = [sys.executable, "-m", "benchsuite", "report", "--results", str(site.results), "--report",
               str(tmp_path / "pages"), "--serve", "--port", "0"]  # fmt: skip
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, env=site.environment, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed_ctrl_c
    )
    assert process.stdout
    origin = next((line.split()[0] for line in process.stdout if line.startswith("http://127.0.0.1:")), "")
    assert origin, process.stderr and process.stderr.read()
    yield process, origin
    process.kill()
    process.communicate()


def test_served_pages_are_the_written_ones_and_ctrl_c_ends_it_well(
    server: "tuple[subprocess.Popen[str], str]", site: MadeSite
) -> None:
    process, origin = server
    with urlopen(f"{origin}{TABLE}.html") as answer:
        assert answer.read().decode() == site.text(TABLE)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said == ""


def test_served_pages_work_as_files_do(
    browser: "Browser", server: "tuple[subprocess.Popen[str], str]", site: MadeSite
) -> None:
    _, origin = server
    page = browser.new_page()
    watch = Watch((origin,))
    watch.over(page)
    page.goto(origin)
    page.get_by_role("link", name="temo/table1").first.click()
    page.wait_for_url(f"{origin}{TABLE}.html")
    page.locator("#board-1").get_by_role("button", name="IR@1").first.click()
    assert soon(lambda: address(page).endswith("?board-1.sort=1.asc"))
    page.close()
    assert watch.seen == []
