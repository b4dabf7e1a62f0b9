"""Writing and reading the file of ranks beside a record.

Anyone may have written the file. Before anything is unpacked, what its directory says must fit the record's counts.
"""

import hashlib
import io
import lzma
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from benchsuite.files import unpacked
from benchsuite.records.names import RANKS
from benchsuite.records.record_file import FileError
from benchsuite.records.schema import Result, Sidecar

Whole = NDArray[np.integer[Any]]
NEAREST = "_nearest"
"""Behind the name of retrieval's ranks: for each query the wrong picture that is nearest, or whose caption is, counted
from 1; any of several that are equally near. It is retrieved first where the rank is not 1. No number follows from it:
runs of the first seed alone have it, and those of one picture have none.
"""
ARRAYS = 10_000
"""A file has no more."""
NUMBERS = 1 << 24
"""A file has no more, in all arrays: graded rankings of EPIC-Kitchens have about half as many."""
FEW = 1 << 16
"""So many numbers may be there whatever the counts are, such as numbers of classes."""
HEADER = 1 << 12
"""Bytes of an array's header at most."""
ENCRYPTED = 1
"""The bit of a member's flags."""
NPY = ".npy"
KINDS = (np.uint8, np.int8, np.int16, np.int32, np.int64)
"""Of one row of whole numbers, narrow ones first."""
PACKED: Sequence[Mapping[str, int]] = ({"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "pb": 0},)
"""By the byte alone, not by the one before it: two thirds of the room that numpy's own packing takes."""
PLANES = 7
"""Rows of bytes at most: more would not fit the numbers that are made of them."""


def pack_ranks(name: str, ranks: Iterable[tuple[str, Whole]]) -> tuple[bytes, Sidecar]:
    """Ranks as the bytes of an .npz file in .xz, and the record's entry for it."""
    buffer = io.BytesIO()
    np.savez(buffer, **{key: narrow(values) for key, values in ranks})  # type: ignore[arg-type]
    content = lzma.compress(buffer.getvalue(), filters=PACKED)
    sha = hashlib.sha256(content).hexdigest()
    return content, Sidecar(file=f"{name}.{sha[:8]}{RANKS[0]}", sha256=sha)


def narrow(values: Whole) -> Whole:
    """The same numbers in as few bytes as the largest needs.

    Beyond 255 in rows of bytes, the low ones first: few ranks are large, so this is packed into fewer.
    """
    if values.dtype.kind not in "iu" or values.ndim != 1:
        raise TypeError(f"ranks are one row of whole numbers, not {values.dtype} {values.shape}")
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if low >= 0 and 1 < (planes := -(-high.bit_length() // 8)) <= PLANES:
        return np.stack([(values >> 8 * plane & 255).astype(np.uint8) for plane in range(planes)])
    return values.astype(next(kind for kind in KINDS if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))


def are_pictures(numbers: Whole, queries: int, pictures: int) -> bool:
    """Whether these are numbers of pictures, counted from 1, one for each query."""
    return len(numbers) == queries and bool(numbers.min(initial=1) >= 1 and numbers.max(initial=1) <= pictures)


class StoredRanks(Mapping[str, Whole]):
    """The arrays of a ranks file by "protocol.name", each read and checked when it is asked for."""

    def __init__(self, file: Path, archive: ZipFile, most: int) -> None:
        """`archive`: its directory was checked. `most`: so many numbers a protocol may have."""
        self._file, self._archive, self._most = file, archive, most
        self._members = {member.filename.removesuffix(NPY): member for member in archive.infolist()}

    def __getitem__(self, name: str) -> Whole:
        member = self._members[name]
        try:
            with self._archive.open(member) as packed:
                content = packed.read(member.file_size)
            return _array(content, self._most)
        except Exception as error:  # zipfile, zlib and numpy raise of every kind
            raise FileError(self._file, f"{name}: {error or type(error).__name__}", "") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def of(self, protocol: str) -> dict[str, Whole]:
        """The arrays of one protocol, by name."""
        arrays: dict[str, Whole] = {}
        for owner, _, name in (name.rpartition(".") for name in self):
            if owner == protocol:
                arrays[name] = self[f"{owner}.{name}"]
                if sum(map(len, arrays.values())) > self._most:
                    raise FileError(self._file, f"{protocol}: more than {self._most:,} numbers", "")
        return arrays


def open_ranks(file: Path, content: bytes, results: Mapping[str, Result]) -> StoredRanks:
    """The arrays of a ranks file that was read, of which the digest is right."""
    try:
        items = sum(min(n, NUMBERS) for result in results.values() for n in result.counts.values() if n > 0)
        most = min(NUMBERS, FEW + items**2)  # no task stores more than a number for each pair of its items
        return StoredRanks(file, _opened(unpacked(content, ARRAYS * HEADER + most * 8), most), most)
    except Exception as error:
        raise FileError(file, f"not an .npz file of arrays ({error})", "") from error


def _opened(content: bytes, most: int) -> ZipFile:
    """The file as an archive whose directory promises arrays of so many numbers at most; a ValueError otherwise."""
    if content.count(b"PK\x01\x02") > ARRAYS:
        raise ValueError(f"more than {ARRAYS:,} arrays")
    archive = ZipFile(io.BytesIO(content))
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two arrays of one name")
    for member in members:
        if problem := _odd(member):
            raise ValueError(f"{member.filename}: {problem}")
    size, allowed = sum(member.file_size for member in members), len(members) * HEADER + most * 8
    if size > allowed:
        raise ValueError(f"{size:,} bytes unpacked, and {allowed:,} are what the counts of its record allow")
    return archive


def _odd(member: ZipInfo) -> str:
    if not member.filename.endswith(NPY):
        return "no array"
    if member.flag_bits & ENCRYPTED:
        return "encrypted"
    return "" if member.compress_type in (ZIP_STORED, ZIP_DEFLATED) else "packed in another way than by numpy"


@lru_cache(maxsize=4096)
def _header(content: bytes) -> tuple[tuple[int, ...], "np.dtype[Any]", int]:
    """Shape, type and where the numbers begin. Most files of a folder have the same few headers."""
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of .npy")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(stream, max_header_size=HEADER)
    if by_columns and len(shape) > 1:
        raise ValueError("its rows are not stored one after the other")
    return shape, dtype, stream.tell()


def _array(content: bytes, most: int) -> Whole:
    """The array of an .npy file; a ValueError says why it is none."""
    prefix = 10 if content[6:7] == b"\1" else 12  # magic, version and the length of the header
    shape, dtype, start = _header(content[: prefix + int.from_bytes(content[8:prefix], "little")])
    in_planes = len(shape) == 2 and dtype == np.uint8 and 1 < shape[0] <= PLANES
    if (len(shape) != 1 and not in_planes) or dtype.kind not in "iu":
        raise ValueError(f"ranks are one row of whole numbers, not {dtype} {shape}")
    data = memoryview(content)[start:]
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"its header says {math.prod(shape)} numbers, but it has {len(data) // dtype.itemsize}")
    if shape[-1] > most:
        raise ValueError(f"{shape[-1]:,} numbers, and {most:,} are what the counts of its record allow")
    rows = np.frombuffer(data, dtype).reshape(shape if in_planes else (1, -1))
    array: Whole = rows[0].astype(np.int64)  # sums and products of narrow numbers would overflow
    for plane, row in enumerate(rows[1:], 1):
        array += row.astype(np.int64) << 8 * plane
    return array
