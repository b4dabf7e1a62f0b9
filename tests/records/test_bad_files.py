"""One bad file in a results folder: it is named in a line, the rest is read, and memory and time are bounded."""

import hashlib
import io
import json
import lzma
import os
import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.bounded import Bounded, Outcome
from support.whole_folder import whole_folder

from benchsuite.records.schema import Record, content_digest

Damage = Callable[[Path], object]
GB = 1 << 30


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sound results; tests change copies of it."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "results").mkdir()
    whole_folder(folder / "results")
    return folder


@pytest.fixture(scope="module")
def bounded(sound: Path) -> Iterator[Bounded]:
    with Bounded(sound) as processes:
        yield processes


@pytest.fixture
def results(sound: Path, tmp_path: Path) -> Path:
    """A copy without the manifest, which would name any file that differs."""
    copy = Path(shutil.copytree(sound / "results", tmp_path / "results"))
    (copy / "MANIFEST.json").unlink()
    return copy


def record_file(folder: Path, seed: int = 1) -> Path:
    return next(folder.glob(f"infonce-s{seed}-*.json"))


def graded_file(folder: Path) -> Path:
    return next(file for file in folder.glob("infonce-*.json") if "films" in file.read_text())


def edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a record or another sealed file says, and seal it again."""
    content = json.loads(file.read_text("utf-8"))
    change(content)
    content["digest"] = content_digest(content)
    file.write_text(json.dumps(content), "utf-8")


def seal_ranks(file: Path, ranks: bytes) -> None:
    """Let a record be sealed with these ranks."""

    def change(content: dict[str, Any]) -> None:
        (file.parent / content["ranks"]["file"]).write_bytes(ranks)
        content["ranks"]["sha256"] = hashlib.sha256(ranks).hexdigest()

    edit(file, change)


def zipped(members: dict[str, bytes], **options: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def array(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values))
    return buffer.getvalue()


def header(descr: str = "'<i4'", shape: str = "(4,)", data: bytes = bytes(range(16))) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


I2T, T2I = "retrieval.i2t.npy", "retrieval.t2i.npy"
GOOD = {I2T: array(np.array([1, 2, 9, 40], np.int32)), T2I: array(np.array([1, 1, 5, 6, 11, 3, 2, 1], np.int32))}


def lying(content: bytes, size: int) -> bytes:
    """A zip that says another uncompressed size of its first member."""
    changed = bytearray(content)
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = changed.index(mark) + at
        changed[start : start + 4] = struct.pack("<I", size)
    return bytes(changed)


def bomb(size: int = 5 * GB // 4) -> bytes:
    """An .npz file whose one array is zeros without end."""
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with archive, archive.open(I2T, "w", force_zip64=True) as member:
        member.write(header(shape=f"({size // 4},)", data=b""))
        for _ in range(size >> 24):
            member.write(bytes(1 << 24))
    return buffer.getvalue()


def broken_member() -> bytes:
    content = bytearray(zipped(GOOD))
    content[60] ^= 255
    return bytes(content)


RANKS: dict[str, Callable[[], bytes]] = {
    "broken member": broken_member,
    "an empty member": lambda: zipped({I2T: b""}),
    "half a header": lambda: zipped({I2T: header()[:40]}),
    "a header that is code": lambda: zipped({I2T: header(descr="__import__('os')")}),
    "a header nested without end": lambda: zipped({I2T: header(shape="(" * 4000 + ")" * 4000)[:9000]}),
    "2^62 numbers": lambda: zipped({I2T: header(shape=f"({2**62},)")}),
    "a negative number of numbers": lambda: zipped({I2T: header(shape="(-1,)")}),
    "numbers of no bytes": lambda: zipped({I2T: header(descr="'|V0'", shape=f"({2**40},)")}),
    "a bomb": bomb,
    "a bomb that says it is small": lambda: lying(bomb(GB // 4), 144),
    "packed with more behind": lambda: lzma.compress(zipped(GOOD)) + lzma.compress(b"more"),
    "a packed bomb": lambda: lzma.compress(bytes(GB // 4), preset=0),
    "rows of bytes by columns": lambda: zipped({**GOOD, I2T: array(np.asfortranarray(np.ones((2, 4), np.uint8)))}),
    "no rows of bytes": lambda: zipped({**GOOD, I2T: array(np.ones((0, 4), np.uint8))}),
    "many members": lambda: zipped({f"retrieval.{n}.npy": b"" for n in range(20_000)}),
    "too much for its counts": lambda: zipped({**GOOD, I2T: array(np.ones(1 << 20, np.int8))}),
}


@pytest.mark.parametrize("ranks", RANKS)
def test_bad_ranks_are_named_and_the_rest_is_read(results: Path, bounded: Bounded, ranks: str) -> None:
    seal_ranks(record_file(results), RANKS[ranks]())
    named(bounded, results, json.loads(record_file(results).read_text())["ranks"]["file"])


def graded(**changed: Any) -> Damage:
    def damage(folder: Path) -> None:
        record = Record.model_validate(json.loads(graded_file(folder).read_text()))
        with np.load(lzma.open(folder / record.ranks.file)) as arrays:
            content = {**arrays, **{name.replace("__", "."): np.asarray(rows) for name, rows in changed.items()}}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **content)  # type: ignore[arg-type]
        seal_ranks(graded_file(folder), buffer.getvalue())

    return damage


HUGE = 2**62
GRADED: dict[str, Damage] = {
    "2^62 relevant items": graded(
        films__levels=np.array([1]),
        films__v2t_relevant=np.array([HUGE] * 4),
        **{f"films__v2t_{name}": np.array([], np.int64) for name in ("gains", "ranks", "sums")},
    ),
    "counts that wrap to the right sum": graded(
        films__v2t_relevant=np.array([2**63, 2**63 + 3, 0, 0], np.uint64), films__v2t_sums=np.array([], np.int64)
    ),
    "negative counts": graded(films__v2t_relevant=np.array([-1, 2, 1, 1])),
    "levels beyond 2^63": graded(films__levels=np.array([1, 2**63 + 2], np.uint64)),
    "gains beyond 2^63": graded(films__v2t_gains=np.array([2**64 - 1, 1, 0], np.uint64)),
}


@pytest.mark.parametrize("damage", GRADED)
def test_graded_ranks_that_count_too_much_are_named(results: Path, bounded: Bounded, damage: str) -> None:
    GRADED[damage](results)
    named(bounded, results, graded_file(results).name)


def device(name: str) -> Damage:
    return lambda folder: place(folder / name).symlink_to("/dev/zero")


def pipe(name: str) -> Damage:
    return lambda folder: os.mkfifo(place(folder / name))


def a_folder(name: str) -> Damage:
    return lambda folder: place(folder / name).mkdir()


def sparse(name: str) -> Damage:
    """A file of 100 GB that takes no room."""

    def damage(folder: Path) -> None:
        place(folder / name).touch()
        os.truncate(folder / name, 100 << 30)

    return damage


def text(name: str, content: str | bytes) -> Damage:
    return lambda folder: place(folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def place(file: Path) -> Path:
    """Where nothing lies any more."""
    file.unlink(missing_ok=True)
    return file


NEW = "infonce-s7-0123456789abcdef.json"
STORED = {
    "record": NEW,
    "note": "1111111111111111.failed.json",
    "request": "tables/mine-first-smoke.json",
    "table": "papers/mine/first.toml",
    "recipe": "recipes/tiny.toml",
    "trials": "trials/latents-pairs.parquet",
    "manifest": "MANIFEST.json",
}
DEEP = "[" * 100_000


def content(json_: str | bytes, toml: str = "") -> Callable[[str], Damage]:
    return lambda name: text(name, toml if toml and name.endswith("toml") else json_)


NO_STORED_FILE: dict[str, Callable[[str], Damage]] = {
    "a device": device,
    "a pipe": pipe,
    "a folder": a_folder,
    "huge": sparse,
    "nothing": content(""),
    "not text": content(b"\xff\xfe\x00"),
    "nested": content(f'{{"schema": {DEEP}', f"a = {DEEP}"),
    "number": content(f'{{"schema": 1{"0" * 5000}}}', f"a = 1{'0' * 5000}"),
    "infinite": content('{"schema": Infinity}', "file_format = inf"),
}


@pytest.mark.parametrize("files", [("record", "note", "request", "trials", "manifest"), ("table", "recipe")], ids=str)
@pytest.mark.parametrize("what", NO_STORED_FILE)
def test_what_are_no_stored_files_are_all_named(
    results: Path, bounded: Bounded, what: str, files: tuple[str, ...]
) -> None:
    for name in files:
        NO_STORED_FILE[what](STORED[name])(results)
    named(bounded, results, *(STORED[name] for name in files), records=3)


def test_a_pack_of_records_that_is_a_bomb_is_named(results: Path, bounded: Bounded) -> None:
    (results / "more.jsonl.xz").write_bytes(lzma.compress(bytes(GB // 2), preset=0))
    named(bounded, results, "more.jsonl.xz", records=3)


@pytest.mark.parametrize("make", [device, pipe, sparse, a_folder])
@pytest.mark.parametrize("what", ["ranks", "weights"])
def test_what_lies_in_the_place_of_a_sealed_file_is_named(
    results: Path, bounded: Bounded, what: str, make: Callable[[str], Damage]
) -> None:
    if what == "weights":
        (results / "weights").mkdir()
        make("weights/kept.safetensors")(results)
        edit(record_file(results), lambda c: c.update(weights={"file": "kept.safetensors", "sha256": "0" * 64}))
        named(bounded, results, "kept.safetensors")
        return
    owner = record_file(results)
    ranks = owner.parent / json.loads(owner.read_text())["ranks"]["file"]
    make(ranks.relative_to(results).as_posix())(results)
    named(bounded, results, owner.name, records=2)


RECORDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "commit is a number": lambda c: c["environment"].update(commit=5),
    "packages are a list": lambda c: c["environment"].update(packages=[]),
    "packages are null": lambda c: c["environment"].update(packages=None),
    "a package is a number": lambda c: c["environment"].update(packages={"torch": 2}),
    "threads are a text": lambda c: c["environment"].update(threads="two"),
    "a cost is a text": lambda c: c["cost"].update(seconds="long"),
    "a cost is a list": lambda c: c["cost"].update(peak_memory_bytes=[1]),
    "a cost is negative": lambda c: c["cost"].update(cpu_seconds=-1.0),
    "a cost is a switch": lambda c: c["cost"].update(seconds=True),
    "a cost is a huge number": lambda c: c["cost"].update(seconds=10**400),
}
LONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "ranks of a long name": lambda c: c["ranks"].update(file="x" * 300),
    "weights of a long name": lambda c: c.update(weights={"file": "x" * 300, "sha256": "0" * 64}),
    "weights of a name with a zero": lambda c: c.update(weights={"file": "x\0y", "sha256": "0" * 64}),
}


@pytest.mark.parametrize("change", [*RECORDS, *LONG])
def test_records_of_the_wrong_kinds_are_named_and_pages_are_made(results: Path, bounded: Bounded, change: str) -> None:
    file = record_file(results)
    (results / "weights").mkdir()
    edit(file, {**RECORDS, **LONG}[change])
    named(bounded, results, file.name)


def test_pages_are_made_beside_bad_files(results: Path, bounded: Bounded) -> None:
    edit(record_file(results), RECORDS["commit is a number"])
    for name in ("request", "trials"):
        device(STORED[name])(results)
    done = bounded.run(results.parent, "report", "--results", "results", "--report", "site")
    assert (done.fault, done.code) == ("", 1)
    for named_file in (record_file(results).name, STORED["request"]):
        assert named_file in done.err
    assert (results.parent / "site" / "index.html").is_file()


def write_parquet(folder: Path, table: pa.Table, **options: Any) -> None:
    pq.write_table(table, folder / STORED["trials"], compression="zstd", **options)


def repeated(folder: Path) -> None:
    """A text of a megabyte that is stored once and stands in 5,000 rows."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), pa.array(["x" * (1 << 20)]))
    write_parquet(folder, pa.table({"error": text}), dictionary_pagesize_limit=1 << 30, store_schema=False)
    assert pq.ParquetFile(folder / STORED["trials"]).metadata.row_group(0).total_byte_size < 2 << 20


