"""Stored records that somebody edits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchsuite.records.schema import content_digest

Change = Callable[[dict[str, Any]], object]


def file_of(folder: Path, seed: int) -> Path:
    return next(folder.glob(f"infonce-s{seed}-*.json"))


def edit(file: Path, change: Change, sealed: bool = False) -> None:
    """Change what a record says; a forger also seals it again."""
    content = json.loads(file.read_text("utf-8"))
    change(content)
    if sealed:
        content["digest"] = content_digest(content)
    file.write_text(json.dumps(content), "utf-8")


def metrics(content: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = content["results"]["retrieval"]["metrics"]
    return found
