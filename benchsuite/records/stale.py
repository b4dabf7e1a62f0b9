"""Whether the code that measured a record is still the code that is here."""

from typing import Literal

from benchsuite.records.code_version import code_version
from benchsuite.records.schema import Record
from benchsuite.registry import methods

State = Literal["current", "older", "unknown"]


def stale(record: Record) -> str:
    """Why the record is out of date, for whoever shows it; nothing if it is not, or if its method is not known here."""
    return f"measured with older code of {record.method.name}" if code_state(record) == "older" else ""


def code_state(record: Record) -> State:
    """Current or older code of the method; unknown if the method is not registered here: its plugin is not loaded."""
    name = record.method.name
    if name not in methods:
        return "unknown"
    return "current" if code_version(methods.card(name)) == record.method.code else "older"
