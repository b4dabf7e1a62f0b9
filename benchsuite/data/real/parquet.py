"""Labelled pictures from parquet files in the hub's layout, decoded once and kept as arrays."""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.real.files import stamp
from benchsuite.errors import UsageError
from benchsuite.files import draft_of
from benchsuite.paths import cache

VERSION = 1
"""Of the kept arrays."""


@dataclass(frozen=True)
class Layout:
    """What the files must hold."""

    dataset: str
    picture: str
    label: str
    classes: Sequence[str]
    """Names in the order of the ids."""
    side: int
    splits: tuple[str, ...] = ("train", "test")

    def __str__(self) -> str:
        files = " and ".join(f"{split}-*.parquet" for split in self.splits)
        return f"{files} with columns {self.picture} (struct of bytes) and {self.label} (class ids)"


@dataclass(frozen=True)
class Labelled:
    """One split: uint8 pictures [n, side, side, 3], mapped from disk, and class ids [n]."""

    pictures: NDArray[np.uint8]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Decoded:
    """All splits, and the digest of the stored picture bytes and labels: of what is in the files, not how."""

    splits: Mapping[str, Labelled]
    digest: str


def load(source: str, layout: Layout) -> Decoded:
    """From a local folder, or by hub name through `datasets`; decoded at the first call, then read from the cache."""
    if not source:
        raise UsageError(
            f"{layout.dataset}: no data was given. Add --data {layout.dataset}=FOLDER, which holds {layout}; "
            "a hub name does too."
        )
    folder = Path(source).expanduser()
    files = _local_files(folder, layout) if folder.is_dir() else _hub_files(source, layout)
    key = short_digest([VERSION, str(layout), layout.side, *(stamp(dict(enumerate_names(f))) for f in files.values())])
    place = cache() / "datasets" / f"{layout.dataset}-{key}"
    place.parent.mkdir(exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not place.is_dir():
            _build(place, files, layout)
    told = json.loads((place / "manifest.json").read_text("utf-8"))
    splits = {
        split: Labelled(np.load(place / f"{split}.npy", mmap_mode="r"), np.load(place / f"{split}-labels.npy"))
        for split in layout.splits
    }
    return Decoded(splits, told["digest"])


def enumerate_names(files: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Files by their place in the order of reading."""
    return ((f"{place:05}", path) for place, path in enumerate(files))


def _local_files(folder: Path, layout: Layout) -> dict[str, list[Path]]:
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for place in places:
        found = {split: sorted(place.glob(f"{split}-*.parquet")) for split in layout.splits}
        if all(found.values()):
            return found
    missing = next(split for split in layout.splits if not list(folder.glob(f"{split}-*.parquet")))
    raise UsageError(f"{folder}: no {missing}-*.parquet. {layout.dataset} needs {layout}.")


def _hub_files(name: str, layout: Layout) -> dict[str, list[Path]]:
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise UsageError(f"{layout.dataset}: {name} is no folder. Give one that holds {layout}, or a hub name.")
    import datasets

    try:
        stored = datasets.load_dataset(name)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"{layout.dataset}: {name} is neither a folder nor a dataset that can be read from the hub ({reason})."
        ) from error
    if missing := [split for split in layout.splits if split not in stored]:
        raise UsageError(f"{layout.dataset}: {name} has no split {missing[0]}.")
    return {split: [Path(file["filename"]) for file in stored[split].cache_files] for split in layout.splits}


def _build(place: Path, files: Mapping[str, Sequence[Path]], layout: Layout) -> None:
    sha = hashlib.sha256()
    with draft_of(place) as draft:
        draft.mkdir()
        for split, paths in files.items():
            pictures, labels = _decode(paths, layout, sha)
            np.save(draft / f"{split}.npy", pictures)
            np.save(draft / f"{split}-labels.npy", labels)
        told = {"name": layout.dataset, "digest": sha.hexdigest()[:16]}
        (draft / "manifest.json").write_text(json.dumps(told), "utf-8")


def _decode(paths: Sequence[Path], layout: Layout, sha: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from PIL import Image, UnidentifiedImageError

    pictures, labels = [], []
    for path in paths:
        for row, (data, label) in enumerate(_rows(path, layout)):
            where = f"{path}, row {row}, column {layout.picture}"
            try:
                picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            except (UnidentifiedImageError, OSError) as error:
                raise UsageError(f"{where}: these {len(data)} bytes are no picture that can be decoded.") from error
            if picture.shape[:2] != (layout.side, layout.side):
                shape = "x".join(map(str, picture.shape[1::-1]))
                raise UsageError(f"{where}: a picture of {shape}; {layout.side}x{layout.side} is right.")
            sha.update(f"{label}\0{len(data)}\0".encode())
            sha.update(data)
            pictures.append(picture)
            labels.append(label)
    ids = np.asarray(labels, np.int64)
    counts = np.bincount(ids, minlength=len(layout.classes))
    if (counts == 0).any():
        empty = int(np.argmin(counts))
        name = layout.classes[empty]
        raise UsageError(f"{paths[0]}, column {layout.label}: class {empty} ({name}) has no picture.")
    return np.stack(pictures), ids


def _rows(path: Path, layout: Layout) -> Iterator[tuple[bytes, int]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_stream(path).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise UsageError(f"{path}: not a readable parquet file ({error}).") from error
    for column in (layout.picture, layout.label):
        if column not in table.column_names:
            has = ", ".join(table.column_names)
            raise UsageError(f"{path}: no column {column} (it has {has}). {layout.dataset} needs {layout}.")
    if not pa.types.is_struct(table.schema.field(layout.picture).type):
        raise UsageError(f"{path}, column {layout.picture}: not a struct with a field bytes.")
    if not pa.types.is_integer(table.schema.field(layout.label).type):
        raise UsageError(f"{path}, column {layout.label}: class ids must be whole numbers.")
    for batch in table.select([layout.picture, layout.label]).to_batches(max_chunksize=1024):
        for row, (picture, label) in enumerate(zip(*(column.to_pylist() for column in batch), strict=True)):
            if not picture or picture.get("bytes") is None:
                raise UsageError(f"{path}, row {row}, column {layout.picture}: no bytes.")
            if label is None or not 0 <= label < len(layout.classes):
                known = f"0 to {len(layout.classes) - 1}"
                raise UsageError(f"{path}, row {row}, column {layout.label}: class {label} is none of {known}.")
            yield picture["bytes"], label
