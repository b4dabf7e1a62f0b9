"""The dataset of vectors from a folder, in clip-retrieval's layout; what `benchsuite embed` writes is in test_embed."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.feature_folders import pairs_of, write_clip_retrieval

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.batches import BatchPlan
from benchsuite.data.vectors import Noise, Rows, VectorImages, VectorLists
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation

COUNT = 300
RAW: dict[str, Any] = {"normalize": False}


def opened(folder: Path, **options: Any) -> PairDataset:
    return create_dataset("features", folder=str(folder), **{**RAW, **options})


def split_mix(number: int, seed: int) -> int:
    """As `benchsuite.data.vectors.mixed`, in whole numbers of any size."""
    last = 2**64 - 1
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * 0x9E3779B97F4A7C15) & last
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & last
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & last
    return z ^ (z >> 31)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_row_belongs_to_the_split_that_the_hash_of_its_number_says(tmp_path: Path, seed: int) -> None:
    dataset = opened(write_clip_retrieval(tmp_path, pairs_of(COUNT), (7, 200)), seed=seed, test_share=0.3)
    places = [split_mix(i, seed) / 2**64 for i in range(COUNT)]
    expected = {
        "test": [i for i, place in enumerate(places) if place < 0.3],
        "validation": [i for i, place in enumerate(places) if 0.3 <= place < 0.4],
        "train": [i for i, place in enumerate(places) if place >= 0.4],
    }
    for name, rows in expected.items():
        split = dataset.split(name)
        assert split.images[:][:, 0, 0].tolist() == rows == [texts[0, 0] for texts in split.captions]
    assert dict(dataset.manifest().splits) == {name: len(rows) for name, rows in expected.items()}


def test_pairs_are_those_of_the_files_whatever_their_partitions(tmp_path: Path) -> None:
    pairs = pairs_of(COUNT)
    whole, parts = (opened(write_clip_retrieval(tmp_path / str(len(b)), pairs, b)) for b in ((), (1, 150)))
    for dataset in (whole, parts):
        split = dataset.split("train")
        rows = split.images[:, 0][:, 0].astype(int)
        assert sorted({*rows}) == rows.tolist() != list(range(len(rows)))
        assert (split.images[::-1][:, 0] == pairs[0][rows[::-1]].astype(np.float32)).all()
        assert (np.concatenate(list(split.captions)) == pairs[1][rows].astype(np.float32)).all()
        assert (split.images[5] == split.images[np.array([5])][0]).all()
    assert len(split.paraphrases) == 0


def test_partitions_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = write_clip_retrieval(tmp_path, pairs_of(24), range(2, 24, 2))
    dataset = opened(folder, test_share=0, validation_share=0)
    assert dataset.split("train").images[:][:, 0, 0].tolist() == list(range(24))


def test_few_are_cut_of_many(tmp_path: Path) -> None:
    sizes = opened(write_clip_retrieval(tmp_path, pairs_of(4000, 1)), at_most=100).manifest().splits
    assert 60 < sizes["test"] < 140
    assert sizes["train"] > 3700


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    pairs = pairs_of(20)
    one, same = (write_clip_retrieval(tmp_path / name, pairs) for name in ("a", "b"))
    before = opened(one).manifest().digest
    assert opened(same).manifest().digest == before
    pairs[1, 3, 2] += 1
    np.save(one / "text_emb" / "text_emb_0.npy", pairs[1])
    os.utime(one / "text_emb" / "text_emb_0.npy", ns=(1, 1))
    assert opened(one).manifest().digest != before


def test_vectors_are_scaled_so_that_their_entries_have_mean_square_one(tmp_path: Path) -> None:
    pairs = pairs_of(40)
    pairs[0, 4] = 0
    split = opened(write_clip_retrieval(tmp_path, pairs), normalize=True, test_share=0, validation_share=0).split(
        "train"
    )
    square = (split.images[:] ** 2).mean((1, 2))
    assert square[4] == 0
    assert np.delete(square, 4) == pytest.approx(1)
    expected = pairs[1, 7].astype(float) / np.linalg.norm(pairs[1, 7].astype(float)) * 8**0.5
    assert split.captions[7][0] == pytest.approx(expected, abs=1e-5)


def test_views_are_the_vector_and_the_vector_with_noise(tmp_path: Path) -> None:
    folder = write_clip_retrieval(tmp_path, pairs_of(COUNT, 64))
    split, again = (opened(folder, noise=0.5, text_view="noise").split("train") for _ in range(2))
    clean = opened(folder).split("train")
    rows = split.images[:]
    assert rows.shape == (len(split), 4, 64)
    assert (rows[:, 0] == clean.images[:, 0]).all()
    added = rows[:, 1:] - rows[:, :1]
    assert added.std() == pytest.approx(0.5, rel=0.02)
    assert abs(np.corrcoef(added[:, 0].ravel(), added[:, 1].ravel())[0, 1]) < 0.05
    assert (again.images[np.array([9, 2])] == rows[[9, 2]]).all()
    texts = split.paraphrases[11]
    assert texts.shape == (4, 64)
    assert (texts[0] == clean.captions[11][0]).all()
    assert not np.allclose(texts[1] - texts[0], rows[11, 1] - rows[11, 0])
    assert opened(folder, noise=0.5).split("test").images.shape[1] == 1
    assert (opened(folder, noise=0.5, text_view="noise").split("train").captions[11] == clean.captions[11]).all()


def test_neighbouring_rows_share_no_noise() -> None:
    noise, ids = Noise(1.0, 4, 0), np.arange(9)
    first, second = (noise.added(np.zeros((9, 16), np.float32), ids, np.full(9, number)) for number in (1, 2))
    assert not (second[:-1] == first[1:]).all(1).any()


def test_a_step_draws_pairs_with_views_of_their_own(tmp_path: Path) -> None:
    split = opened(write_clip_retrieval(tmp_path, pairs_of(COUNT)), noise=0.5, text_view="noise").split("train")
    plan = BatchPlan(split, 32, Augmentation(), seed=0)
    draw, view = plan.draw(1), plan.draw_view(1)
    numbers = split.images[draw.index][:, 0, 0]
    assert (np.asarray(draw.captions)[:, 0] == numbers).all()
    assert np.abs(np.asarray(view.captions)[:, 0] - numbers).max() < 4
    assert not np.array_equal(draw.captions, view.captions)
    assert plan.digest() == BatchPlan(split, 32, Augmentation(), seed=0).digest()


def test_lists_of_different_lengths_are_read_like_lists() -> None:
    flat = np.arange(12, dtype=np.float16).reshape(6, 2)
    counts = np.array([1, 3, 2])
    lists = VectorLists(Rows([flat[:4], flat[4:]], False, ""), np.cumsum(counts) - counts, counts)
    expected = [flat[:1], flat[1:4], flat[4:]]
    assert [texts.tolist() for texts in lists] == [texts.tolist() for texts in expected]
    assert [lists[i].tolist() for i in (0, 1, -1)] == [texts.tolist() for texts in expected]
    drawn = lists.drawn(np.repeat([0, 1, 2], 50), np.random.default_rng(0))
    for i, texts in enumerate(expected):
        assert {*map(tuple, drawn[i * 50 : i * 50 + 50].tolist())} == {*map(tuple, texts.tolist())}
    with pytest.raises(IndexError):
        lists[3]
    noisy = VectorLists(Rows([flat], False, ""), np.cumsum(counts) - counts, counts, Noise(0.1, 2, 0))
    assert [len(texts) for texts in noisy] == [2, 6, 4]
    assert [texts[: len(own)].tolist() for texts, own in zip(noisy, expected, strict=True)] == [
        own.tolist() for own in expected
    ]


def test_images_take_every_index_that_is_used() -> None:
    rows = np.arange(10, dtype=np.float32).reshape(5, 2)
    images = VectorImages(Rows([rows], False, ""), np.array([4, 0, 2]))
    assert images.shape == (3, 1, 2)
    assert images[:, 0].tolist() == rows[[4, 0, 2]].tolist() == np.asarray(images)[:, 0].tolist()
    assert images[2, 0].tolist() == images[2][0].tolist() == rows[2].tolist()
    assert images[1:][:, 0].tolist() == rows[[0, 2]].tolist()


def broken(folder: Path, what: str) -> None:
    image, text = (folder / name / f"{name}_1.npy" for name in ("img_emb", "text_emb"))
    match what:
        case "alone":
            text.unlink()
        case "rows":
            np.save(text, np.ones((3, 8), np.float16))
        case "width":
            np.save(image, np.ones((len(np.load(image)), 5), np.float16))
        case "kind":
            np.save(image, np.ones((len(np.load(image)), 8), np.int64))
        case "text":
            image.write_text("no array")
        case "pickle":
            np.save(image, np.array([[{}]], object), allow_pickle=True)
        case "none":
            for name in ("img_emb", "text_emb"):
                for file in (folder / name).iterdir():
                    file.unlink()
        case "twice":
            (folder / "img_emb" / "img_emb_01.npy").write_bytes(image.read_bytes())


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("alone", "partition 1 is in img_emb alone; each needs images and texts"),
        ("rows", "partition 1: rows differ: {'img_emb': 10, 'text_emb': 3}"),
        ("width", r"images: files of one kind must have vectors of one width; given \[5, 8\]"),
        ("kind", r"img_emb_1.npy: it must hold vectors of floats, \[rows, width\]; it has int64 \(10, 8\)"),
        ("text", "img_emb_1.npy: not an .npy file of numbers"),
        ("pickle", "img_emb_1.npy: not an .npy file of numbers"),
        ("none", "no partition is there; it must hold img_emb/img_emb_0.npy"),
        ("twice", "partition 1 is there twice"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(tmp_path: Path, what: str, message: str) -> None:
    folder = write_clip_retrieval(tmp_path, pairs_of(30), (20,))
    broken(folder, what)
    with pytest.raises(UsageError, match=message):
        opened(folder).split("train")


@pytest.mark.parametrize(
    ("holds", "message"),
    [
        (None, "no folder was given. Add --data features=FOLDER"),
        ("photos.csv", "must hold what `benchsuite embed` writes"),
        ("request.json", "`benchsuite embed` has not finished there: run it again."),
    ],
)
def test_a_folder_of_something_else_or_none_says_how_to_make_one(
    tmp_path: Path, holds: str | None, message: str
) -> None:
    if holds:
        (tmp_path / holds).touch()
    with pytest.raises(UsageError, match=message) as refused:
        create_dataset("features", folder=str(tmp_path) if holds else "").manifest()
    assert "benchsuite embed pairs --data pairs=FOLDER --image timm:NAME" in str(refused.value)


def test_too_few_pairs_for_a_split_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="of 2 pairs none falls into test under seed 0"):
        opened(write_clip_retrieval(tmp_path, pairs_of(2))).manifest()


BIG, WIDTH = 10_000_000, 64
DRAWN = """
    import sys, time
    import psutil
    from benchsuite.data import create_dataset
    from benchsuite.data.batches import BatchPlan
    from benchsuite.data.readers.files import remember
    from benchsuite.setup import Augmentation
    from pathlib import Path

    folder, me = Path(sys.argv[1]), psutil.Process()
    for kind, name in (("image", "img_emb"), ("caption", "text_emb")):
        remember(f"{kind}/0", folder / name / f"{name}_0.npy", "as an earlier open left it")
    before = me.memory_info().rss
    split = create_dataset("features", folder=str(folder), noise=0.3, text_view="noise").split("train")
    plan = BatchPlan(split, 256, Augmentation(), seed=0)
    most = 0
    for step in range(30):
        draw, view = plan.draw(step), plan.draw_view(step)
        assert split.images[draw.index].shape == (256, 4, 64) and view.captions.shape == (256, 64)
        most = max(most, me.memory_info().rss)
    print(len(split), most - before, me.io_counters().read_chars)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sizes of processes are read as Linux has them")
def test_ten_million_pairs_are_not_read_to_draw_batches(tmp_path: Path) -> None:
    for name in ("img_emb", "text_emb"):
        (tmp_path / name).mkdir()
        np.lib.format.open_memmap(tmp_path / name / f"{name}_0.npy", "w+", np.float16, (BIG, WIDTH))
    files = 2 * BIG * WIDTH * 2
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRAWN), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    pairs, grown, read = map(int, done.stdout.split())
    assert pairs > 0.99 * BIG
    assert grown < 0.25 * files, f"{grown / 1e6:.0f} MB of memory for files of {files / 1e6:.0f} MB"
    assert read < 0.05 * files
