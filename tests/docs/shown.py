"""Commands and Python that the README and the documentation show, as lists."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/maintainers").glob("*.md"))]
PAGES = {page.name: page.read_text("utf-8") for page in FILES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
STARTS = r"benchsuite|python|python3|tox|git|pip|cd|mkdir|for|done|BENCHSUITE_\w+=\S+|\S*/(?:tox|pip|python)"
COMMAND = re.compile(rf"^(?:{STARTS}) .*|^done.*")


def lines(page: str) -> list[str]:
    """Commands in fenced blocks without a language, in indented lines, and in the cells of tables."""
    text = PAGES[page]
    fenced = [line.strip() for kind, block in BLOCK.findall(text) if not kind for line in block.splitlines()]
    rest = BLOCK.sub("", text)
    indented = re.findall(r"^    (\S.*)", rest, re.M)
    cells = [
        cell for row in re.findall(r"^\|.*", rest, re.M) for cell in re.findall(r"\| `(benchsuite [^`]*)` \|", row)
    ]
    return [line for line in (*fenced, *indented, *cells) if COMMAND.match(line)]


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of one language."""
    return [block for language, block in BLOCK.findall(PAGES[page]) if language == kind]


def words(line: str) -> list[str]:
    """Of a call of the suite, after its name: of the call in the body of a loop, for the first turn of it."""
    if line.startswith("for "):
        line = line.partition("; do ")[2].partition("; done")[0].replace("$seed", "0")
    program, *arguments = shlex.split(line, comments=True)
    assert program == "benchsuite", line
    return arguments
