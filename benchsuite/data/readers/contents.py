"""Digests of large files' contents: each file is read once, and again only when its size or time changes."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path

from benchsuite.data.readers.files import computed_once, stamp
from benchsuite.data.readers.images import in_threads
from benchsuite.files import sha256_of

Watch = Callable[[int, int], None]
watching: ContextVar[Watch] = ContextVar("watching", default=lambda done, total: None)
"""Called after each file that was read, with the bytes done and to do. The command line shows them."""


def content_digests(files: Mapping[str, Path]) -> dict[str, str]:
    """SHA-256 of each file."""
    stamps = {name: f"content-{stamp({name: path})}" for name, path in files.items()}
    sizes, watch, done = {name: path.stat().st_size for name, path in files.items()}, watching.get(), []
    names = list(files)

    def digest(i: int) -> str:
        name, read = names[i], []

        def compute() -> dict[str, str]:
            read.append(name)
            return {"sha256": sha256_of(files[name])}

        found = str(computed_once(stamps[name], compute)["sha256"])
        done.append(sizes[name])
        if read:
            watch(sum(done), sum(sizes.values()))
        return found

    return dict(zip(names, in_threads(digest, range(len(names))), strict=True))


def remember(name: str, path: Path, digest: str) -> None:
    """Keep the digest of a file that was just written, so that it is not read for it."""
    computed_once(f"content-{stamp({name: path})}", lambda: {"sha256": digest})
