from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.papers.from_csv import as_toml, column, key_of, read_csv, row
from benchsuite.papers.schema import Table
from benchsuite.toml_files import read_toml


def written(folder: Path, text: str) -> Path:
    file = folder / "t.csv"
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_labels_come_first_and_known_headers_describe_rows(tmp_path: Path, separator: str) -> None:
    text = "\ufeffname,IR@1,Method,note\r\nA,21.6%,infonce,\r\n\r\nB,–,,odd\r\n"
    own, rows = read_csv(written(tmp_path, text.replace(",", separator)))
    assert own == ["IR@1"]
    assert [row(cells, own) for cells in rows] == [
        {"label": "A", "method": "infonce", "published": {"ir_1": 21.6}},
        {"label": "B", "note": "odd"},
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write a line of headers"),
        ("name,a\n", "write a line of headers"),
        ("name\nA\n", "rows of a label and a column"),
        ("name,method\nA,ts\n", "rows of a label and a column"),
        ("name,a,\nA,1,2\n", "each column needs a header"),
        ("name,a\n,1\n", "each row a label"),
        ("name,a\nA,1,2\n", "line 2: 3 cells, but 2 headers"),
    ],
)
def test_a_wrong_csv_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=r"t\.csv") as refused:
        read_csv(written(tmp_path, text))
    assert says in str(refused.value)


@pytest.mark.parametrize("cell", ["1 ± 2", "1,5", "NaN%", "-inf"])
def test_what_is_no_number_is_refused(cell: str) -> None:
    with pytest.raises(UsageError, match=r'row "A", column "a": .* is not a number'):
        row({"label": "A", "a": cell}, ["a"])


@pytest.mark.parametrize(("header", "key"), [("MSCOCO/IR@1", "mscoco_ir_1"), ("±", "column"), ("R@5 ", "r_5")])
def test_a_key_is_made_of_letters_and_digits(header: str, key: str) -> None:
    assert key_of(header) == key


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    own, rows = read_csv(written(tmp_path, 'name,G/x,method,role\n"A ""b"" \\ é",1.5,ts,proposed\nB,-,infonce,\n'))
    content = {
        "file_format": 1, "paper": "p", "table": "t", "locator": "", "title": 'A "title"',
        "recipes": {"my scale": "scenes-small"},
        "columns": [column(own[0], measure="geometry.gap", unit="number", better="lower")],
        "rows": [row(cells, own, backbone="RN50") for cells in rows],
    }  # fmt: skip
    file = tmp_path / "t.toml"
    file.write_text(as_toml(content), "utf-8")
    table = read_toml(file, Table)
    assert (table.name, table.title, table.recipes) == ("p/t", 'A "title"', {"my scale": "scenes-small"})
    (only,) = table.columns
    assert (only.group, only.label, only.unit, only.better) == ("G", "x", "number", "lower")
    first, second = table.rows
    assert (first.label, first.role, first.published["g_x"].value) == ('A "b" \\ é', "proposed", 1.5)
    assert (second.method, second.published) == ("infonce", {})
