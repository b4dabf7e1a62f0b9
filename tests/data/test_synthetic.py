"""What all synthetic data sets promise: built once, equal digests for equal bytes, checked options, no torch."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchsuite.data import create_dataset
from benchsuite.data.cached import load
from benchsuite.data.synthetic.base import digest
from benchsuite.errors import UsageError

SMALL: dict[str, dict[str, int]] = {
    "scenes": {"train": 40, "validation": 6, "test": 6, "gallery": 4},
    "clips": {"train": 40, "validation": 6, "test": 6},
}


PINNED: list[tuple[str, dict[str, float], str]] = [
    (
        "scenes",
        {"seed": 1 + 2**32, **SMALL["scenes"]},
        "d8de4046d456d9049d4c91f1ec45d05d526085f7e06468c5565cafde770e455e",
    ),
    (
        "clips",
        {"seed": 1 + 2**32, **SMALL["clips"]},
        "c6d8793d181177cd7fc7deb9220af380db4895f55f5ef5c4f00753ae249983cc",
    ),
    (
        "latents",
        {"train": 300, "validation": 20, "test": 40, "galleries": 20},
        "44dd3621c286b379017e4f8c7a45a45ec54c5fefbbf76bd4924c79d6335eca75",
    ),
    (
        "latents-clips",
        {"train": 200, "validation": 20, "test": 40, "described": 20, "described_validation": 20},
        "72793a3987e5399638746937ea20815b827fe5970bd6ac261d6c8b8ac6a6dd5b",
    ),
    (
        "latents-images",
        {"train": 300, "validation": 20, "test": 40, "imbalance": 4.0},
        "9b009dba3fa711b249b00fac461c168b3d26dc53e3f08be50489adb1ffe60124",
    ),
]
"""Every byte of images, texts and labels: what a world promises of them holds as long as these do."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("name", "options", "expected"), PINNED)
def test_the_world_is_the_same_on_every_machine(name: str, options: dict[str, float], expected: str) -> None:
    assert create_dataset(name, **options).manifest().digest == expected


@pytest.mark.parametrize("name", SMALL)
def test_a_split_is_read_as_it_was_generated(name: str) -> None:
    data: Any = create_dataset(name, seed=1, **SMALL[name])
    assert dict(data.manifest().splits) == SMALL[name]
    for split in SMALL[name]:
        columns, stored = data.columns(split), data.split(split)
        assert np.array_equal(stored.images, columns["images"])
        assert (stored.captions, stored.paraphrases) == (columns["captions"], columns["paraphrases"])
        assert {key: ids.tolist() for key, ids in stored.labels.items()} == {
            key: columns[key].tolist() for key in data.labels
        }


@pytest.mark.parametrize("name", SMALL)
def test_the_second_use_reads_the_first_build_and_other_options_are_another(
    name: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = create_dataset(name, **SMALL[name])
    first = data.manifest()
    others = [create_dataset(name, seed=1, **SMALL[name]), create_dataset(name, **{**SMALL[name], "test": 7})]
    if name == "scenes":
        others.append(create_dataset(name, mismatched=0.2, **SMALL[name]))
    assert len({first.digest, *(other.manifest().digest for other in others)}) == 1 + len(others)
    assert len([path for path in (cache / "synthetic").iterdir() if path.is_dir()]) == 1 + len(others)
    monkeypatch.setattr(type(data), "columns", None)
    assert create_dataset(name, **SMALL[name]).manifest() == first


def test_a_digest_depends_on_every_column_and_on_its_name() -> None:
    columns = {"images": np.zeros((2, 2), np.uint8), "captions": [["a"]], "ids": np.array([1, 2])}
    changed = [
        {**columns, "images": np.ones((2, 2), np.uint8)},
        {**columns, "captions": [["b"]]},
        {**columns, "ids": np.array([1, 3])},
        {"images": columns["images"], "captions": columns["captions"], "labels": columns["ids"]},
    ]
    assert len({digest(columns), *map(digest, changed)}) == 5
    assert digest({**columns, "ids": columns["ids"].astype(">i8")}) == digest(columns)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("scenes", {"seed": -1}, "seed = -1 is not possible"),
        ("clips", {"seed": 2**64}, "seed = 18446744073709551616 is not possible"),
        ("scenes", {"trian": 5}, 'option "trian" does not exist'),
        ("clips", {"train": 0}, "train = 0 is not possible"),
        ("scenes", {"mismatched": 1.5}, "mismatched = 1.5 is not possible"),
    ],
)
def test_impossible_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create_dataset(name, **options)


def test_torch_is_not_imported() -> None:
    script = (
        "import sys; from benchsuite.data import create_dataset\n"
        "for name in ('scenes', 'clips'):\n"
        "    create_dataset(name, train=8, validation=2, test=2).split('train')\n"
        "create_dataset('scenes-sts', test=10, validation=10).manifest()\n"
        "heavy = {'torch', 'datasets', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_split_is_parsed_once_by_each_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def counted(folder: Path) -> dict[str, Any]:
        loaded.append(folder.name)
        return load(folder)

    monkeypatch.setattr("benchsuite.data.synthetic.base.load", counted)
    sizes = {"train": 6, "validation": 2, "test": 4, "gallery": 2}
    first, second = (create_dataset("scenes", seed=seed, **sizes) for seed in (1, 2))
    for dataset in (first, second):
        for name in ("test", "train", "test"):
            assert dataset.split(name).name == name
    assert loaded == ["test", "train"] * 2
    assert not np.array_equal(first.split("test").images, second.split("test").images)


@pytest.mark.parametrize("name", ["scenes", "clips", "latents"])
def test_a_split_that_no_memory_holds_is_refused_in_a_line(name: str, cache: Path) -> None:
    with pytest.raises(UsageError, match=rf"^{name}: train = 1,000,000,000,000 takes more memory than there is\."):
        create_dataset(name, train=10**12).manifest()
    assert not [path for path in (cache / "synthetic").iterdir() if path.is_dir()]
