"""The one canonical form of plain data, and the digests that identify setups, methods and runs."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 64
"""Levels of lists and mappings: what reads and shows plain data calls itself for each."""
WRITER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


ALIKE = frozenset({str, int, bool, type(None)})
"""Kinds that are spelt in one way."""
SINGLE = ALIKE | {float}


def canonical(value: Any) -> bytes:
    """Plain data as bytes that depend on its meaning alone.

    UTF-8 JSON without blanks, keys sorted, and numbers by value: 5, 5.0 and numpy-free floats that are whole are
    written alike, as a recipe may spell either. NaN, infinity, halves of characters and what is nested deeply have no
    canonical form and are refused.
    """
    return WRITER.encode(_plain(value, DEEPEST)).encode()


def alike(one: Any, other: Any) -> bool:
    """Whether two values, which have a canonical form, have the same."""
    if type(one) is type(other) and type(one) in SINGLE and one == other:
        return True
    return canonical(one) == canonical(other)


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: Any) -> str:
    """The first 16 hex digits of `digest`: what identifiers are made of."""
    return digest(value)[:16]


def _plain(value: Any, levels: int) -> Any:
    """A copy in which numbers are spelt alike, of at most so many levels."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no canonical form.")
        return int(value) if value.is_integer() else value
    if isinstance(value, str | int | None):
        return value
    if not levels:
        raise ValueError(f"what is nested more than {DEEPEST} levels deep has no canonical form.")
    if isinstance(value, list | tuple):
        return [
            item if type(item) in ALIKE or (type(item) is float and item % 1 > 0) else _plain(item, levels - 1)
            for item in value
        ]
    if isinstance(value, Mapping):
        if wrong := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"keys must be text; {wrong[0]!r} is not.")
        return {key: item if type(item) in ALIKE else _plain(item, levels - 1) for key, item in value.items()}
    raise ValueError(f"{type(value).__name__} is not plain data.")
