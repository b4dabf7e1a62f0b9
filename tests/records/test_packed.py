"""Records that somebody packed: `xz results/*-s*.json`."""

import lzma
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
    before, manifest = read_contents(listed).records, (listed / "MANIFEST.json").read_bytes()
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    told = capsys.readouterr().out
    packed = [pack(file) for file in json_files(listed)[1:]]
    assert read_contents(listed).records == before
    assert exit_code("verify", listed) == 0
    assert capsys.readouterr().out == told
    assert exit_code("verify", listed, "--update") == 0
    assert (listed / "MANIFEST.json").read_bytes() == manifest
    record = read_record(packed[0])
    plain = packed[0].with_suffix("")
    for name in (record.run_id, record.run_id[:6], plain.stem, plain.name, packed[0].name, str(plain), str(packed[0])):
        assert find_run(listed, name) == packed[0]
    assert find_run(listed / "elsewhere", str(plain)) == packed[0]


def test_a_packed_record_is_kept_unless_another_search_found_its_run(tmp_path: Path, make_sound: MakeRecord) -> None:
    store = Store(tmp_path)
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    first, ranks = make_sound(tuned=short, cost={"tuning_trials": 2})
    packed = pack(store.write(first, ranks))
    again, _ = make_sound(tuned=short, cost={"tuning_trials": 2, "seconds": 99.0})
    assert store.write(again, ranks) == packed
    assert json_files(tmp_path) == [packed]
    more, _ = make_sound(tuned=long, also_tuned=[short], cost={"tuning_trials": 4})
    plain = store.write(more, ranks)
    assert json_files(tmp_path) == [plain]
    assert not packed.exists()
    assert store.read().records == {more.run_id: more}


def test_of_a_record_and_a_packed_copy_the_record_counts(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(listed, 0)
    content = file.read_bytes()
    packed = pack(file)
    file.write_bytes(content)
    packed.write_bytes(lzma.compress(content.replace(b"0.25", b"0.75")))
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    assert f"{packed.name}: not read, because {file.name} is there, too" in capsys.readouterr().out
    assert len(read_contents(listed).records) == 3


def test_only_records_are_packed(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of ranks that somebody unpacked the packed ones stay those that count."""
    ranks = sorted(listed.glob("*.ranks.npz.xz"))
    ranks[0].with_suffix("").write_bytes(lzma.decompress(ranks[0].read_bytes()))
    pack(listed / "MANIFEST.json")
    capsys.readouterr()
    assert exit_code("verify", listed) == 0
    told = capsys.readouterr().out
    assert f"{ranks[0].with_suffix('').name}: ranks without a record" in told
    assert f"{ranks[0].name}:" not in told
    assert "MANIFEST.json.xz: packed, and no record: ignored; `xz -d MANIFEST.json.xz` unpacks it" in told


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: content + lzma.compress(b"more"),
        lambda content: content[:60] + b"\0" * 20 + content[80:],
        lambda content: lzma.compress(lzma.decompress(content).replace(b"infonce", b"infonse")),
        lambda content: b"",
    ],
    ids=["cut off", "more behind it", "broken", "edited", "empty"],
)
def test_a_damaged_one_is_named_and_the_rest_is_read(listed: Path, damage: Callable[[bytes], bytes]) -> None:
    packed = pack(file_of(listed, 1))
    packed.write_bytes(damage(packed.read_bytes()))
    contents = read_contents(listed)
    assert [file.file for file in contents.refused] == [packed]
    assert len(contents.records) == 2
    assert exit_code("verify", listed) == 1
