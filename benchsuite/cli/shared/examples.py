"""Two examples for the help of each command, of examples.txt. Tests parse all of them."""

from itertools import groupby

from benchsuite.files import packaged

EXAMPLES = {
    command: tuple(examples)
    for command, examples in groupby(packaged("cli/shared/examples.txt").splitlines(), lambda line: line.split()[1])
}
"""By command, in the order of the help."""


def epilog(command: str) -> str:
    """What its help ends with; the mark keeps lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in EXAMPLES[command])])
