"""Two examples for the help of each command, under the headings of the help: examples.txt. Tests parse all of them."""

from itertools import groupby

from benchsuite.files import packaged

GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    lines[0]: {command: tuple(examples) for command, examples in groupby(lines[1:], lambda line: line.split()[1])}
    for lines in map(str.splitlines, packaged("cli/shared/examples.txt").removeprefix("# ").split("\n# "))
}
"""Examples by heading and command, in the order of the help."""
EXAMPLES = {command: examples for group in GROUPS.values() for command, examples in group.items()}


def epilog(command: str) -> str:
    """What its help ends with; the mark keeps lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in EXAMPLES[command])])
