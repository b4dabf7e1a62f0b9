import hashlib
import io
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists
from numpy.lib import format as npy
from support.made_records import MakeRecord

from benchsuite.errors import RecordError
from benchsuite.records.ranks import StoredRanks, open_ranks, pack_ranks
from benchsuite.records.schema import Record, Sidecar


@pytest.fixture
def sealed(tmp_path: Path, make_record: MakeRecord) -> Callable[..., Record]:
    """A record whose ranks file has this content."""

    def make(content: bytes) -> Record:
        (tmp_path / "x.ranks.npz").write_bytes(content)
        sha = hashlib.sha256(content).hexdigest()
        return make_record(ranks=Sidecar(file="x.ranks.npz", sha256=sha))[0]

    return make


def read_ranks(folder: Path, record: Record) -> StoredRanks:
    file = folder / record.ranks.file
    return open_ranks(file, file.read_bytes(), record.results)


def packed(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_arrays_are_found_by_name(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    ranks = read_ranks(tmp_path, sealed(packed(a=np.array([1, 2]), b=np.array([3]))))
    assert list(ranks) == ["a", "b"]
    assert (len(ranks), "a" in ranks, "c" in ranks) == (2, True, False)
    assert {name: found.tolist() for name, found in ranks.items()} == {"a": [1, 2], "b": [3]}
    with pytest.raises(KeyError):
        ranks["c"]


def test_a_broken_array_is_refused_when_it_is_read_and_spares_the_others(
    tmp_path: Path, sealed: Callable[..., Record]
) -> None:
    ranks = read_ranks(tmp_path, sealed(packed(good=np.array([1]), real=np.array([0.5]), deep=np.array([[1]]))))
    assert ranks["good"].tolist() == [1]
    for name in ("real", "deep"):
        with pytest.raises(RecordError, match=rf"x\.ranks\.npz: {name}: ranks are one row of whole numbers"):
            ranks[name]


@pytest.mark.parametrize("bad", [np.array([{}], object), np.array([1], "m8[s]"), np.array([1], [("a", "i4")])])
def test_objects_that_would_run_code_times_and_fields_are_refused(
    tmp_path: Path, sealed: Callable[..., Record], bad: Any
) -> None:
    ranks = read_ranks(tmp_path, sealed(packed(bad=bad)))
    with pytest.raises(RecordError, match="one row of whole numbers, not "):
        ranks["bad"]


def test_what_is_no_file_of_arrays_is_refused(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    single = io.BytesIO()
    np.save(single, np.array([1]))
    for content in (b"", b"nothing", single.getvalue(), packed(a=np.array([1]))[:-30]):
        with pytest.raises(RecordError, match=r"not an \.npz file of arrays"):
            read_ranks(tmp_path, sealed(content))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pack_ranks("x", [("retrieval.i2t", np.arange(300))])[0][:-20], "cut off, with more behind it, or more than "),
        (lzma.compress(bytes(1 << 28), preset=1), "cut off, with more behind it, or more than "),
        (lzma.compress(b"x" * 99, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 27}]), "Memory usage limit"),
        (lzma.compress(b"nothing"), "not a zip file"),
    ],
    ids=["cut off", "large", "with a large dictionary", "no archive"],
)
def test_what_unpacks_to_too_much_or_to_no_arrays_is_refused(
    tmp_path: Path, sealed: Callable[..., Record], content: bytes, reason: str
) -> None:
    with pytest.raises(RecordError, match=rf"not an \.npz file of arrays \(.*{reason}"):
        read_ranks(tmp_path, sealed(content))


@given(lists(integers(-(2**62), 2**62), max_size=20))
def test_ranks_are_stored_narrow_and_read_back_wide(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.int64)
    content, _ = pack_ranks("x", [("retrieval.i2t", values)])
    stored = np.load(io.BytesIO(lzma.decompress(content)))["retrieval.i2t"]
    if stored.ndim == 2:  # as docs/formats.md says
        assert (256 ** np.arange(len(stored)) @ stored).tolist() == numbers
        assert stored.dtype == np.uint8
        assert stored[-1].any()
    else:
        assert stored.tolist() == numbers
        narrower = [kind for kind in ("u1", "i1", "i2", "i4") if holds(kind, numbers)]
        assert stored.itemsize == (np.dtype(narrower[0]).itemsize if narrower else 8)
    assert open_ranks(Path("x"), content, {})["retrieval.i2t"].tolist() == numbers


def test_only_whole_numbers_are_stored() -> None:
    with pytest.raises(TypeError, match="whole numbers, not float64"):
        pack_ranks("x", [("retrieval.i2t", np.array([1.5]))])


