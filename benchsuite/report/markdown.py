"""Markdown that text from other people's files cannot break."""

import re
from collections.abc import Iterable, Sequence

from benchsuite.harmless import spelled

ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}
SPECIAL = re.compile(r"[\\`*~$\[\]<>|]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
"""What has a meaning in a line: an underscore between letters has none, and names are full of them."""
LEADING = re.compile(r"^(\d+(?=[.)](?: |$))|(?=[#+=-]))")
"""What begins a heading or a list."""


def text(plain_text: str) -> str:
    """As text in a line: no HTML, no link, no emphasis, no code and no other block can come of it.

    What an entity says is never markup, and it is one in every program; a backslash would not always save a pipe.
    """
    words = spelled(" ".join(plain_text.split()))
    return LEADING.sub(r"\1\\", SPECIAL.sub(lambda mark: ENTITIES.get(mark[0], f"\\{mark[0]}"), words))


def row(cells: Iterable[str]) -> str:
    """A row of a table; no cell can end its column or its line."""
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def head(cells: Sequence[str]) -> list[str]:
    """The row of heads, and the line below it."""
    return [row(cells), row(["---"] * len(cells))]
