"""The one canonical form of plain data, and the digests that identify setups, methods and runs."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 64
"""Levels of lists and mappings: what reads and shows plain data calls itself for each."""
ATOMS = frozenset((str, int, bool, type(None)))
WRITER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical(value: Any) -> bytes:
    """Plain data as bytes that depend on its meaning alone.

    UTF-8 JSON without blanks, keys sorted, and numbers by value: 5, 5.0 and numpy-free floats that are whole are
    written alike, as a recipe may spell either. NaN, infinity, halves of characters and what is nested deeply have no
    canonical form and are refused.
    """
    return WRITER.encode(_plain(value, DEEPEST)).encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: Any) -> str:
    """The first 16 hex digits of `digest`: what identifiers are made of."""
    return digest(value)[:16]


def _plain(value: Any, levels: int) -> Any:
    """A copy in which numbers are spelt alike, of at most so many levels.

    Exact types are asked for first: a record has hundreds of values.
    """
    kind = type(value)
    if kind is float:
        if not math.isfinite(value):
            raise ValueError(f"{value} has no canonical form.")
        return int(value) if value.is_integer() else value
    if kind in ATOMS:
        return value
    if not levels:
        raise ValueError(f"what is nested more than {DEEPEST} levels deep has no canonical form.")
    if kind is list:
        return [_plain(item, levels - 1) for item in value]
    if kind is dict:
        if wrong := [key for key in value if not isinstance(key, str)]:
            raise ValueError(f"keys must be text; {wrong[0]!r} is not.")
        return {key: _plain(item, levels - 1) for key, item in value.items()}
    return _plain(_exact(value), levels)


def _exact(value: Any) -> Any:
    """What is a kind of plain data, as that kind itself."""
    match value:
        case float():
            return float(value)
        case int():
            return int(value)
        case str():
            return "".join(value)
        case Mapping():
            return dict(value)
        case list() | tuple():
            return list(value)
        case _:
            raise ValueError(f"{type(value).__name__} is not plain data.")
