"""Markdown that text from other people's files cannot break, and such text for a terminal."""

import re
from collections.abc import Sequence

MOST = 200
"""Characters of one text that are shown."""


def plain(text: str, most: int = MOST) -> str:
    """On one line, without control characters and marks that turn text around, cut where it is long."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split()))
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def code(text: str, most: int = MOST) -> str:
    """As a code span: no Markdown, no HTML, no mention, no reference to an issue and no link can come of it.

    The fence is longer than any run of backticks in the text. A pipe would end a table's cell even here, and an escaped
    one is read differently from program to program; a broken bar stands for it.
    """
    shown = plain(text, most).replace("|", "¦") or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def row(cells: Sequence[str]) -> str:
    """A row of a table; no cell can end its column or its line."""
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def head(cells: Sequence[str]) -> list[str]:
    """The row of heads, and the line below it."""
    return [row(cells), row(["---"] * len(cells))]
