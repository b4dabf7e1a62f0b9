"""Records in packs: `tar -cJf NAME.tar.xz *-s*.json`."""

import io
import lzma
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import exit_code
from support.edited import file_of, pack
from support.made_records import MakeRecord

from benchsuite.records.contents import read_contents
from benchsuite.records.names import find_run, json_files
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import TunedBy
from benchsuite.records.store import Store


@pytest.fixture
def listed(sound_folder: Callable[[int], Path]) -> Path:
    """Three sound records and their manifest."""
    folder = sound_folder(3)
    assert exit_code("verify", folder, "--update") == 0
    return folder


def test_packing_changes_nothing_of_a_folder(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, files = read_contents(listed).records, json_files(listed)
    manifest = (listed / "MANIFEST.json").read_bytes()
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    told = capsys.readouterr().out
    command = "tar -cJf some.tar.xz infonce-s[12]-*.json && rm infonce-s[12]-*.json"
    subprocess.run(["bash", "-c", command], cwd=listed, check=True)
    assert len(list(listed.glob("infonce-*.json"))) == 1
    assert json_files(listed) == files
    assert read_contents(listed).records == before
    assert exit_code("verify", listed) == 0
    assert capsys.readouterr().out == told
    assert exit_code("verify", listed, "--update") == 0
    assert (listed / "MANIFEST.json").read_bytes() == manifest
    record = read_record(files[1])
    for name in (record.run_id, record.run_id[:6], files[1].stem, files[1].name, str(files[1])):
        assert find_run(listed, name) == files[1]
    assert find_run(listed / "elsewhere", str(files[1])) == files[1]


def test_a_packed_record_is_kept_unless_another_search_found_its_run(tmp_path: Path, make_sound: MakeRecord) -> None:
    store = Store(tmp_path)
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    first, ranks = make_sound(tuned=short, cost={"tuning_trials": 2})
    file = store.write(first, ranks)
    pack("some", file)
    again, _ = make_sound(tuned=short, cost={"tuning_trials": 2, "seconds": 99.0})
    assert store.write(again, ranks) == file
    assert not file.exists()
    assert store.read().records == {first.run_id: first}
    more, _ = make_sound(tuned=long, also_tuned=[short], cost={"tuning_trials": 4})
    assert store.write(more, ranks) == file
    assert store.read().records == {more.run_id: more}


def test_of_a_record_and_a_packed_copy_the_record_counts(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(listed, 0)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"0.25", b"0.75"))
    packed = pack("some", file)
    file.write_bytes(content)
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    assert f"{packed.name}: {file.name} in it is not read, because it is there again" in capsys.readouterr().out
    assert len(read_contents(listed).records) == 3


def test_of_two_packs_with_a_record_the_first_counts(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(listed, 0)
    content = file.read_bytes()
    pack("a", file)
    file.write_bytes(content.replace(b"0.25", b"0.75"))
    second = pack("b", file)
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    assert f"{second.name}: {file.name} in it is not read" in capsys.readouterr().out


def test_only_records_are_read_from_packs(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (listed / "notes.json").write_text("{}")
    packed = pack("some", file_of(listed, 0), listed / "notes.json")
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    assert f"{packed.name}: notes.json in it is no record: ignored" in capsys.readouterr().out


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: content + lzma.compress(b"more"),
        lambda content: content[:60] + b"\0" * 20 + content[80:],
        lambda content: lzma.compress(lzma.decompress(content)[:700]),
        lambda content: lzma.compress(b"no archive"),
        lambda content: archive("../a.json"),
        lambda content: archive("a.json", kind=tarfile.SYMTYPE),
        lambda content: archive("a.json", kind=tarfile.GNUTYPE_SPARSE),
        lambda content: archive("a.json", size=9 << 20),
        lambda content: b"",
    ],
    ids=[
        "cut off",
        "more behind it",
        "broken",
        "cut before packed",
        "no archive",
        "path",
        "link",
        "sparse",
        "large",
        "",
    ],
)
def test_a_damaged_pack_is_named_and_the_rest_is_read(listed: Path, damage: Callable[[bytes], bytes]) -> None:
    packed = pack("some", file_of(listed, 1))
    assert len(read_contents(listed).records) == 3
    packed.write_bytes(damage(packed.read_bytes()))
    contents = read_contents(listed)
    assert [error.file for error in contents.errors] == [packed]
    assert len(contents.records) == 2
    assert exit_code("verify", listed) == 1


def archive(name: str, kind: bytes = tarfile.REGTYPE, size: int = 4) -> bytes:
    """A pack with one member."""
    buffer, member = io.BytesIO(), tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, "b.json"
    with tarfile.open(fileobj=buffer, mode="w:xz") as tar:
        tar.addfile(member, io.BytesIO(bytes(size)))
    return buffer.getvalue()


def test_an_edited_record_in_a_pack_is_named_with_it(listed: Path) -> None:
    file = file_of(listed, 1)
    file.write_bytes(file.read_bytes().replace(b"infonce", b"infonse"))
    packed = pack("some", file)
    contents = read_contents(listed)
    [error] = contents.errors
    assert (error.file, file.name in str(error)) == (packed, True)
    assert [refused.file for refused in contents.refused] == [file]
    assert len(contents.records) == 2
    assert exit_code("verify", listed) == 1
