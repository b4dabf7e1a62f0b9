"""The index of a data set, in Arrow: where each image is, its captions and classes. Written once, then mapped.

An image is a file of its own, a part of a tar file, or bytes in the index; a clip is the files of its frames.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.images import BadPicture, Fit, LazyClips, LazyImages, open_file, open_image
from benchsuite.data.vectors import TextLists, as_bytes, as_text
from benchsuite.errors import UsageError
from benchsuite.files import open_regular

ROWS, BYTES = 1 << 14, 1 << 26
"""Most rows of a batch, and most bytes of images unless one alone has more: what writing holds in memory."""
FACTS = "facts.json"
Ids = int | Sequence[int]


class Item(NamedTuple):
    """One image or clip with all that belongs to it. Its `mark` is what is digested of the image."""

    mark: str
    files: Sequence[str] = ()
    """Its file, or those of a clip's frames."""
    captions: Sequence[str] = ()
    paraphrases: Sequence[str] = ()
    labels: Mapping[str, Ids] = {}
    """By set of classes, the image's class, or all its classes."""
    part: Sequence[int] = ()
    """Where it begins in a tar file, and how many bytes it has there."""
    content: bytes | None = None
    """It itself, where it is in no file of its own."""
    name: str = ""
    """What errors call it, if not by its file."""


TEXTS = ("captions", "paraphrases")


def write(folder: Path, splits: Mapping[str, Iterable[Item]], root: Path, beginning: str = "") -> dict[str, Any]:
    """A file for each split; paths under the root are kept without it.

    Returns sizes, the digest of all but paraphrases, and theirs if there are any.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sha, paraphrases, with_paraphrases = hashlib.sha256(beginning.encode()), hashlib.sha256(), False
    sizes: dict[str, int] = {}

    def watched(items: Iterable[Item]) -> Iterator[Item]:
        nonlocal with_paraphrases
        for item in items:
            sizes[split] += 1
            sha.update(json.dumps([item.mark, item.captions, item.labels]).encode())
            if item.paraphrases:
                with_paraphrases = True
                paraphrases.update(json.dumps([split, item.paraphrases]).encode())
            yield item

    for split, items in splits.items():
        sizes[split] = 0
        sha.update(f"{split}\n".encode())
        _write_items(folder / f"{split}.arrow", watched(items), f"split {split}", f"{root}/")
    digest = {"splits": sizes, "digest": sha.hexdigest()[:16]}
    return {**digest, "paraphrases": paraphrases.hexdigest()[:16] if with_paraphrases else None}


def _write_items(file: Path, items: Iterable[Item], where: str, root: str) -> None:
    """One file of items. All have texts and classes of the same kinds as the first."""
    import pyarrow as pa

    items = iter(items)
    if (first := next(items, None)) is None:
        raise UsageError(f"{where}: there are no images.")
    schema = _schema(first)
    with pa.OSFile(str(file), "wb") as stream, pa.ipc.new_file(stream, schema) as arrow:
        for start, batch in _batches(chain([first], items)):
            for kind in TEXTS:
                has = bool(getattr(first, kind))
                if wrong := [i for i, item in enumerate(batch, start) if bool(getattr(item, kind)) != has]:
                    raise UsageError(f"{where}: image {wrong[0] if has else 0} has no {kind[:-1]}, but others have.")
            arrow.write_batch(pa.RecordBatch.from_pydict(_columns(batch, root), schema))


def _batches(items: Iterable[Item]) -> Iterator[tuple[int, list[Item]]]:
    """Items with the number of the first of them."""
    batch: list[Item] = []
    start, held = 0, 0
    for item in items:
        batch.append(item)
        held += len(item.content or b"")
        if len(batch) == ROWS or held > BYTES:
            yield start, batch
            start, batch, held = start + len(batch), [], 0
    if batch:
        yield start, batch


def _schema(first: Item) -> Any:
    import pyarrow as pa

    binary, number = pa.binary(), pa.int64()
    labels = [(name, number if isinstance(ids, int) else pa.list_(number)) for name, ids in first.labels.items()]
    columns = {"name": binary, "files": pa.list_(binary), "part": pa.list_(number), "content": binary}
    columns |= {kind: pa.list_(binary) for kind in TEXTS}
    return pa.schema([*columns.items(), ("labels", pa.struct(labels))])


def _columns(batch: Sequence[Item], root: str) -> dict[str, Sequence[Any]]:
    texts = {kind: [[as_bytes(text) for text in getattr(item, kind)] for item in batch] for kind in TEXTS}
    return {
        "name": [as_bytes(item.name) for item in batch],
        "files": [[as_bytes(file.removeprefix(root)) for file in item.files] for item in batch],
        "part": [item.part for item in batch],
        "content": [item.content for item in batch],
        **texts,
        "labels": [item.labels for item in batch],
    }


@dataclass(frozen=True)
class Index:
    """One file of items; paths are relative to the root, or absolute."""

    file: Path
    root: Path

    def __len__(self) -> int:
        return len(self._table)

    def images(self, size: int, fit: Fit, rows: Sequence[int] | None = None) -> LazyImages:
        row = range(len(self)) if rows is None else rows
        return LazyImages(len(row), size, lambda i: open_image(self.read(row[i])), lambda i: self.where(row[i]), fit)

    def clips(self, size: int, fit: Fit) -> LazyClips:
        frames = len(self.files(0))

        def file(i: int) -> Path:
            return self.files(i // frames)[i % frames]

        count = len(self) * frames
        return LazyClips(LazyImages(count, size, lambda i: open_file(file(i)), lambda i: str(file(i)), fit), frames)

    def texts(self, kind: str) -> TextLists | tuple[()]:
        """Captions or paraphrases; none if there are none."""
        texts = TextLists(self._table.column(kind))
        return texts if texts[0] else ()

    def labels(self) -> dict[str, NDArray[np.int64]]:
        """The ids of each set of classes: [N], or [N, K] padded with -1 where an image may have several."""
        column = self._table.column("labels")
        names = [field.name for field in column.type]
        return {name: _ids(ids) for name, ids in zip(names, column.flatten(), strict=True)}

    def read(self, i: int) -> bytes:
        """The bytes of image i; a tar file that ends before them is refused."""
        content = self._value("content", i)
        if content is not None:
            return bytes(content)
        start, size = self._value("part", i) or (0, -1)
        with open_regular(self.files(i)[0]) as stream:
            stream.seek(start)
            content = stream.read(size)
        if len(content) < size:
            raise BadPicture(f"{self.where(i)}: the tar file ends in the middle of it: cut since it was indexed.")
        return content

    def where(self, i: int) -> str:
        """What errors call image i."""
        return as_text(self._value("name", i)) or str(self.files(i)[0])

    def files(self, i: int) -> list[Path]:
        """The file of image i, or of its frames; none if it is in the index."""
        return [self.root / as_text(file) for file in self._value("files", i)]

    def _value(self, column: str, i: int) -> Any:
        return self._table.column(column)[i].as_py()

    @cached_property
    def _table(self) -> Any:
        import pyarrow as pa

        return pa.ipc.open_file(pa.memory_map(str(self.file))).read_all()


def _ids(column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    sets = column.to_pylist()
    ids = np.full((len(sets), max(map(len, sets))), -1, np.int64)
    for i, own in enumerate(sets):
        ids[i, : len(own)] = own
    return ids
