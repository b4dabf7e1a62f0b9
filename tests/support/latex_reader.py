"""LaTeX as tests look at it: no TeX is needed."""

import re

COMMAND = re.compile(r"""\\([A-Za-z]+|[&%$#_{}\\`'^~=."])""")
BARE = re.compile(r"(?<!\\)[&%#_^~]")


def require_whole(latex: str) -> None:
    """Braces, dollars and environments close in order."""
    plain = COMMAND.sub(lambda command: "" if len(command[1]) == 1 and command[1] != "\\" else command[0], latex)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0, latex
    assert depth == 0, latex
    assert plain.count("$") % 2 == 0, latex
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        opened += [name] if kind == "begin" else []
        assert kind == "begin" or opened.pop() == name, latex
    assert not opened


def rows_of(latex: str) -> list[list[str]]:
    """The rows of the tabular, each as wide as its columns; what spans several stands once."""
    columns = re.search(r"\\begin\{tabular\}\{([lcr]+)\}", latex)
    assert columns
    body = latex[columns.end() : latex.index("\\end{tabular}")]
    rows = [re.split(r"(?<!\\)&", line.removesuffix("\\\\")) for line in body.splitlines() if line.endswith("\\\\")]
    for row in rows:
        spans = [int(span[1]) if (span := re.match(r"\s*\\multicolumn\{(\d+)\}", cell)) else 1 for cell in row]
        assert sum(spans) == len(columns[1]), row
    return [[cell.strip() for cell in row] for row in rows]
