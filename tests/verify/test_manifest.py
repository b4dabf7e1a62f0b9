import json
from pathlib import Path

import pytest
from support.made_records import MakeRecord

from benchsuite.errors import RecordError
from benchsuite.verify.manifest import FolderManifest, read_manifest, write_manifest


@pytest.fixture
def manifest(make_sound: MakeRecord) -> FolderManifest:
    return FolderManifest.of({f"{seed}.json": make_sound(seed)[0] for seed in (2, 0, 1)})


def test_a_record_is_one_sorted_line_with_its_digest(make_sound: MakeRecord, tmp_path: Path) -> None:
    records = {f"{seed}.json": make_sound(seed)[0] for seed in (2, 0, 1)}
    write_manifest(tmp_path / "m.json", FolderManifest.of(records))
    lines = [line.strip(" ,") for line in (tmp_path / "m.json").read_text().splitlines() if ".json" in line]
    assert lines == [f'"{name}": "{records[name].digest}"' for name in sorted(records)]


def test_its_digest_is_that_of_its_records_and_not_of_their_order(
    make_sound: MakeRecord, manifest: FolderManifest
) -> None:
    other = FolderManifest.of({f"{seed}.json": make_sound(seed)[0] for seed in (1, 2, 0)})
    assert other.digest == manifest.digest
    fewer = FolderManifest.of({f"{seed}.json": make_sound(seed)[0] for seed in (1, 2)})
    slower = FolderManifest.of({f"{seed}.json": make_sound(seed, cost={"seconds": 9.0})[0] for seed in (0, 1, 2)})
    assert len({manifest.digest, fewer.digest, slower.digest}) == 3


def test_tables_and_recipes_are_listed_and_change_the_digest(
    make_sound: MakeRecord, manifest: FolderManifest, tmp_path: Path
) -> None:
    records = {f"{seed}.json": make_sound(seed)[0] for seed in (0, 1, 2)}
    listed = FolderManifest.of(records, {"recipes/b.toml": "1" * 64, "papers/a/b.toml": "0" * 64})
    file = tmp_path / "MANIFEST.json"
    write_manifest(file, listed)
    assert read_manifest(file) == listed
    assert json.loads(file.read_text()) == listed.model_dump()
    assert listed.digest != manifest.digest
    other = FolderManifest.of(records, {"papers/a/b.toml": "2" * 64, "papers/a/c.toml": "0" * 64})
    changes = other.changes_since(listed)
    assert (changes.added, changes.removed, changes.replaced) == (
        ["papers/a/c.toml"], ["recipes/b.toml"], ["papers/a/b.toml"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ['{"file_format": 1, "files": {}}', "", "[]", "{", '{"file_format": 2, "files": {"a": NaN}}', "<<<<<<< HEAD\n{}"],
)
def test_what_is_no_manifest_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "MANIFEST.json").write_text(text)
    with pytest.raises(RecordError, match=r"MANIFEST\.json: "):
        read_manifest(tmp_path / "MANIFEST.json")
