"""What cost and environment of a run may hold: pages, figures and data frames divide, cut and join these values."""

from collections.abc import Iterator, Mapping
from typing import Any

LARGEST = 3.5e38
"""No number of a run is larger: methods compute in single precision. Sums and differences of such are finite."""
TEXTS = ("benchsuite", "commit", "python", "platform", "processor", "device")
"""Of the environment."""
COUNTS = ("threads", "processes")
PACKAGES = "packages"


def wrong_kinds(cost: Mapping[str, Any], environment: Mapping[str, Any]) -> Iterator[str]:
    """All values that are not of their kind. Null is of every kind: not known. Other keys may hold anything."""
    for name, value in cost.items():
        if not (value is None or _is_number(value)):
            yield f"cost.{name} is {_shown(value)}, not a number from 0 on"
    for name in TEXTS:
        if not isinstance(environment.get(name), str | None):
            yield f"environment.{name} is {_shown(environment[name])}, not a text"
    for name in COUNTS:
        value = environment.get(name)
        if not (value is None or (type(value) is int and value > 0)):
            yield f"environment.{name} is {_shown(value)}, not a whole number above 0"
    if not isinstance(environment.get("dirty"), bool | None):
        yield f"environment.dirty is {_shown(environment['dirty'])}, not true or false"
    packages = environment.get(PACKAGES, {})
    if not isinstance(packages, Mapping):
        yield f"environment.{PACKAGES} is {_shown(packages)}, not versions by name"
    elif odd := [name for name, version in packages.items() if not isinstance(version, str | None)]:
        yield f"environment.{PACKAGES}.{odd[0]} is {_shown(packages[odd[0]])}, not a text"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
