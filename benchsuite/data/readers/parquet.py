"""Labelled images from parquet files in the hub's layout, decoded once and kept as arrays.

Local files are read with pyarrow: the library `datasets` would keep a further copy of them.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import load, made_once, save
from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.library import open_splits
from benchsuite.errors import UsageError
from benchsuite.paths import cache

VERSION = 1
"""Of the kept arrays."""


@dataclass(frozen=True)
class Layout:
    """What the files must hold."""

    dataset: str
    image: str
    label: str
    classes: Sequence[str]
    """Names in the order of the ids."""
    side: int
    splits: tuple[str, ...] = ("train", "test")

    def __str__(self) -> str:
        files = " and ".join(f"{split}-*.parquet" for split in self.splits)
        return f"{files} with columns {self.image} (struct of bytes) and {self.label} (class ids)"


@dataclass(frozen=True)
class Labelled:
    """One split: uint8 images [n, side, side, 3], mapped from disk, and class ids [n]."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Decoded:
    """All splits, and the digest of the encoded images and labels, however they are spread over files."""

    splits: Mapping[str, Labelled]
    digest: str


def load_labelled(source: str, layout: Layout) -> Decoded:
    """From a local folder, or by hub name through `datasets`; decoded at the first call, then read from the cache."""
    folder = Path(source).expanduser()
    files = _local_files(folder, layout) if source and folder.is_dir() else _hub_files(source, layout)
    stamps = (stamp({f"{i:05}": path for i, path in enumerate(paths)}) for paths in files.values())
    key = short_digest([VERSION, str(layout), layout.side, *stamps])
    stored = made_once(cache() / "parquet" / f"{layout.dataset}-{key}", lambda draft: _decode_to(draft, files, layout))
    digest = json.loads((stored / "manifest.json").read_text("utf-8"))["digest"]
    return Decoded({split: Labelled(**load(stored / split)) for split in layout.splits}, digest)


def _local_files(folder: Path, layout: Layout) -> dict[str, list[Path]]:
    for parent in [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]:
        files = {split: sorted(parent.glob(f"{split}-*.parquet")) for split in layout.splits}
        if all(files.values()):
            return files
    missing = next(split for split in layout.splits if not list(folder.glob(f"{split}-*.parquet")))
    raise UsageError(f"{folder}: no {missing}-*.parquet. {layout.dataset} needs {layout}.")


def _hub_files(name: str, layout: Layout) -> dict[str, list[Path]]:
    stored = open_splits(layout.dataset, name, layout=str(layout))
    if missing := [split for split in layout.splits if split not in stored]:
        raise UsageError(f"{layout.dataset}: {name} has no split {missing[0]}.")
    return {split: [Path(file["filename"]) for file in stored[split].cache_files] for split in layout.splits}


def _decode_to(folder: Path, files: Mapping[str, Sequence[Path]], layout: Layout) -> None:
    sha = hashlib.sha256()
    for split, paths in files.items():
        images, labels = _decode(paths, layout, sha)
        save({"images": images, "labels": labels}, folder / split)
    manifest = {"name": layout.dataset, "digest": sha.hexdigest()[:16]}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def _decode(paths: Sequence[Path], layout: Layout, sha: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from PIL import Image, UnidentifiedImageError

    images, labels = [], []
    for path in paths:
        for row, (data, label) in enumerate(_rows(path, layout)):
            where = f"{path}, row {row}, column {layout.image}"
            try:
                image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            except (UnidentifiedImageError, OSError) as error:
                raise UsageError(f"{where}: these {len(data)} bytes are not an image that can be decoded.") from error
            if image.shape[:2] != (layout.side, layout.side):
                shape = "x".join(map(str, image.shape[1::-1]))
                raise UsageError(f"{where}: an image of {shape}; it must be {layout.side}x{layout.side}.")
            sha.update(f"{label}\0{len(data)}\0".encode())
            sha.update(data)
            images.append(image)
            labels.append(label)
    ids = np.asarray(labels, np.int64)
    counts = np.bincount(ids, minlength=len(layout.classes))
    if (counts == 0).any():
        empty = int(np.argmin(counts))
        name = layout.classes[empty]
        raise UsageError(f"{paths[0]}, column {layout.label}: class {empty} ({name}) has no image.")
    return np.stack(images), ids


def _rows(path: Path, layout: Layout) -> Iterator[tuple[bytes, int]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_stream(path).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise UsageError(f"{path}: not a readable parquet file ({error}).") from error
    for column in (layout.image, layout.label):
        if column not in table.column_names:
            has = ", ".join(table.column_names)
            raise UsageError(f"{path}: no column {column} (it has {has}). {layout.dataset} needs {layout}.")
    if not pa.types.is_struct(table.schema.field(layout.image).type):
        raise UsageError(f"{path}, column {layout.image}: not a struct with a field bytes.")
    if not pa.types.is_integer(table.schema.field(layout.label).type):
        raise UsageError(f"{path}, column {layout.label}: class ids must be whole numbers.")
    for batch in table.select([layout.image, layout.label]).to_batches(max_chunksize=1024):
        for row, (image, label) in enumerate(zip(*(column.to_pylist() for column in batch), strict=True)):
            if not image or image.get("bytes") is None:
                raise UsageError(f"{path}, row {row}, column {layout.image}: no bytes.")
            if label is None or not 0 <= label < len(layout.classes):
                known = f"0 to {len(layout.classes) - 1}"
                raise UsageError(f"{path}, row {row}, column {layout.label}: class {label} is not one of {known}.")
            yield image["bytes"], label
