"""Text of other people's files where it leaves: on a terminal or in a log, in CSV, in JSON.

What only Markdown, LaTeX or HTML obeys is escaped where those are written.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import category

COMMAND = re.compile(r"^[^!-~]*:(?=[^ -~]*:)|#(?=[^ -~]*#\w*\[)")
"""The last character that a build service needs to take a line for a command: `::error::` at its beginning, `##[error]`
and `##vso[...]` anywhere, and the same with characters between that its comparison of texts ignores."""
FORMULA = re.compile(r"""(^|;)(?=[\s"']*[=+\-@＝＋－＠])""")
"""Where a spreadsheet begins to read a formula: in a cell, or in what is one where semicolons separate cells."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.ASCII | re.IGNORECASE)


def spelled(text: str, keep: str = "") -> str:
    """On one line: control characters and marks that turn text around are spelled as JSON spells them, `\\u001b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or category(c) == "Zs" else json.dumps(c)[1:-1] for c in text)


def line(text: str) -> str:
    """A line of a terminal or of a build's log: nothing obeys it."""
    return COMMAND.sub(lambda found: found[0][:-1] + f"\\u{ord(found[0][-1]):04x}", spelled(text))


def csv_cell(value: Any) -> Any:
    """A text that a spreadsheet would compute gets an apostrophe in front, as OWASP advises; numbers stay numbers."""
    if not isinstance(value, str) or NUMBER.fullmatch(value):
        return value
    return FORMULA.sub(r"\1'", spelled(value))


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(csv_cell, row) for row in rows)
    return text.getvalue()


def json_text(value: Any) -> str:
    """JSON in many lines, with letters of all alphabets as they are."""
    return spelled(json.dumps(value, indent=2, ensure_ascii=False), keep="\n")


def json_lines(content: Mapping[str, Any]) -> str:
    """A JSON object with a line for each value, and for each item of a list: as short as it can be and still read."""

    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def lines(value: Any) -> str:
        return "[\n" + ",\n".join(map(written, value)) + "\n]" if value and isinstance(value, list) else written(value)

    body = ",\n".join(f"{written(key)}: {lines(value)}" for key, value in content.items())
    return spelled(f"{{\n{body}\n}}", keep="\n")
