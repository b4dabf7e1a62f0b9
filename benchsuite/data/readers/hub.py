"""Datasets of the Hugging Face hub in place of folders: hub:OWNER/NAME, or hub:OWNER/NAME@REVISION."""

import re
from functools import cache
from pathlib import Path

from benchsuite.errors import UsageError, first_line

HUB = re.compile(r"(?P<prefix>hub:)?(?P<name>[\w-][\w.-]*/[\w.-]+)(@(?P<revision>[\w./-]+))?")
"""A dataset on the Hugging Face hub, and which revision of it: one by its commit pins the files."""


def on_hub(source: str, plain: bool = False) -> tuple[str, str | None] | None:
    """Name and revision of `hub:OWNER/NAME@REVISION`; `plain`: without the prefix, too, unless a path is meant."""
    found = HUB.fullmatch(source)
    if found and (found["prefix"] or (plain and not Path(found["name"]).parent.exists())):
        return found["name"], found["revision"]
    return None


@cache
def downloaded(dataset: str, name: str, revision: str | None, files: tuple[str, ...] = ()) -> Path:
    """The folder of the hub's cache with its files, or those of these patterns; an interrupted download goes on."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=[*files] or None))
    except Exception as error:  # of the hub's many kinds
        which = f"{name}, revision {revision}," if revision else name
        raise UsageError(
            f"{dataset}: {which} is neither a folder nor a dataset that can be read from the hub ({first_line(error)})."
        ) from error
