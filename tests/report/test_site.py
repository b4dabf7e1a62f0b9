import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from support.html_pages import Reading, leaderboard
from support.views import found, view_of

from benchsuite.errors import UsageError
from benchsuite.files import locked
from benchsuite.papers import read_table
from benchsuite.papers.schema import Plot
from benchsuite.records.schema import Record
from benchsuite.report import site
from benchsuite.report.figures.from_table import table_figures
from benchsuite.report.figures.saving import save
from benchsuite.report.leaderboard import Owner
from benchsuite.report.site import write_site

MakeRecord = Callable[..., tuple[Record, bytes]]
NAME = "temo-table1-smoke"


def board(make: MakeRecord, plots: bool = False):  # type: ignore[no-untyped-def]
    """A table with one run."""
    record = make(0, curves={"step": [0, 1], "gap": [0.9, 0.8], "loss": [1.0, 1.0]})[0]
    table = read_table("temo/table1")
    if plots:
        table = table.model_copy(update={"plots": [Plot(title="Gap, by step", y=["gap"])]})
    rows = [found(table.row("RN50/InfoNCE"), {0: record})]
    return leaderboard([view_of(table, rows, {}, "smoke")])


def test_every_address_in_the_folder_leads_somewhere(tmp_path: Path, make_record: MakeRecord) -> None:
    written = write_site(tmp_path / "new", board(make_record, plots=True))
    assert written.index == tmp_path / "new" / "index.html"
    assert written.tables == {NAME: tmp_path / "new" / "tables" / f"{NAME}.html"}
    found = {page: Reading(page.read_text("utf-8")) for page in (tmp_path / "new").rglob("*.html")}
    assert len(found) == written.pages
    for page, reading in found.items():
        for address in reading.addresses:
            file, _, anchor = address.partition("#")
            there = (page.parent / file).resolve() if file else page
            assert there.is_file(), f"{page}: {address}"
            assert not anchor or anchor in found[there].ids, f"{page}: {address}"


def test_a_search_over_all_pages_looks_in_each_of_them_and_in_the_first_page_last(
    tmp_path: Path, make_record: MakeRecord
) -> None:
    written = write_site(tmp_path, board(make_record))
    pages = json.loads((tmp_path / site.PAGES).read_text("utf-8").removeprefix("const PAGES = ").removesuffix(";\n"))
    assert {tmp_path / f"{name}.html" for name, *_ in pages} == {*tmp_path.rglob("*.html")}
    assert len(pages) == written.pages
    assert pages[-1][0] == "index"
    title, words = next(rest for name, *rest in pages if name == f"tables/{NAME}")
    assert title.startswith("temo/table1: ")
    assert {"infonce", "mscoco"} <= {*words.split()}


def test_pages_have_the_title_text_and_link_of_their_owner(tmp_path: Path, make_record: MakeRecord) -> None:
    owner = Owner("My board", "Which loss <is> best?", "https://example.org/board")
    site = write_site(tmp_path, replace(board(make_record), owner=owner))
    for page in tmp_path.rglob("*.html"):
        text = page.read_text("utf-8")
        assert " – My board</title>" in text
        assert re.search(r'class="home"[^>]*>My board</a>', text)
    home = site.index.read_text("utf-8")
    assert "<h1>Which loss &lt;is&gt; best?</h1>" in home
    assert '<a href="https://example.org/board">' in home


def test_a_table_lies_there_in_every_format(tmp_path: Path, make_record: MakeRecord) -> None:
    write_site(tmp_path, board(make_record))
    assert {file.suffix for file in (tmp_path / "tables").glob(f"{NAME}.*")} == {
        ".html",
        ".csv",
        ".json",
        ".tex",
        ".md",
    }


def test_the_points_of_a_figure_can_be_saved_as_csv(tmp_path: Path, make_record: MakeRecord) -> None:
    made = board(make_record, plots=True)
    (figure,) = [one for one in table_figures(made.views[0]) if one.slug == "gap-by-step"]
    save(figure, tmp_path / "fig.csv")
    assert (tmp_path / "fig.csv").read_text().splitlines() == [
        "series,part,seed,Training step,Gap",
        "InfoNCE,mean,0,1,0.9",
        "InfoNCE,mean,0,2,0.8",
    ]


