"""Which part of a table an export prints, and how."""

from dataclasses import dataclass
from enum import StrEnum


class Show(StrEnum):
    """Whose numbers."""

    ours = "ours"
    published = "published"
    both = "both"


class Spread(StrEnum):
    """What follows ±."""

    ci = "ci"
    sd = "sd"
    se = "se"
    none = "none"


@dataclass(frozen=True)
class ExportOptions:
    """What of a table is printed, and how."""

    show: Show = Show.both
    spread: Spread | None = None
    """None: the 95% CI; in CSV all."""
    digits: int | None = None
    """Decimals of our numbers; none for those of the pages."""


DEFAULT = ExportOptions()
