"""Writing and reading the file of ranks beside a record."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from benchsuite.records.contents import FileError
from benchsuite.records.names import RANKS
from benchsuite.records.schema import Record, Sidecar

if TYPE_CHECKING:
    from benchsuite.records.evaluations import Evaluation

Whole = NDArray[np.integer[Any]]


def pack_ranks(name: str, ranks: Iterable[tuple[str, Whole]]) -> tuple[bytes, Sidecar]:
    """Ranks as the bytes of an .npz file, and the record's entry for it."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **dict(ranks))  # type: ignore[arg-type]
    content = buffer.getvalue()
    sha = hashlib.sha256(content).hexdigest()
    return content, Sidecar(file=f"{name}.{sha[:8]}{RANKS}", sha256=sha)


class StoredRanks(Mapping[str, Whole]):
    """The arrays of a ranks file by "protocol.name", each read and checked when it is asked for."""

    def __init__(self, file: Path, arrays: NpzFile) -> None:
        self._file, self._arrays = file, arrays

    def __getitem__(self, name: str) -> Whole:
        try:
            array: Whole = self._arrays[name]
        except (ValueError, OSError, EOFError, BadZipFile) as error:
            raise _no_arrays(self._file, error) from error
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            reason = f"{name}: ranks are one row of whole numbers, not {array.dtype} {array.shape}"
            raise FileError(self._file, reason, "")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays.files)

    def __len__(self) -> int:
        return len(self._arrays.files)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays.files

    def of(self, protocol: str) -> dict[str, Whole]:
        """The arrays of one protocol, by name."""
        names = (name.rpartition(".") for name in self)
        return {name: self[f"{owner}.{name}"] for owner, _, name in names if owner == protocol}


def read_ranks(folder: Path, record: "Record | Evaluation") -> StoredRanks:
    """The arrays of a record's ranks file; refused if it is not the file that the record was sealed with."""
    name = record.run_id if isinstance(record, Record) else record.evaluation_id
    file = folder / record.ranks.file
    try:
        content = file.read_bytes()
    except OSError as error:
        raise FileError(file, f"{error.strerror or error}; record {name} needs it", "") from error
    if hashlib.sha256(content).hexdigest() != record.ranks.sha256:
        reason = f"not the ranks that record {name} was sealed with: the file was edited, or damaged"
        raise FileError(file, reason, "")
    try:
        arrays = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise _no_arrays(file, error) from error
    if not isinstance(arrays, NpzFile):
        raise _no_arrays(file, "a single array")
    return StoredRanks(file, arrays)


def _no_arrays(file: Path, why: object) -> FileError:
    return FileError(file, f"not an .npz file of arrays ({why})", "")
