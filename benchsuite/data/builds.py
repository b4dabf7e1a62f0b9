"""Generated datasets on disk: built whole or not at all, digested column by column, kept as Arrow.

A build is a folder: one Arrow dataset a split and a `manifest.json`. It is written beside its place under another name
and moved there in one step, so a killed build leaves no half of one, and of two at once the first to finish stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchsuite.files import draft_of

MANIFEST = "manifest.json"


def place_of(folder: Path, request: Mapping[str, Any]) -> Path:
    """Where the build that answers a request lies; a request names the dataset, its version and every parameter."""
    text = json.dumps(request, sort_keys=True)
    return folder / f"{request['name']}-v{request['version']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def build(place: Path, write: Callable[[Path], Mapping[str, Any]]) -> Path:
    """`place`, filled if it is not there yet.

    `write` puts the splits into a draft and gives what the manifest is to say.
    """
    if (place / MANIFEST).is_file():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    _sweep(place.parent, place.name.rpartition("-")[0])
    try:
        with draft_of(place) as draft:
            draft.mkdir()
            text = json.dumps(write(draft), indent=2) + "\n"
            (draft / MANIFEST).write_text(text, encoding="utf-8")
    except OSError:
        if not (place / MANIFEST).is_file():  # otherwise somebody else built the same bytes meanwhile
            raise
    return place


def _sweep(folder: Path, stem: str) -> None:
    """Remove what builds killed over an hour ago left behind; younger drafts may be somebody's work."""
    for draft in folder.glob(f".{stem}-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - draft.stat().st_mtime > 3600:
                shutil.rmtree(draft, ignore_errors=True)


def manifest(path: Path, name: str) -> dict[str, Any]:
    """What was said of a build of dataset `name` when it was made."""
    file = path / MANIFEST
    if not file.is_file():
        raise FileNotFoundError(f"{path} holds no build of {name}: there is no {MANIFEST} in it")
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def digest(columns: Mapping[str, bytes]) -> str:
    """sha256 over canonical bytes of every column, each preceded by its name and length."""
    total = hashlib.sha256()
    for name, content in columns.items():
        total.update(f"{name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def digest_of(digests: Mapping[str, str]) -> str:
    """One digest of all splits'."""
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def canonical(texts: list[list[str]]) -> bytes:
    """The bytes of lists of texts."""
    return json.dumps(texts, ensure_ascii=True, separators=(",", ":")).encode()


def save(columns: Mapping[str, Any], types: Mapping[str, Any], folder: Path) -> None:
    """One Arrow dataset, without a progress bar; types as `datasets` names them, in a list for a list of them."""
    import datasets

    def feature(kind: Any) -> Any:
        return datasets.Sequence(feature(kind[0])) if isinstance(kind, list) else datasets.Value(kind)

    features = datasets.Features({name: feature(kind) for name, kind in types.items()})
    quiet = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        datasets.Dataset.from_dict(dict(columns), features=features).save_to_disk(folder, num_shards=1)
    finally:
        if not quiet:
            datasets.enable_progress_bars()
