"""Folders of files: required files, text and JSON, and digests of what the files hold."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from benchsuite.canonical import short_digest
from benchsuite.data.cached import made_once
from benchsuite.data.readers.hub import downloaded, on_hub, pinned
from benchsuite.data.readers.images import in_threads
from benchsuite.errors import UsageError
from benchsuite.files import reason_of, require_regular, sha256_of
from benchsuite.paths import cache

Watch = Callable[[int, int], None]
watching: ContextVar[Watch] = ContextVar("watching", default=lambda done, total: None)
"""Called after each file that was read, with the bytes done and to do. The command line shows them."""


def require_folder(dataset: str, folder: str, layout: str, files: Sequence[str] = ()) -> Path:
    """The folder as a path, that of a hub's dataset too, or an error that says how to give it and what it must hold.

    `files` are patterns of what is downloaded from the hub; all if there are none.
    """
    if not folder:
        hub = pinned(dataset).partition("@")[0]
        hint = f" `--data {dataset}=hub:` takes {hub} from the hub." if hub else ""
        raise UsageError(f"{dataset}: no folder was given. Add --data {dataset}=FOLDER, which holds {layout}.{hint}")
    if named := on_hub(folder):
        return downloaded(dataset, *named, tuple(files))
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise UsageError(f"{dataset}: {folder} is not a folder. Give one that holds {layout}.")
    return path


def require_file(path: Path, layout: str) -> Path:
    """The path, if it is a file."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file. The folder must hold {layout}.")
    return path


def one_each(places: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """The place of each split, or an error where two places that are there have one."""
    found: dict[str, Path] = {}
    for split, place in places:
        if split in found:
            raise UsageError(f"{place.parent}: both {found[split].name} and {place.name} are {split}; keep one.")
        found[split] = place
    return found


def read_text(path: Path, encoding: str = "utf-8", lines: bool = True) -> str:
    """The file's text, or an error that names the file; with `lines`, each end of a line is a line feed."""
    try:
        require_regular(path)
        with path.open(encoding=encoding, newline=None if lines else "") as stream:
            return stream.read()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not {encoding} text (byte {error.start}).") from error
    except OSError as error:
        raise UsageError(f"{path}: {reason_of(error)}.") from error


def read_json(path: Path) -> Any:
    """The file's content, or an error that names the file."""
    return json_of(read_text(path, "utf-8-sig"), str(path))


def json_of(text: str, where: str) -> Any:
    """What a JSON text says, or an error that begins with `where`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{where}: not valid JSON: {error}.") from error
    except RecursionError as error:
        raise UsageError(f"{where}: not readable JSON: lists or objects are nested too deeply.") from error


def files_under(folder: Path) -> dict[str, Path]:
    """All files under a folder by relative name, without hidden ones. Links are followed, but not back up."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(_under(folder, frozenset()))}


def _under(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    if (here := folder.resolve()) in above or not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name[0] != "." and entry.is_dir():
                yield from _under(folder / entry.name, above | {here})
            elif entry.name[0] != "." and entry.is_file():
                yield folder / entry.name


def stamp(files: Mapping[str, Path]) -> str:
    """Changes when a file's name, size or modification time does: the key under which digests are kept."""
    return short_digest(
        [[name, str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for name, path in files.items()]
    )


def files_digest(files: Mapping[str, Path]) -> str:
    """Of names and contents, not of paths; kept in the cache while no file changes."""
    kept = computed_once(
        stamp(files), lambda: {"digest": short_digest({name: sha256_of(path) for name, path in files.items()})}
    )
    return str(kept["digest"])


def content_digests(files: Mapping[str, Path]) -> dict[str, str]:
    """SHA-256 of each large file: each is read once, and again only when its size or time changes."""
    sizes, watch, done = {name: path.stat().st_size for name, path in files.items()}, watching.get(), []

    def digest(name: str) -> str:
        read = []

        def compute() -> dict[str, str]:
            read.append(name)
            return {"sha256": sha256_of(files[name])}

        found = str(computed_once(f"content-{stamp({name: files[name]})}", compute)["sha256"])
        done.append(sizes[name])
        if read:
            watch(sum(done), sum(sizes.values()))
        return found

    return dict(zip(files, in_threads(digest, list(files)), strict=True))


def remember(name: str, path: Path, digest: str) -> None:
    """Keep the digest of a file that was just written, so that it is not read for it."""
    computed_once(f"content-{stamp({name: path})}", lambda: {"sha256": digest})


def computed_once(key: str, compute: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result that the cache has for this key, computed now if it has none."""
    file = cache() / "digests" / f"{key}.json"
    made_once(file, lambda draft: draft.write_text(json.dumps(compute()), "utf-8"))
    result: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return result
