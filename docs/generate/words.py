"""Docstrings and titles as Markdown, and Markdown tables."""

import re
from collections.abc import Iterable, Sequence

from benchsuite.report.markdown import head, row, text
from benchsuite.report.render import math, paragraphs

SPECIAL = re.compile(r"[\\*_\[\]<>$|~#&]")


def prose(words: str) -> str:
    """Text with `code` in it; nothing else of it is markup."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return SPECIAL.sub(r"\\\g<0>", words)
    return "".join(f"`{part}`" if i % 2 else SPECIAL.sub(r"\\\g<0>", part) for i, part in enumerate(parts))


def doc(docstring: str) -> list[str]:
    """A docstring's paragraphs, blank lines between."""
    return [line for paragraph in paragraphs(docstring) for line in (prose(paragraph), "")]


def equation(latex: str) -> list[str]:
    """An equation as MathML, which needs no script."""
    return ["```{raw} html", f'<div class="equation">{math(latex)}</div>', "```", ""]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, and a blank line."""
    return [*head(heads), *(row(cells) for cells in rows), ""]


def shell(*commands: str) -> list[str]:
    """Commands to copy."""
    return ["```", *commands, "```", ""]


def contents(names: Iterable[str], depth: int = 1) -> list[str]:
    """The pages below this one."""
    return ["```{toctree}", f":maxdepth: {depth}", "", *names, "```", ""]


def page(*lines: str) -> str:
    """Lines as a file."""
    return "\n".join(lines).rstrip("\n") + "\n"


def plain(words: str) -> str:
    """A title from a file: no markup."""
    return text(words)