def many_rows(folder: Path) -> None:
    table = pq.read_table(folder / STORED["trials"])
    rows = {name: pa.array([table[name][0].as_py()] * 100_001, field.type) for name, field in zip(
        table.column_names, table.schema, strict=True)}  # fmt: skip
    write_parquet(folder, pa.table(rows, schema=table.schema))


def about(folder: Path, text: bytes) -> None:
    table = pq.read_table(folder / STORED["trials"])
    write_parquet(folder, table.replace_schema_metadata({"benchsuite": text}))


def without(folder: Path, column: str) -> None:
    write_parquet(folder, pq.read_table(folder / STORED["trials"]).drop_columns([column]))


def with_column(folder: Path, column: str, value: Any) -> None:
    table = pq.read_table(folder / STORED["trials"])
    at = table.column_names.index(column)
    write_parquet(folder, table.set_column(at, column, pa.array([value] * len(table))))


TRIALS: dict[str, Damage] = {
    "a dictionary bomb": repeated,
    "too many rows": many_rows,
    "its description is a list": lambda folder: about(folder, b"[]"),
    "its description is nested": lambda folder: about(folder, DEEP.encode()),
    "a column is missing": lambda folder: without(folder, "number"),
    "a dictionary is nested": lambda folder: with_column(folder, "cost", DEEP),
    "a cost is a text": lambda folder: with_column(folder, "cost", '{"cpu_seconds": "long"}'),
    "numbers are negative": lambda folder: with_column(folder, "number", -1),
    "truncated": lambda folder: (folder / STORED["trials"]).write_bytes(
        (folder / STORED["trials"]).read_bytes()[:-200]
    ),
}


