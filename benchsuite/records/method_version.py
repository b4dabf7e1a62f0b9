"""Whether a record's method is at the version that is registered here."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from benchsuite.cards import Card
from benchsuite.grouping import by_key
from benchsuite.records.schema import MethodPart, Record
from benchsuite.registry import methods

State = Literal["current", "other", "unknown"]


def version_state(method: MethodPart) -> State:
    """Unknown if the method is not registered here: its plugin is not loaded."""
    if method.name not in methods:
        return "unknown"
    return "current" if methods.card(method.name).version == method.version else "other"


def stale(record: Record) -> str:
    """Why the record is out of date; empty if it is not, or if its method is not registered here."""
    method = record.method
    if version_state(method) != "other":
        return ""
    return f"measured with version {method.version} of {method.name}, which is at {methods.card(method.name).version}"


def edited(stored: Iterable[MethodPart]) -> list[str]:
    """Notes on methods of one's own whose file is another than when these runs were stored, under the same version."""
    codes = by_key((one.name, one.code) for one in stored if one.code and version_state(one) == "current")
    found = []
    for card, own in ((methods.card(name), own) for name, own in codes.items()):
        now = file_digest(card)
        if not card.built_in and (count := sum(code != now for code in own)):
            found.append(_edited(card, count))
    return found


def _edited(card: Card, count: int) -> str:
    were = "a run of it was" if count == 1 else f"{count} runs of it were"
    return (
        f"note: {Path(card.file).name} has changed since {were} stored, and {card.name} is still at version "
        f"{card.version}. If it computes other values now, write version={card.version + 1} in @register_method: "
        "then it is trained again."
    )


def file_digest(card: Card) -> str:
    """Of the file that defines a method; empty for one from a notebook.

    Information alone: who edits a file need not change what it computes.
    """
    file = Path(card.file)
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.is_file() else ""
