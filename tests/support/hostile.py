"""Texts that do harm where a terminal, a spreadsheet, TeX or a browser obeys them, and how to tell that none would."""

import re
from unicodedata import category

from hypothesis import strategies as st

TEXTS = (
    "\x1b[2J\x1b[H\x1b[32mverified.\x1b[0m",
    "a\nverified.\n::error::no\r\x08\x7f\x9b31m\u2028\u2029\x85",
    "##[error]no ##vso[task.complete]no",
    "\u202everified\u202c \u2066x\u2069 \u200b\ufeff\U000e0001",
    '=HYPERLINK("http://x";"y")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    'a;=1+1;"-1+1',
    "＝1＋1",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) <javascript:alert(1)> ![x](x) [x]: javascript:alert(1)",
    "`</code> ``` | \\| || **b** _i_ ~~s~~ $x$ &lt;b&gt; &#60;b&#62; <!-- <?x <![CDATA[",
    "# h",
    "1. x",
    "- x",
    "--- | ---",
    "\\input{/etc/passwd} \\write18{x} ^^5cinput ^^M $x$ % } { & # _ ~ \\\\ \\end{table}",
    "\n\n\\par\n\n",
    "\ud800",
    "\0",
)
texts = st.sampled_from(TEXTS) | st.text(
    st.sampled_from("<>&|`*_[]()!#+-=@;:'\"\\^$%{}~ \n\r\t\0\x1b\x85\u2028\u202e") | st.characters(), max_size=20
)
FORMULA = re.compile(r"""[\s"]*[=+\-@\t\r＝＋－＠]""")


def is_clean(text: str) -> bool:
    """Whether a text has no control character and nothing that turns text around."""
    return all(character.isprintable() or category(character) == "Zs" for character in text)


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute a cell, be its separator a comma or a semicolon."""
    try:
        float(cell)
    except ValueError:
        return any(FORMULA.match(part) for part in cell.split(";"))
    return False


def is_command(line: str) -> bool:
    """Whether a service that builds would obey a line of a log, as GitHub's and Azure's runners read it."""
    return line.lstrip().startswith("::") or re.search(r"##\w*\[", line) is not None
