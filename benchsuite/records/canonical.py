"""The one canonical form of plain data, and the digests that identify setups, methods and runs."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def canonical(value: Any) -> bytes:
    """Plain data as bytes that depend on its meaning alone.

    UTF-8 JSON without blanks, keys sorted, and numbers by value: 5, 5.0 and numpy-free floats that are whole are
    written alike, as a recipe may spell either. NaN, infinity, halves of characters and what is nested without end have
    no canonical form and are refused.
    """
    try:
        text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise ValueError("what is nested so deeply has no canonical form.") from error
    return text.encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: Any) -> str:
    """The first 16 hex digits of `digest`: what identifiers are made of."""
    return digest(value)[:16]


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} has no canonical form.")
            return int(value) if value.is_integer() else value
        case Mapping():
            if wrong := [key for key in value if not isinstance(key, str)]:
                raise ValueError(f"keys must be text; {wrong[0]!r} is not.")
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            raise ValueError(f"{type(value).__name__} is not plain data.")