def test_numbers_that_were_read_can_be_added_and_multiplied(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    ranks = read_ranks(tmp_path, sealed(pack_ranks("x", [("retrieval.i2t", np.array([200, 250]))])[0]))
    assert (ranks["retrieval.i2t"] * 2).tolist() == [400, 500]


def test_narrow_numbers_may_not_be_more_than_the_counts_allow(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    record = sealed(packed(**{f"retrieval.{n}": np.ones(60_000, dtype=np.uint8) for n in range(2)}))
    ranks = read_ranks(tmp_path, record)
    assert len(ranks["retrieval.0"]) == 60_000
    with pytest.raises(RecordError, match=r"retrieval: more than 65,\d+ numbers"):
        ranks.of("retrieval")
    alone = read_ranks(tmp_path, sealed(packed(**{"retrieval.i2t": np.ones(70_000, dtype=np.uint8)})))
    with pytest.raises(RecordError, match=r"70,000 numbers, and 65,\d+ are what the counts of its record allow"):
        alone["retrieval.i2t"]


def test_a_file_may_hold_as_many_wide_numbers_as_the_counts_allow_and_no_more(
    tmp_path: Path, sealed: Callable[..., Record]
) -> None:
    most = 2**16 + (4 + 4) ** 2  # the record counts 4 images and 4 texts
    full = np.full(most, 2**40)
    assert read_ranks(tmp_path, sealed(packed(**{"retrieval.i2t": full})))["retrieval.i2t"].sum() == most * 2**40
    with pytest.raises(RecordError, match=r"1,049,856 bytes unpacked, and 532,992 are what the counts"):
        read_ranks(tmp_path, sealed(packed(**{"retrieval.i2t": full, "retrieval.t2i": full})))
    with pytest.raises(RecordError, match=r"65,601 numbers, and 65,600 are what the counts"):
        read_ranks(tmp_path, sealed(packed(**{"retrieval.i2t": np.full(most + 1, 2**40)})))["retrieval.i2t"]


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_a_header_must_say_how_many_numbers_follow(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    whole = saved(np.array([1, 2, 3], dtype=np.int32))
    ranks = read_ranks(tmp_path, sealed(zipped(short=whole[:-4], long=whole + bytes(4), whole=whole)))
    assert ranks["whole"].tolist() == [1, 2, 3]
    for name, has in (("short", 2), ("long", 4)):
        with pytest.raises(RecordError, match=rf"{name}: its header says 3 numbers, but it has {has}\."):
            ranks[name]


def flagged(content: bytes, bit: int) -> bytes:
    """The same archive whose one member has this flag set in the directory."""
    place = content.rindex(b"PK\x01\x02") + 8
    flags = int.from_bytes(content[place : place + 2], "little") | bit
    return content[:place] + flags.to_bytes(2, "little") + content[place + 2 :]


def test_a_protocols_arrays_are_those_of_its_name_alone(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    arrays = {"a.i2t": np.array([1, 2]), "a.b.i2t": np.array([3]), "a.t2i": np.array([4])}
    ranks = read_ranks(tmp_path, sealed(packed(**arrays)))
    assert {name: found.tolist() for name, found in ranks.of("a").items()} == {"i2t": [1, 2], "t2i": [4]}
    assert {name: found.tolist() for name, found in ranks.of("a.b").items()} == {"i2t": [3]}


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_both_headers_of_numbers_are_read_and_the_one_of_names_is_refused(
    tmp_path: Path, sealed: Callable[..., Record], version: tuple[int, int]
) -> None:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.array([5, 6]), version)
    ranks = read_ranks(tmp_path, sealed(zipped(a=buffer.getvalue())))
    if version == (3, 0):
        with pytest.raises(RecordError, match=r"version \(3, 0\) of \.npy"):
            ranks["a"]
    else:
        assert ranks["a"].tolist() == [5, 6]


def test_members_that_numpy_does_not_write_are_refused(tmp_path: Path, sealed: Callable[..., Record]) -> None:
    one, other, twice = saved(np.array([1])), io.BytesIO(), io.BytesIO()
    with ZipFile(other, "w") as archive:
        archive.writestr("a.txt", one)
    with ZipFile(twice, "w") as archive:
        archive.writestr("a.npy", one)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.npy", one)
    bzip = io.BytesIO()
    with ZipFile(bzip, "w", ZIP_BZIP2) as archive:
        archive.writestr("a.npy", one)
    refused = {
        "a.txt: no array": other.getvalue(),
        "two arrays of one name": twice.getvalue(),
        "a.npy: packed in another way than by numpy": bzip.getvalue(),
        "a.npy: encrypted": flagged(zipped(a=one), 1),
    }
    for says, content in refused.items():
        with pytest.raises(RecordError, match=re.escape(f"({says})")):
            read_ranks(tmp_path, sealed(content))
    assert read_ranks(tmp_path, sealed(flagged(zipped(a=one), 1 << 11)))["a"].tolist() == [1]  # its name is UTF-8


def holds(kind: str, numbers: list[int]) -> bool:
    limits = np.iinfo(kind)
    return all(limits.min <= number <= limits.max for number in numbers)
