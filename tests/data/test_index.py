"""What is written to an index is read from it, row by row."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.data.base import Split
from benchsuite.data.readers import index
from benchsuite.data.readers.images import LazyImages
from benchsuite.data.readers.index import Index, Item, write
from benchsuite.data.vectors import TextLists
from benchsuite.errors import UsageError

TEXTS = st.lists(st.text(st.characters(), max_size=9), min_size=1, max_size=4)  # of any script, lone surrogates too


def written(folder: Path, *items: Item) -> Index:
    write(folder, {"train": items}, folder)
    return Index(folder / "train.arrow", folder)


@given(lists=st.lists(TEXTS, min_size=1, max_size=9))
def test_texts_read_as_written(tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "ROWS", 2)
        read = written(tmp_path_factory.mktemp("index"), *(Item("", captions=texts) for texts in lists))
    captions = read.texts("captions")
    assert len(captions) == len(lists)
    assert list(captions) == lists
    assert [captions[i] for i in range(-len(lists), len(lists))] == lists + lists
    assert len(read.texts("paraphrases")) == 0
    for beyond in (len(lists), -len(lists) - 1):
        with pytest.raises(IndexError):
            captions[beyond]


def test_an_image_is_a_file_a_part_of_one_or_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"whole file")
    inside = written(tmp_path / "inside", Item("", content=b"bytes", name="row 0"), Item("", content=b""))
    part = written(tmp_path / "part", Item("", [str(tmp_path / "a")], part=(6, 4)))
    whole = written(tmp_path / "whole", Item("", [str(tmp_path / "a")]))
    assert [inside.read(0), inside.read(1), part.read(0), whole.read(0)] == [b"bytes", b"", b"file", b"whole file"]
    assert (inside.where(0), whole.where(0)) == ("row 0", str(tmp_path / "a"))


def test_classes_are_one_for_each_image_or_padded_sets(tmp_path: Path) -> None:
    labels = written(tmp_path, *(Item("", labels={"one": i, "several": [*range(i + 1)]}) for i in range(2))).labels()
    assert labels["one"].tolist() == [0, 1]
    assert labels["several"].tolist() == [[0, -1], [0, 1]]
    assert labels["one"].dtype == np.int64


ITEM = Item("mark", captions=["a"], labels={"class": 0})


@pytest.mark.parametrize(
    "change", [{"mark": "x"}, {"captions": ["b"]}, {"captions": ["a", "b"]}, {"labels": {"class": 1}}]
)
def test_the_digest_is_of_marks_captions_and_classes(tmp_path: Path, change: dict[str, Any]) -> None:
    same = ITEM._replace(files=["elsewhere"], name="other", paraphrases=["b"])
    before, other, after = (
        write(tmp_path / str(i), {"train": [item]}, tmp_path)
        for i, item in enumerate((ITEM, ITEM._replace(**change), same))
    )
    assert before["digest"] == after["digest"] != other["digest"]
    assert before["paraphrases"] is None
    assert after["paraphrases"] is not None


def test_a_text_that_others_have_is_missed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="split train: image 1 has no caption, but others have"):
        written(tmp_path, ITEM, ITEM._replace(captions=[]))
    with pytest.raises(UsageError, match="split train: there are no images"):
        written(tmp_path)


def test_a_split_does_not_go_through_mapped_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captions = written(tmp_path, ITEM).texts("captions")
    monkeypatch.setattr(TextLists, "__iter__", lambda self: pytest.fail("all captions were read"))
    images = LazyImages(1, 8, lambda i: pytest.fail("a picture was read"), str).as_array()
    assert len(Split("train", images, captions)) == 1
