from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.papers.from_csv import CsvColumn, as_toml, key_of, read_csv
from benchsuite.papers.schema import Table
from benchsuite.toml_files import read_toml


def written(folder: Path, text: str) -> Path:
    file = folder / "t.csv"
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_labels_come_first_and_known_headers_describe_rows(tmp_path: Path, separator: str) -> None:
    text = "\ufeffname,IR@1,Method,note\r\nA,21.6%,infonce,\r\n\r\nB,–,,odd\r\n"
    headers, rows = read_csv(written(tmp_path, text.replace(",", separator)))
    assert headers == ["IR@1"]
    assert [(row.line, row.label, row.about, row.published) for row in rows] == [
        (2, "A", {"method": "infonce"}, {"ir_1": 21.6}),
        (4, "B", {"note": "odd"}, {}),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "needs a line of headers"),
        ("name,a\n", "needs a line of headers"),
        ("name\nA\n", "rows of a label and a column"),
        ("name,a,\nA,1,2\n", "line 1: column 3 has no header"),
        ("name,method\nA,ts\n", "all columns describe rows"),
        ("name,a,a\nA,1,2\n", 'column "a" and one before it have the key a; rename one'),
        ("name,R@1,R/1\nA,1,2\n", 'column "R/1" and one before it have the key r_1'),
        ("name,a\nA,1,2\n", "line 2: 3 cells, but 2 headers"),
        ("name,a\n,1\n", "line 2: the row has no label"),
        ("name,a\nA,1 ± 2\n", 'line 2, column "a": "1 ± 2" is not a number'),
        ('name,a\nA,"1,5"\n', '"1,5" is not a number. Write the mean alone, with a point'),
    ],
)
def test_a_wrong_csv_is_refused_by_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_csv(written(tmp_path, text))
    assert says in str(refused.value)
    assert "t.csv" in str(refused.value)


@pytest.mark.parametrize(("header", "key"), [("MSCOCO/IR@1", "mscoco_ir_1"), ("±", "column"), ("R@5 ", "r_5")])
def test_a_key_is_made_of_letters_and_digits(header: str, key: str) -> None:
    assert key_of(header) == key


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    _, rows = read_csv(written(tmp_path, 'name,G/x,method,role\n"A ""b"" \\ é",1.5,ts,proposed\nB,-,infonce,\n'))
    rows = [type(row)(row.line, row.label, {"backbone": "RN50", **row.about}, row.published) for row in rows]
    columns = [CsvColumn("g_x", "G/x", "geometry.gap", "number", "lower")]
    file = tmp_path / "t.toml"
    file.write_text(as_toml("p/t", 'A "title"', {"my scale": "scenes-small"}, columns, rows), "utf-8")
    table = read_toml(file, Table)
    assert (table.name, table.title, table.recipes) == ("p/t", 'A "title"', {"my scale": "scenes-small"})
    (column,) = table.columns
    assert (column.group, column.label, column.unit, column.better) == ("G", "x", "number", "lower")
    first, second = table.rows
    assert (first.label, first.role, first.published["g_x"].value) == ('A "b" \\ é', "proposed", 1.5)
    assert (second.method, second.published) == ("infonce", {})
