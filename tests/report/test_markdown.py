from support.markdown_reader import tables

from benchsuite.report.markdown import head, row


def test_no_cell_ends_its_column_or_its_row() -> None:
    cells = ["a | b", "first\nsecond", "| c |"]
    markdown = "\n".join([*head(["x", "y", "z"]), row(cells)])
    assert len(markdown.splitlines()) == 3
    assert tables(markdown) == [[["x", "y", "z"], ["a | b", "first second", "| c |"]]]
