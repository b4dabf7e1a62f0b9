"""What all commands print goes through here, so no text of a file clears the screen or adds a line of its own."""

import sys

from benchsuite.harmless import line


def say(*lines: str, error: bool = False) -> None:
    """Print lines. A line break inside of one is spelled like any other control character."""
    print(*map(line, lines), sep="\n", file=sys.stderr if error else sys.stdout, flush=True)


def say_text(text: str) -> None:
    """Print a text whose line breaks are ours: what it took from files is on one line each."""
    say(*text.removesuffix("\n").split("\n"))


def say_over(text: str, last: bool) -> None:
    """Print a line in the place of the one before, on stderr; after the last one the next begins."""
    print(f"\r{line(text)}", end="\n" if last else "", file=sys.stderr, flush=True)
