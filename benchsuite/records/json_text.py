"""JSON that anyone may have written: bounded in size, in depth and in numbers, and every key there once."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchsuite.files import read_stored, reason_of

VALUES = 250_000
"""Each takes about a kilobyte if it is wrong; a manifest of 30,000 records has 150,000."""
LONGEST = 20
"""Characters of a whole number below 2^63, with its sign."""


def parse(path: Path) -> Any:
    """JSON from a file; a ValueError says why there is none."""
    try:
        text = read_stored(path).decode()
    except OSError as error:
        raise ValueError(f"it cannot be read ({reason_of(error)})") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"truncated or not JSON ({error})") from error
    return parse_text(text)


def parse_text(text: str) -> Any:
    """JSON that anyone may have written; a ValueError says why it is none."""
    if len(text) > VALUES and (values := sum(map(text.count, ",[{"))) > VALUES:  # at least as many as there are
        raise ValueError(f"about {values:,} values; at most {VALUES:,} are read")
    try:
        return READER.decode(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"truncated or not JSON ({error})") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f'key "{key}" is there twice')
    return content


def _whole(digits: str) -> int:
    """A whole number; what reads it counts, divides and draws with it."""
    if len(digits) > LONGEST or abs(number := int(digits)) >= 1 << 63:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return number


READER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_int=_whole)
