"""Reading the ranks that lie beside a record."""

import hashlib
import io
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from benchsuite.records.inspection import FileError
from benchsuite.records.schema import Record


def read_ranks(folder: Path, record: Record) -> dict[str, NDArray[np.integer[Any]]]:
    """The arrays of a record's ranks file by "protocol.name"; refused if it is not the file that was sealed."""
    file = folder / record.ranks.file
    try:
        content = file.read_bytes()
    except OSError as error:
        raise FileError(file, f"{error.strerror or error}; record {record.run_id} needs it", "") from error
    if hashlib.sha256(content).hexdigest() != record.ranks.sha256:
        what = f"not the ranks that record {record.run_id} was sealed with: the file was edited, or damaged"
        raise FileError(file, what, "")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise FileError(file, f"not an .npz file of arrays ({error})", "") from error
    for name, array in found.items():
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise FileError(file, f"{name}: ranks are one row of whole numbers, not {array.dtype} {array.shape}", "")
    return found