@pytest.mark.parametrize("damage", TRIALS)
def test_bad_trials_are_named(results: Path, bounded: Bounded, damage: str) -> None:
    TRIALS[damage](results)
    done = named(bounded, results, STORED["trials"], records=3)
    assert done.memory < 500 << 20


def test_a_key_that_is_there_twice_among_many_is_found_at_once(results: Path, bounded: Bounded) -> None:
    keys = ",".join(f'"{n}":0' for n in range(200_000))
    text(NEW, f'{{{keys},"199999":0}}')(results)
    named(bounded, results, NEW, records=3)


VALUES: dict[str, Callable[[int], str]] = {
    "lists": lambda count: '"curves":{"a":[' + "[]," * count + "0]}",
    "keys": lambda count: ",".join(f'"{n}":{{}}' for n in range(count)),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize(("count", "says"), [(120_000, "not what was sealed"), (500_000, "at most 250,000 are read")])
@pytest.mark.slow
def test_many_values_fit_into_the_memory(results: Path, bounded: Bounded, kind: str, count: int, says: str) -> None:
    text(NEW, f'{{"schema":1,"run_id":"x",{VALUES[kind](count)}}}')(results)
    done = named(bounded, results, NEW, records=3)
    assert says in done.out
    assert len(done.out.splitlines()) < 60


def named(bounded: Bounded, results: Path, *files: str, records: int = 2) -> Outcome:
    """`verify` names each file in a line, reads the rest, and ends in order."""
    before = {path for path in results.parent.rglob("*") if path != results}
    done = bounded.run(results.parent, "verify", "results")
    assert done.fault == "", done.err
    assert done.code == 1, done.out
    assert [file for file in files if not any(file in line for line in done.out.splitlines())] == [], done.out
    assert f"{records} valid record" in done.out
    assert {path for path in results.parent.rglob("*") if path != results} == before
    return done
