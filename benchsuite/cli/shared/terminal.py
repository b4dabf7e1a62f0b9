"""What all commands print goes through here, so no text of a file clears the screen or adds a line of its own."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from benchsuite.harmless import json_text, line

if TYPE_CHECKING:
    from benchsuite.records.schema import Result

_only_json = False


def keep_stdout_for_json(wanted: bool) -> bool:
    """From now on what is said goes to stderr, so that stdout is one JSON text. The callback of every --json."""
    global _only_json
    _only_json = wanted
    return wanted


def say_json(value: Any) -> None:
    """Print what a command found as JSON. Its keys are in docs/formats.md."""
    say_json_text(json_text(value))


def say_json_text(text: str) -> None:
    """Print a text that is JSON already, on stdout."""
    print(*map(line, text.removesuffix("\n").split("\n")), sep="\n", flush=True)


def say(*lines: str, error: bool = False) -> None:
    """Print lines, if any. A line break inside of one is spelled like any other control character."""
    if lines:
        print(*map(line, lines), sep="\n", file=sys.stderr if error or _only_json else sys.stdout, flush=True)


def say_text(text: str) -> None:
    """Print a text whose line breaks are ours: what it took from files is on one line each."""
    say(*text.removesuffix("\n").split("\n"))


def result_lines(results: "Mapping[str, Result]") -> Iterator[str]:
    """What each protocol measured; metrics in percent."""
    for name, result in results.items():
        for metric, value in result.metrics.items():
            yield f"  {name + '.' + metric:<32} {100 * value:6.2f} %"
        for measure, value in result.measures.items():
            yield f"  {name + '.' + measure:<32} {value:9.5g}"
