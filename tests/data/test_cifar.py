import collections
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.real_files import pictures, png, write_cifar

from benchsuite.data import create_dataset
from benchsuite.data.long_tail import class_sizes, long_tailed
from benchsuite.errors import UsageError

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "cifar10"
TRAIN = [*range(10), *range(10), *range(10), *range(10)]
TEST = list(reversed(range(10)))


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    return str(write_cifar(tmp_path / "plain_text", TRAIN, TEST))


def test_images_labels_and_names_are_those_of_the_files(tiny: str) -> None:
    split = create_dataset("cifar10", folder=tiny).split("test")
    assert np.array_equal(split.images, pictures(10, seed=1))
    assert split.labels["class"].tolist() == TEST
    assert split.captions[0] == ["truck"]
    assert split.captions[-1] == ["airplane"]


def test_images_may_be_enlarged(tiny: str) -> None:
    data, larger = create_dataset("cifar10", folder=tiny), create_dataset("cifar10", folder=tiny, size=64)
    assert larger.manifest().digest == data.manifest().digest
    images = larger.split("train").images
    assert images.shape == (40, 64, 64, 3)
    small = images[3:5].reshape(2, 32, 2, 32, 2, 3).mean((2, 4))
    assert np.corrcoef(small.ravel(), data.split("train").images[3:5].ravel())[0, 1] > 0.9


def test_the_folder_above_will_do(tmp_path: Path, tiny: str) -> None:
    above = create_dataset("cifar10", folder=str(tmp_path)).manifest()
    assert above == create_dataset("cifar10", folder=tiny).manifest()
    assert above.splits == {"train": 40, "test": 10}


def test_the_digest_is_of_the_content_not_of_place_or_shards(tmp_path: Path, tiny: str) -> None:
    moved = write_cifar(tmp_path / "elsewhere", TRAIN, TEST, shards=3)
    other = write_cifar(tmp_path / "other", TRAIN, TEST[::-1])
    digests = [create_dataset("cifar10", folder=str(f)).manifest().digest for f in (tiny, moved, other)]
    assert digests[0] == digests[1] != digests[2]


def test_what_changes_the_pairs_changes_the_digest(tiny: str) -> None:
    options: list[dict[str, Any]] = [
        {},
        {"imbalance": 2},
        {"imbalance": 4},
        {"imbalance": 4, "seed": 1},
        {"captions": "cifar-18"},
    ]
    assert len({create_dataset("cifar10", folder=tiny, **o).manifest().digest for o in options}) == len(options)
    assert create_dataset("cifar10", folder=tiny, seed=3).manifest().digest == (
        create_dataset("cifar10", folder=tiny).manifest().digest
    )


