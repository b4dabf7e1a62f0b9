"""A build of the site that ends at any moment leaves whole pages whose links lead somewhere."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.html_pages import leaderboard

from benchsuite.errors import UsageError
from benchsuite.locks import locked
from benchsuite.report import site
from benchsuite.report.build import GENERATOR, building

OLD = {
    "index": ["tables/a", "tables/old"],
    "tables/a": ["tables/old", "runs/1"],
    "tables/old": ["runs/1"],
    "runs/1": ["index"],
}
NEW = {
    "index": ["tables/a", "tables/new"],
    "tables/a": ["tables/new", "runs/1", "runs/2"],
    "tables/new": ["runs/2", "tables/a"],
    "runs/1": ["tables/a"],
    "runs/2": ["tables/new", "index"],
}
DATA = ("tables/old.csv", "tables/new.csv")
Files = dict[str, bytes]


class KilledError(BaseException):
    """Nothing handles it."""


def pages(links: Mapping[str, list[str]]) -> Files:
    made = {
        f"{name}.html": GENERATOR + b'">' + "".join(f'<a href="{link}.html">' for link in to).encode() + b"." * 99
        for name, to in links.items()
    }
    return made | {name: name.encode() for name in DATA if f"{Path(name).with_suffix('.html')}" in made}


def build(folder: Path, files: Files) -> None:
    with building(folder) as made:
        for name, content in files.items():
            made.add(name, content)
        made.show()


def shown(folder: Path) -> Files:
    """What is there but files of drafts and of others."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {name: file.read_bytes() for name, file in found.items() if not name.startswith(".") and name != "mine.txt"}


def reached(folder: Path) -> set[str]:
    """Pages that the home page leads to; all must be there."""
    found, next_ones = set(), ["index.html"]
    while next_ones:
        page = next_ones.pop()
        found.add(page)
        next_ones += set(re.findall(r'href="([^"]*)"', (folder / page).read_text())) - found
    return found


@pytest.mark.parametrize("moment", range(8))  # six names, and two files that go
def test_at_every_moment_of_showing_pages_are_whole_and_links_lead_somewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    old, new = pages(OLD), pages(NEW)
    build(tmp_path, old)
    assert shown(tmp_path) == old
    (tmp_path / "mine.txt").touch()
    left = moment

    def until_killed(patch: pytest.MonkeyPatch, name: str) -> None:
        original = getattr(Path, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            if left == 0:
                raise KilledError
            left -= 1
            return original(*arguments, **options)

        patch.setattr(Path, name, call)

    with monkeypatch.context() as killing:
        until_killed(killing, "replace")
        until_killed(killing, "unlink")
        with pytest.raises(KilledError):
            build(tmp_path, new)
    for name, content in shown(tmp_path).items():
        assert content in (old.get(name), new.get(name)), name
    assert reached(tmp_path) <= {*old, *new}
    build(tmp_path, new)
    assert shown(tmp_path) == new
    assert {file.name for file in tmp_path.iterdir()} == {"index.html", "tables", "runs", "mine.txt"}


def test_a_first_build_has_no_home_page_before_it_has_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, place: (order.append(place.name), replace(self, place))[1])
    build(tmp_path, pages(NEW))
    assert order[-1] == "index.html"


def test_drafts_are_no_pages_and_those_of_a_killed_build_go(tmp_path: Path) -> None:
    with building(tmp_path) as made:
        made.add("index.html", b"half")
        assert not list(tmp_path.rglob("*.html"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".build-killed").mkdir()
    (tmp_path / ".build-killed" / "draft").touch()
    build(tmp_path, pages(OLD))
    assert shown(tmp_path) == pages(OLD)
    assert not list(tmp_path.glob(".*"))


def test_two_builds_of_a_folder_take_turns_and_the_lock_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "BUILDING_SECONDS", 0.1)
    with locked(tmp_path / ".lock"), pytest.raises(UsageError, match=r"/\.lock: another process still holds this lock"):
        site.write_site(tmp_path, leaderboard())


def test_data_that_a_page_offers_no_longer_goes_and_files_of_others_stay(tmp_path: Path) -> None:
    page = GENERATOR + b'">'
    offering = page + b"<a href=a-gap.csv download>CSV</a><a href=a-loss.csv download>CSV</a>"
    data = {"methods/a-gap.csv": b"1", "methods/a-loss.csv": b"2"}
    build(tmp_path, {"methods/a.html": offering, **data})
    (tmp_path / "methods" / "a-mine.csv").touch()
    build(tmp_path, {"methods/a.html": page + b"<a href=a-gap.csv download>CSV</a>", "methods/a-gap.csv": b"3"})
    assert {file.name for file in (tmp_path / "methods").iterdir()} == {"a.html", "a-gap.csv", "a-mine.csv"}
    build(tmp_path, {"methods/a.html": page})
    assert {file.name for file in (tmp_path / "methods").iterdir()} == {"a.html", "a-mine.csv"}
