"""Whether a record's method is at the version that is registered here."""

import hashlib
from pathlib import Path
from typing import Literal

from benchsuite.cards import Card
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


def file_digest(card: Card) -> str:
    """Of the file that defines a method; empty for one from a notebook.

    Information alone: who edits a file need not change what it computes.
    """
    file = Path(card.file)
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.is_file() else ""
