"""Which part of a table an export prints, and how."""

from dataclasses import dataclass
from typing import Literal

Show = Literal["ours", "published", "both"]
"""Whose numbers."""
Spread = Literal["ci", "sd", "se", "none"]
"""What follows ±."""


@dataclass(frozen=True)
class ExportOptions:
    """What of a table is printed, and how."""

    show: Show = "both"
    spread: Spread | None = None
    """None: the 95% CI; in CSV all."""
    digits: int | None = None
    """Decimals of our numbers; none for those of the pages."""


DEFAULT = ExportOptions()