def test_decoded_once_then_read_from_the_cache(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = create_dataset("cifar10", folder=tiny).manifest()
    monkeypatch.setattr("benchsuite.data.readers.from_library.digests_of", lambda *_: pytest.fail("digested again"))
    assert create_dataset("cifar10", folder=tiny).manifest() == first


def test_captions_are_the_class_in_clips_wordings(tiny: str) -> None:
    split = create_dataset("cifar10-captions", folder=tiny).split("train")
    assert len(split.captions[6]) == 18
    assert split.captions[6][0] == "a photo of a frog."
    assert split.captions[6][17] == "a photo of the big frog."
    assert split.paraphrases[6] == split.captions[6]


def test_cifar100_reads_fine_labels(tmp_path: Path) -> None:
    folder = write_cifar(tmp_path, range(100), range(100), label="fine_label")
    dataset = create_dataset("cifar100", folder=str(folder))
    names, split = dataset.class_names["class"], dataset.split("train")
    assert len(names) == 100
    assert [name.replace(" ", "_") for name in names] == sorted(name.replace(" ", "_") for name in names)
    assert all(name.replace(" ", "").isalpha() for name in names)
    assert split.captions[1] == ["aquarium fish"]
    assert split.captions[99] == ["worm"]


@pytest.mark.parametrize(
    ("classes", "imbalance", "total"), [(10, 100, 12_406), (10, 50, 13_996), (10, 10, 20_431), (100, 100, 10_847)]
)
def test_sizes_are_those_of_the_published_long_tails(classes: int, imbalance: float, total: int) -> None:
    assert sum(class_sizes(50_000 // classes, classes, imbalance)) == total


def test_long_tail_keeps_what_ldams_code_keeps() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 50))
    np.random.seed(0)
    kept: list[int] = []
    for one in range(10):
        places = np.where(labels == one)[0]
        np.random.shuffle(places)
        kept += places[: int(50 * (0.1 ** (one / 9)))].tolist()
    assert long_tailed(labels, 10).tolist() == sorted(kept)


@given(st.integers(2, 6), st.integers(1, 12), st.floats(1, 200), st.integers(0, 5))
def test_long_tails_only_take_away(classes: int, each: int, imbalance: float, seed: int) -> None:
    labels = np.tile(np.arange(classes), each)
    kept = long_tailed(labels, imbalance, seed)
    sizes = collections.Counter(labels[kept].tolist())
    assert len(set(kept.tolist())) == len(kept)
    assert sizes[0] == each
    assert all(1 <= sizes[c + 1] <= sizes[c] for c in range(classes - 1))
    assert kept.tolist() == long_tailed(labels, imbalance, seed).tolist()


def test_a_long_tail_leaves_the_test_split_alone(tmp_path: Path) -> None:
    data = create_dataset("cifar10-captions", folder=str(write_cifar(tmp_path, TRAIN, TEST * 4)), imbalance=4)
    assert data.manifest().splits == {"train": len(data.split("train")), "test": 40}
    assert len(data.split("test")) == 40
    assert np.bincount(data.split("train").labels["class"]).tolist() == [4, 3, 2, 2, 2, 1, 1, 1, 1, 1]


def broken(folder: Path, **columns: Any) -> str:
    write_cifar(folder, TRAIN, TEST)
    file = next(folder.glob("train-*"))
    table = pq.read_table(file)
    for name, values in columns.items():
        table = (
            table.drop_columns([name])
            if values is None
            else table.set_column(table.column_names.index(name), name, pa.array(values))
        )
    pq.write_table(table, file)
    return str(folder)


ROW = {"bytes": png(pictures(1)[0]), "path": ""}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"label": None}, "cannot be read"),
        ({"label": [0.5] * 40}, r"row 0: column label holds no class \(0.5\)"),
        ({"label": [*TRAIN[:39], 10]}, "column label has class 10, but there are 10 names"),
        ({"label": [*TRAIN[:39], None]}, r"row 39: column label holds no class \(None\)"),
        ({"img": [ROW, {"bytes": b"GIF87", "path": ""}] + [ROW] * 38}, "row 1: not an image"),
        ({"img": [{"bytes": None, "path": ""}] + [ROW] * 39}, 'row 0: column "img" holds no picture'),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_by_file_and_column(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        create_dataset("cifar10", folder=broken(tmp_path, **columns)).manifest()


def test_no_folder_a_wrong_one_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cifar10: no folder was given. Add --data cifar10=FOLDER"):
        create_dataset("cifar10").manifest()
    with pytest.raises(UsageError, match="/no/such is not a folder"):
        create_dataset("cifar10", folder="/no/such").manifest()
    with pytest.raises(UsageError, match="cannot be read"):
        create_dataset("cifar10", folder=str(tmp_path)).manifest()
    write_cifar(tmp_path, TRAIN, TEST)
    next(tmp_path.glob("test-*")).unlink()
    with pytest.raises(UsageError, match='split "test" does not exist \\(known: train\\)'):
        create_dataset("cifar10", folder=str(tmp_path)).manifest()


def test_a_hub_name_reads_what_the_library_stores(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    real = datasets.load_dataset
    stored = str(tmp_path / "stored")
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: real("parquet", data_dir=tiny, cache_dir=stored))
    hub = create_dataset("cifar10", folder="uoft-cs/cifar10")
    assert hub.manifest() == create_dataset("cifar10", folder=tiny).manifest()
    assert np.array_equal(hub.split("test").images, pictures(10, seed=1))


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no CIFAR-10 at {REAL}")
def test_the_real_cifar10() -> None:
    data = create_dataset("cifar10", folder=str(REAL))
    assert data.manifest().splits == {"train": 50_000, "test": 10_000}
    assert np.bincount(data.split("train").labels["class"]).tolist() == [5_000] * 10
    assert create_dataset("cifar10", folder=str(REAL), imbalance=100).manifest().splits["train"] == 12_406
