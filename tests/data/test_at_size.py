"""A hundred thousand pairs: gone through once, then opened without being read; benchmarks/at_size.py has more."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from support.real_files import flat, png

from benchsuite.data import create_dataset
from benchsuite.data.batches import BatchPlan
from benchsuite.data.readers import listing
from benchsuite.data.real import conceptual_captions
from benchsuite.data.vectors import TextLists
from benchsuite.setup import Augmentation

PAIRS = 100_000
MIB = 2**20


def never(what: str) -> Callable[..., None]:
    return lambda *_: pytest.fail(what)


@pytest.mark.slow
def test_a_later_visit_reads_nothing_but_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "images").mkdir()
    for i in range(10):
        (tmp_path / "images" / f"{i}.jpg").write_bytes(png(flat(i), "JPEG"))
    rows = (f"{i % 10}.jpg\ta photo of thing {i}, and a caption of the usual length\n" for i in range(PAIRS))
    (tmp_path / "train.tsv").write_text("filepath\ttitle\n" + "".join(rows))
    before = create_dataset("cc3m", folder=str(tmp_path), size=4).manifest()
    assert before.splits == {"train": PAIRS}
    monkeypatch.setattr(conceptual_captions, "pairs_in", never("the table was parsed again"))
    monkeypatch.setattr(listing, "size_of", never("a file was looked up again"))
    monkeypatch.setattr(TextLists, "__iter__", never("all captions were read"))
    tracemalloc.start()
    data = create_dataset("cc3m", folder=str(tmp_path), size=4)
    assert data.manifest() == before
    plan = BatchPlan(data.split("train"), 64, Augmentation(), seed=0)
    draw = plan.draw(5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert draw.captions == [f"a photo of thing {i}, and a caption of the usual length" for i in draw.index]
    assert plan.split.images[draw.index].shape == (64, 4, 4, 3)
    assert peak < 4 * MIB, "the order of an epoch takes 0.4 MiB, the captions would take 10"
