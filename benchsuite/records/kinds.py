"""What cost and environment of a run may hold: pages, figures and data frames divide, cut and join these values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

LARGEST = 3.5e38
"""No number of a run is larger: methods compute in single precision. Sums and differences of such are finite."""
ENVIRONMENT: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(
        ("benchsuite", "commit", "python", "platform", "processor", "device"),
        (lambda value: isinstance(value, str | None), "a text"),
    ),
    **dict.fromkeys(
        ("threads", "processes"),
        (lambda value: value is None or (type(value) is int and value > 0), "a whole number above 0"),
    ),
    "dirty": (lambda value: isinstance(value, bool | None), "true or false"),
    "packages": (lambda value: isinstance(value, Mapping), "versions by name"),
}


def wrong_kinds(cost: Mapping[str, Any], environment: Mapping[str, Any]) -> Iterator[str]:
    """All values that are not of their kind. Null is of every kind: not known. Other keys may hold anything."""
    for name, value in cost.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (value is None or (is_number and 0 <= value <= LARGEST)):
            yield f"cost.{name} is {_shown(value)}, not a number from 0 on"
    for name, (fits, kind) in ENVIRONMENT.items():
        if name in environment and not fits(environment[name]):
            yield f"environment.{name} is {_shown(environment[name])}, not {kind}"
    packages = environment.get("packages")
    for name, version in packages.items() if isinstance(packages, Mapping) else ():
        if not isinstance(version, str | None):
            yield f"environment.packages.{name} is {_shown(version)}, not a text"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