def test_what_stays_as_it_is_keeps_its_date(tmp_path: Path, make_record: MakeRecord) -> None:
    write_site(tmp_path, board(make_record))
    page, style = tmp_path / "index.html", tmp_path / "static" / "site.css"
    for file in (page, style):
        os.utime(file, (1, 1))
    write_site(tmp_path, replace(board(make_record), owner=Owner(text="Another heading")))
    assert "Another heading" in page.read_text("utf-8")
    assert (page.stat().st_mtime == 1, style.stat().st_mtime) == (False, 1)


def test_pages_and_data_of_the_build_before_go_and_files_of_others_stay(
    tmp_path: Path, make_record: MakeRecord
) -> None:
    first = write_site(tmp_path, board(make_record))
    data = tmp_path / "tables" / f"{NAME}.csv"
    for mine in (tmp_path / "methods" / "mine.html", tmp_path / "tables" / f"{NAME}-mine.csv"):
        mine.write_text("mine")
    assert data.exists()
    write_site(tmp_path, board(make_record))
    assert first.tables[NAME].exists()
    write_site(tmp_path, leaderboard())
    assert not data.exists()
    assert [file.name for file in (tmp_path / "methods").iterdir()] == ["mine.html"]
    assert [file.name for file in (tmp_path / "tables").iterdir()] == [f"{NAME}-mine.csv"]


def test_drafts_of_killed_builds_go_and_hidden_files_of_others_stay(tmp_path: Path, make_record: MakeRecord) -> None:
    def killed(page: Path) -> Path:
        draft = page.with_name(f".{page.name}-{uuid4().hex}")
        draft.write_text("half of a page")
        return draft

    first, others = killed(tmp_path / "index.html"), [killed(tmp_path / "mine.html"), tmp_path / ".index.html-mine"]
    others[1].touch()
    write_site(tmp_path, board(make_record))
    assert not first.exists()
    deeper = killed(next((tmp_path / "methods").glob("*.html")))
    write_site(tmp_path, board(make_record))
    assert not deeper.exists()
    assert all(file.exists() for file in others)


def test_two_reports_into_a_folder_take_turns_and_the_lock_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "BUILDING_SECONDS", 0.1)
    with locked(tmp_path / ".lock"), pytest.raises(UsageError, match=r"/\.lock: another process still holds this lock"):
        write_site(tmp_path, leaderboard())


def test_pages_load_nothing_from_elsewhere_and_say_so_in_their_policy(tmp_path: Path, make_record: MakeRecord) -> None:
    write_site(tmp_path, board(make_record))
    for page in tmp_path.rglob("*.html"):
        text = page.read_text("utf-8")
        assert "default-src 'none'; script-src 'self'" in text
        assert not re.search(r"(src|href)=\"?(https?:|//)", text)
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"@import|url\((?!\s*[\"']?(#|data:))", style.read_text())


def test_the_licence_of_what_is_not_ours_lies_beside_it(tmp_path: Path) -> None:
    write_site(tmp_path, leaderboard())
    licence = tmp_path / "static" / "vendor" / "dataTables.LICENSE.txt"
    assert "MIT License" in licence.read_text()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--report .*file: .* Name a folder that can be written to"):
        write_site(tmp_path / "file", leaderboard())


def test_pages_lead_to_the_documentation_where_it_is_in_the_folder(tmp_path: Path, make_record: MakeRecord) -> None:
    write_site(tmp_path, board(make_record))
    assert "Documentation" not in (tmp_path / "index.html").read_text("utf-8")
    guide = tmp_path / "docs" / "index.html"
    guide.parent.mkdir()
    guide.write_text("<title>Documentation</title>")
    write_site(tmp_path, board(make_record))
    assert '<a href="docs/index.html">Documentation</a>' in (tmp_path / "index.html").read_text("utf-8")
    (page,) = (tmp_path / "methods").glob("infonce.html")
    assert '<a href="../docs/index.html">Documentation</a>' in page.read_text("utf-8")
    assert guide.exists()
