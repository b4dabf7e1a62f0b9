"""Datasets of the Hugging Face hub in place of folders: hub:OWNER/NAME, or hub:OWNER/NAME@REVISION."""

import re
from collections.abc import Sequence
from contextvars import ContextVar
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from benchsuite.errors import UsageError, first_line
from benchsuite.registry import datasets

HUB = re.compile(r"(?P<prefix>hub:)?(?P<name>[\w-][\w.-]*/[\w.-]+)(@(?P<revision>[\w./-]+))?")
"""A dataset on the Hugging Face hub, and which revision of it: one by its commit pins the files."""


fetching: ContextVar[bool] = ContextVar("fetching", default=True)
"""Whether what is on the hub is downloaded. A dry run says how much that is."""


def on_hub(source: str, plain: bool = False) -> tuple[str, str | None] | None:
    """Name and revision of `hub:OWNER/NAME@REVISION`; `plain`: without the prefix, too, unless a path is meant."""
    found = HUB.fullmatch(source)
    if found and (found["prefix"] or (plain and not Path(found["name"]).parent.exists())):
        return found["name"], found["revision"]
    return None


def pinned(dataset: str) -> str:
    """OWNER/NAME@COMMIT of the files that a dataset reads, which `hub:` alone stands for; "" if it names none."""
    source = datasets.card(dataset).about.get("source", dataset)
    return str(datasets.card(source).about.get("hub", ""))


@cache
def downloaded(dataset: str, name: str, revision: str | None, files: tuple[str, ...] = ()) -> Path:
    """The folder of the hub's cache with its files, or those of these patterns; an interrupted download goes on."""
    from huggingface_hub import snapshot_download

    try:
        lacking = [] if fetching.get() else sizes_to_fetch(name, revision, files)
        if not lacking:
            patterns = [*files] or None
            return Path(snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=patterns))
    except Exception as error:  # of the hub's many kinds
        which = f"{name}, revision {revision}," if revision else name
        raise UsageError(
            f"{dataset}: {which} is neither a folder nor a dataset that can be read from the hub ({first_line(error)})."
        ) from error
    raise not_fetched(dataset, name, revision, lacking, files)


def not_fetched(
    dataset: str, name: str, revision: str | None, lacking: Sequence[int], files: Sequence[str] = ()
) -> UsageError:
    """What a dry run says of files of these sizes, and how to fetch those of these patterns, or all."""
    asked = "".join(f" --include '{pattern}'" for pattern in files) + (f" --revision {revision}" if revision else "")
    size = sum(lacking) / 1e6
    return UsageError(
        f"{dataset}: {name} has {f'{size / 1e3:,.1f} GB' if size > 1e3 else f'{size:,.1f} MB'} in "
        f"{len(lacking)} files that are not here, and a dry run does not fetch them. "
        f"`hf download {name} --repo-type dataset{asked}` does, or the command without --dry-run."
    )


def sizes_to_fetch(name: str, revision: str | None, files: Sequence[str]) -> list[int]:
    """Bytes of each file that the cache lacks; none where no hub answers: the cache is all there is."""
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    try:
        about = HfApi().dataset_info(name, revision=revision, files_metadata=True)
    except HfHubHTTPError:
        raise  # it answers that there is none, or that it is gated
    except Exception:  # no answer
        return []
    sizes = {file.rfilename: file.size or 0 for file in about.siblings or ()}
    wanted = [file for file in sizes if not files or any(fnmatch(file, pattern) for pattern in files)]
    cached = {file: try_to_load_from_cache(name, file, revision=about.sha, repo_type="dataset") for file in wanted}
    return [sizes[file] for file, path in cached.items() if not isinstance(path, str)]
