from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchsuite.analysis.table import Cell, TableView, build_table
from benchsuite.errors import UsageError
from benchsuite.papers import Column, PublishedCell, read_table
from benchsuite.papers.schema import Plot
from benchsuite.records.asked import Asked, AskedRow, AskedRuns
from benchsuite.records.schema import Record
from benchsuite.report.html import index_page, table_page, write_site
from benchsuite.report.numbers import difference, measured, published, seeds
from benchsuite.report.text import table_text

MakeRecord = Callable[..., tuple[Record, bytes]]
HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Every tag and every address of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]


def view(label: str = "InfoNCE", gap: str = "", says: str = "small towers") -> TableView:
    table = read_table("temo/table1")
    rows = [AskedRow(label=label, backbone="RN50", method="infonce", not_run=gap)]
    asked = Asked(
        table="temo/table1", scale="smoke", recipe="scenes-smoke", track="scenes", says=says,
        measures={"cifar10_top1": "zero-shot.top1"}, stand_ins={"cifar10_top1": "the 10 colours of scenes"},
        tuned={"rate": "by trial"}, backbones={"RN50": "a small ResNet"}, temperature_factor=5.0, rows=rows,
    )  # fmt: skip
    return build_table(table, asked, {}, {})


def with_recall(make: MakeRecord, seed: int, value: float) -> Record:
    result = make(seed)[0].results["retrieval"]
    metrics = {**result.metrics, "i2t_r1": value}
    return make(seed, results={"retrieval": result.model_copy(update={"metrics": metrics})})[0]


def shown(printed: float | None, records: Mapping[int, Record], unit: str = "percent") -> tuple[str, str, str]:
    column = Column.model_validate({"key": "a", "group": "", "label": "", "measure": "", "unit": unit})
    source = None if printed is None else PublishedCell(value=printed)
    cell = Cell(column, source, records, "retrieval.i2t_r1")
    return published(cell), measured(cell), difference(cell)


def test_numbers_are_percent_with_half_their_interval_or_plain(make_record: MakeRecord) -> None:
    records = {seed: with_recall(make_record, seed, value) for seed, value in enumerate((0.1, 0.2))}
    assert shown(21.64, records)[:2] == ("21.64", "15.0 ± 63.5")
    assert shown(35, {0: records[0]})[:2] == ("35.00", "10.0")
    assert shown(14.321, {})[:2] == ("14.321", "–")
    assert shown(None, {})[:2] == ("–", "–")
    assert shown(0.294, records, unit="number")[:2] == ("0.294", "0.150 ± 0.635")
    assert [seeds(1), seeds(3)] == ["1 seed", "3 seeds"]


def test_a_difference_is_ours_minus_theirs_with_its_sign(make_record: MakeRecord) -> None:
    records = {seed: with_recall(make_record, seed, value) for seed, value in enumerate((0.1, 0.2))}
    assert shown(21.64, records)[2] == "−6.6"
    assert shown(5, records)[2] == "+10.0"
    assert [shown(printed, records)[2] for printed in (15.04, 14.96)] == ["0.0", "0.0"]
    assert shown(0.294, records, unit="number")[2] == "−0.144"
    assert (shown(None, records)[2], shown(21.64, {})[2]) == ("–", "–")


def test_a_page_is_one_file_without_scripts_or_addresses_elsewhere() -> None:
    for page in (table_page(view(), "command"), index_page([view()]), index_page([])):
        found = Tags(page)
        assert "script" not in found.tags
        assert all(address.endswith(".html") and "/" not in address for address in found.addresses)
        assert "default-src 'none'" in page


def test_a_page_says_what_stands_for_what_and_how_rows_were_trained() -> None:
    page = table_page(view(), "benchsuite repro temo/table1 --scale smoke")
    method = "InfoNCE in both directions at one fixed temperature."
    data, rule = "the 10 colours of scenes", "multiplied by 5"
    for said in ("21.64", "a small ResNet", "rate: by trial", "repro temo/table1 --scale smoke", method, data, rule):
        assert said in page


@pytest.mark.parametrize("part", ["label", "gap", "says"])
def test_hostile_names_show_as_text(part: str) -> None:
    page = table_page(view(**{part: HOSTILE}), "command")
    assert "script" not in Tags(page).tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_an_empty_report_says_what_to_run() -> None:
    assert "benchsuite repro temo/table1 --scale smoke" in index_page([])


def test_a_site_has_an_index_that_leads_to_its_pages(tmp_path: Path) -> None:
    index, page = write_site(tmp_path / "new", [view()])
    assert page.name in Tags(index.read_text()).addresses
    assert [file.name for file in tmp_path.glob("new/*")].sort() == [index.name, page.name].sort()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"report folder .*file: .* Name a writable one with --report"):
        write_site(tmp_path / "file", [])


def test_the_terminal_shows_published_above_ours_and_the_reason_for_gaps() -> None:
    lines = table_text(view(gap="no code")).splitlines()
    (published,) = [line for line in lines if line.startswith("InfoNCE")]
    assert published.split()[:3] == ["InfoNCE", "published", "21.64"]
    assert lines[lines.index(published) + 1].split()[:2] == ["ours", "–"]
    assert lines[lines.index(published) + 1].endswith("no code")


def test_a_figures_points_are_a_csv_beside_its_page(tmp_path: Path, make_record: MakeRecord) -> None:
    record = make_record(0, curves={"step": [0, 1], "gap": [0.9, 0.8], "loss": [1.0, 1.0]})[0]
    table = read_table("temo/table1").model_copy(update={"plots": [Plot(title="Gap, by step", y=["gap"])]})
    parts = {"": AskedRuns(setup_id="", method_id="", runs={0: "r"})}
    asked = view().asked.model_copy(
        update={"measures": {}, "rows": [AskedRow(label="InfoNCE", backbone="RN50", method="infonce", parts=parts)]}
    )
    write_site(tmp_path, [build_table(table, asked, {"r": record}, {})])
    lines = (tmp_path / "temo-table1-smoke-curves.csv").read_text().splitlines()
    assert lines == [
        "plot,backbone,variant,row,seed,curve,x,y",
        '"Gap, by step",RN50,,InfoNCE,0,gap,1,0.9',
        '"Gap, by step",RN50,,InfoNCE,0,gap,2,0.8',
    ]
    assert "temo-table1-smoke-curves.csv" in Tags((tmp_path / "temo-table1-smoke.html").read_text()).addresses


def test_a_page_lists_every_claim_with_its_verdict() -> None:
    page = table_page(view(), "command")
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1, published by 1.64" in page
    assert "its rows were not asked for" in page
