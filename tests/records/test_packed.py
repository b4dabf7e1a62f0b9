"""Records in packs: `benchsuite verify FOLDER --pack`."""

import json
import lzma
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.commands import exit_code
from support.edited import edit, file_of
from support.made_records import MakeRecord

from benchsuite.errors import UsageError
from benchsuite.records.contents import read_contents
from benchsuite.records.listing import PACKS, find_run, json_files, pack
from benchsuite.records.names import files_like, record_name
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import TunedBy
from benchsuite.records.store import Store


@pytest.fixture
def listed(sound_folder: Callable[[int], Path]) -> Path:
    """Three sound records and their manifest."""
    folder = sound_folder(3)
    assert exit_code("verify", folder, "--update") == 0
    return folder


def lines(file: Path) -> list[bytes]:
    return lzma.decompress(file.read_bytes()).splitlines()


def test_packing_changes_nothing_of_a_folder(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, files = read_contents(listed).records, json_files(listed)
    manifest = (listed / "MANIFEST.json").read_bytes()
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    told = capsys.readouterr().out
    assert exit_code("verify", listed, "--pack") == 0
    assert capsys.readouterr().out == told
    assert [file.name for file in listed.glob("*.json")] == ["MANIFEST.json"]
    [pack] = files_like(listed, PACKS)
    assert [json.loads(line)["seed"] for line in lines(pack)] == [0, 1, 2]
    assert json_files(listed) == files
    assert read_contents(listed).records == before
    assert exit_code("verify", listed, "--update") == 0
    assert (listed / "MANIFEST.json").read_bytes() == manifest
    record = read_record(files[1])
    for name in (record.run_id, record.run_id[:6], files[1].stem, files[1].name, str(files[1])):
        assert find_run(listed, name) == files[1]
    assert find_run(listed / "elsewhere", str(files[1])) == files[1]
    with pytest.raises(UsageError, match="Name its folder, or a run in it"):
        find_run(listed, str(pack))


def test_a_packed_record_is_kept_unless_another_search_found_its_run(tmp_path: Path, make_sound: MakeRecord) -> None:
    store = Store(tmp_path)
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    first, ranks = make_sound(tuned=short, cost={"tuning_trials": 2})
    file = store.write(first, ranks)
    assert store.pack() == 1
    again, _ = make_sound(tuned=short, cost={"tuning_trials": 2, "seconds": 99.0})
    assert store.write(again, ranks) == file
    assert not file.exists()
    assert store.read().records == {first.run_id: first}
    more, _ = make_sound(tuned=long, also_tuned=[short], cost={"tuning_trials": 4})
    assert store.write(more, ranks) == file
    assert store.read().records == {more.run_id: more}, "the file counts"
    assert store.pack() == 1
    assert store.pack() == 0
    assert store.read().records == {more.run_id: more}
    assert len(lines(files_like(tmp_path, PACKS)[0])) == 1


def test_a_record_that_another_process_replaces_meanwhile_stays(
    listed: Path, make_sound: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Store(listed).read().records
    file = listed / record_name(next(iter(records.values())))

    def replaced(content: Iterable[bytes]) -> bytes:
        os.utime(file, ns=(0, 0))
        return pack(content)

    monkeypatch.setattr("benchsuite.records.store.pack", replaced)
    Store(listed).pack()
    assert file.exists()
    assert Store(listed).read().records == records


def test_packing_again_adds_and_keeps(listed: Path, tmp_path: Path, make_sound: MakeRecord) -> None:
    before = read_contents(listed).records
    Store(listed).pack()
    (own,) = files_like(listed, PACKS)
    own.rename(listed / "another.jsonl.xz")
    Store(listed).write(*make_sound(seed=3))
    assert Store(listed).pack() == 1
    after = read_contents(listed)
    assert len(files_like(listed, PACKS)) == 2
    assert len(after.records) == 4
    assert before.items() <= after.records.items()


def test_of_a_record_and_a_packed_copy_the_record_counts(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(listed, 0)
    content = file.read_bytes()
    edit(file, lambda record: record["cost"].update(seconds=99.0), sealed=True)
    Store(listed).pack()
    file.write_bytes(content)
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    [pack] = files_like(listed, PACKS)
    assert f"{pack.name}: {file.name} in it is not read, because it is there again" in capsys.readouterr().out
    assert len(read_contents(listed).records) == 3
    assert exit_code("verify", listed, "--pack") == 0
    assert "not read" not in capsys.readouterr().out
    assert b"99.0" not in b"".join(lines(pack))


def test_of_two_packs_with_a_record_the_first_counts(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Store(listed).pack()
    [pack] = files_like(listed, PACKS)
    (listed / "z.jsonl.xz").write_bytes(pack.read_bytes())
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    assert capsys.readouterr().out.count("z.jsonl.xz: infonce-s") == 3
    assert len(read_contents(listed).records) == 3


def test_a_record_that_is_not_valid_is_not_packed(listed: Path) -> None:
    file = file_of(listed, 1)
    edit(file, lambda record: record["cost"].update(seconds=99.0))
    assert Store(listed).pack() == 2
    assert file.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: content + lzma.compress(b"more"),
        lambda content: content[:60] + b"\0" * 20 + content[80:],
        lambda content: lzma.compress(b"no record"),
        lambda content: lzma.compress(lzma.decompress(content) + b"\n{}"),
        lambda content: lzma.compress(lzma.decompress(content) + b"\n" + lzma.decompress(content)),
        lambda content: lzma.compress(lzma.decompress(content).replace(b'"infonce"', b'"in\\"nce"')),
        lambda content: lzma.compress(lzma.decompress(content).replace(b'"infonce"', b'"' + b"i" * 300 + b'"')),
    ],
    ids=["cut off", "more behind it", "broken", "no record", "odd line", "twice", "odd name", "long name"],
)
def test_a_damaged_pack_is_named_and_the_rest_is_read(listed: Path, damage: Callable[[bytes], bytes]) -> None:
    kept = file_of(listed, 1)
    content = kept.read_bytes()
    kept.unlink()
    Store(listed).pack()
    kept.write_bytes(content)
    [pack] = files_like(listed, PACKS)
    pack.write_bytes(damage(pack.read_bytes()))
    contents = read_contents(listed)
    assert [error.file for error in contents.errors] == [pack]
    assert len(contents.records) == 1
    assert exit_code("verify", listed) == 1


def test_an_edited_record_in_a_pack_is_named_with_it(listed: Path) -> None:
    Store(listed).pack()
    [pack] = files_like(listed, PACKS)
    content = lzma.decompress(pack.read_bytes())
    first, _, rest = content.partition(b"\n")
    pack.write_bytes(lzma.compress(first.replace(b'"title":"InfoNCE"', b'"title":"Mine"') + b"\n" + rest))
    contents = read_contents(listed)
    [error] = contents.errors
    [refused] = contents.refused
    assert (error.file, refused.name in str(error)) == (pack, True)
    assert len(contents.records) == 2
    assert exit_code("verify", listed) == 1


def test_a_copy_under_another_name_is_not_packed_beside_its_record(listed: Path) -> None:
    file = file_of(listed, 1)
    copy = listed / f"copy-{file.name}"
    copy.write_bytes(file.read_bytes())
    assert Store(listed).pack() == 3
    assert copy.exists()
    assert len(read_contents(listed).records) == 3


def test_nothing_is_added_to_a_pack_that_cannot_be_read(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = file_of(listed, 1)
    content = kept.read_bytes()
    Store(listed).pack()
    [pack] = files_like(listed, PACKS)
    pack.write_bytes(damaged := pack.read_bytes()[:-20])
    kept.write_bytes(content)
    assert exit_code("verify", listed, "--pack") == 1
    assert f"{pack}: nothing can be added to it" in capsys.readouterr().err
    assert (pack.read_bytes(), kept.exists()) == (damaged, True)
